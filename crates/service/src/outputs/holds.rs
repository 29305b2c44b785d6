//! Outputs that a task which has not ended is made from: these are not cleaned up.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ROUTE;

/// Counts the holds on each task's outputs.
#[derive(Debug, Clone, Default)]
pub struct Holds(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    counts: HashMap<String, usize>,
    /// The tasks whose outputs are being removed.
    going: HashSet<String>,
}

impl Holds {
    /// Holds on to every output whose address is in this text.
    pub fn hold(&self, text: &str) -> Hold {
        let tasks = tasks_in(text);
        let mut state = self.lock();
        for task in &tasks {
            *state.counts.entry(task.clone()).or_default() += 1;
        }
        Hold {
            holds: self.clone(),
            tasks,
        }
    }

    /// Begins the removal of a task's outputs; `None` if there is a hold on them, or they are being removed already.
    /// It may take long: holds on other outputs don't wait for it, and one on these comes too late.
    pub fn begin_removal(&self, task: &str) -> Option<Removal> {
        let mut state = self.lock();
        let is_free = !state.counts.contains_key(task) && state.going.insert(task.to_owned());
        is_free.then(|| Removal {
            holds: self.clone(),
            task: task.to_owned(),
        })
    }

    /// Whether the outputs of one of these tasks are being removed: for what is made from now on, they are gone.
    pub fn is_any_going(&self, tasks: &[String]) -> bool {
        let state = self.lock();
        tasks.iter().any(|task| state.going.contains(task))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The removal of a task's outputs. Ends when it is dropped.
#[derive(Debug)]
pub struct Removal {
    holds: Holds,
    task: String,
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.holds.lock().going.remove(&self.task);
    }
}

/// Ends when it is dropped.
#[derive(Debug)]
pub struct Hold {
    holds: Holds,
    tasks: Vec<String>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.holds.lock();
        for task in &self.tasks {
            if let Some(count) = state.counts.get_mut(task) {
                *count -= 1;
                if *count == 0 {
                    state.counts.remove(task);
                }
            }
        }
    }
}

/// `…/outputs/3f…/0.png` → `3f…`, wherever it stands.
pub fn tasks_in(text: &str) -> Vec<String> {
    let parts = text.split(ROUTE).skip(1);
    parts
        .filter_map(|rest| Some(rest.strip_prefix('/')?.split_once('/')?.0.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_as_long_as_anybody_holds_on() {
        let holds = Holds::default();
        let input = r#"{"a":"http://x/outputs/3f/0.png","b":"/outputs/ab/1.png","c":"/outputs"}"#;
        let one = holds.hold(input);
        let other = holds.hold("/outputs/3f/0.png");
        let free = |task: &str| holds.begin_removal(task).is_some();
        assert!(!free("3f") && !free("ab") && free("cd"));
        drop(one);
        assert!(!free("3f") && free("ab"));
        drop(other);
        assert!(free("3f"));
    }
    /// Guards against submissions that wait for the deletions of a bucket, which took a lock of all tasks, and
    /// against tasks that are made from outputs whose deletion has begun.
    #[test]
    fn while_outputs_are_removed_others_are_held_and_these_are_gone() {
        let holds = Holds::default();
        let removal = holds.begin_removal("3f").unwrap();
        let (done, waiting) = std::sync::mpsc::channel();
        let other = holds.clone();
        std::thread::spawn(move || done.send(other.hold("/outputs/ab/0.png")));
        let hold = waiting.recv_timeout(std::time::Duration::from_secs(60));
        assert!(hold.is_ok(), "it does not wait for the removal");
        let is_going = || holds.is_any_going(&["3f".to_owned()]);
        let late = holds.hold("/outputs/3f/0.png");
        assert!(is_going(), "the hold came too late");
        assert!(holds.begin_removal("3f").is_none());
        drop(removal);
        assert!(!is_going() && holds.begin_removal("3f").is_none());
        drop(late);
        assert!(holds.begin_removal("3f").is_some());
    }
}
