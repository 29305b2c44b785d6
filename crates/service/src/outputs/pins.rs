//! Pins the outputs that are the input of unfinished tasks, so that clean-up does not remove them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ROUTE;

/// Counts the pins on each task's outputs.
#[derive(Debug, Clone, Default)]
pub struct Pins(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    counts: HashMap<String, usize>,
    /// The tasks whose outputs are being removed.
    removing: HashSet<String>,
}

impl Pins {
    /// Pins every output whose address is in this text.
    pub fn pin(&self, text: &str) -> Pin {
        let tasks = tasks_in(text);
        let mut state = self.lock();
        for task in &tasks {
            *state.counts.entry(task.clone()).or_default() += 1;
        }
        Pin {
            pins: self.clone(),
            tasks,
        }
    }

    /// Begins the removal of a task's outputs. Returns `None` if they are pinned or already being removed. Other outputs
    /// can be pinned during the removal. A new pin on the removed outputs has no effect.
    pub fn begin_removal(&self, task: &str) -> Option<Removal> {
        let mut state = self.lock();
        let is_free = !state.counts.contains_key(task) && state.removing.insert(task.to_owned());
        is_free.then(|| Removal {
            pins: self.clone(),
            task: task.to_owned(),
        })
    }

    /// Returns whether the outputs of any of these tasks are being removed. New tasks can't use them.
    pub fn is_any_removing(&self, tasks: &[String]) -> bool {
        let state = self.lock();
        tasks.iter().any(|task| state.removing.contains(task))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The removal of a task's outputs, until it is dropped.
#[derive(Debug)]
pub struct Removal {
    pins: Pins,
    task: String,
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.pins.lock().removing.remove(&self.task);
    }
}

/// Pins outputs until it is dropped.
#[derive(Debug)]
pub struct Pin {
    pins: Pins,
    tasks: Vec<String>,
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut state = self.pins.lock();
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

/// Returns the tasks and uploads whose files the text contains, each once: `…/outputs/3f…/0.png` → `3f…`.
pub fn tasks_in(text: &str) -> Vec<String> {
    let parts = text.split(ROUTE).skip(1);
    let tasks = parts.filter_map(|rest| Some(rest.strip_prefix('/')?.split_once('/')?.0));
    BTreeSet::from_iter(tasks)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_pinned_until_the_last_pin_is_dropped() {
        let pins = Pins::default();
        let input = r#"{"a":"http://x/outputs/3f/0.png","b":"/outputs/ab/1.png","c":"/outputs"}"#;
        let one = pins.pin(input);
        let other = pins.pin("/outputs/3f/0.png");
        let free = |task: &str| pins.begin_removal(task).is_some();
        assert!(!free("3f") && !free("ab") && free("cd"));
        drop(one);
        assert!(!free("3f") && free("ab"));
        drop(other);
        assert!(free("3f"));
    }

    /// Guards against submissions that wait while a bucket deletes other outputs, and against tasks whose input files
    /// are being deleted.
    #[test]
    fn during_a_removal_other_outputs_can_be_pinned_and_these_cannot() {
        let pins = Pins::default();
        let removal = pins.begin_removal("3f").unwrap();
        let (done, waiting) = std::sync::mpsc::channel();
        let other = pins.clone();
        std::thread::spawn(move || done.send(other.pin("/outputs/ab/0.png")));
        let pin = waiting.recv_timeout(std::time::Duration::from_secs(60));
        assert!(pin.is_ok(), "pinning does not wait for the removal");
        let is_removing = || pins.is_any_removing(&["3f".to_owned()]);
        let late = pins.pin("/outputs/3f/0.png");
        assert!(is_removing(), "the pin came too late");
        assert!(pins.begin_removal("3f").is_none());
        drop(removal);
        assert!(!is_removing() && pins.begin_removal("3f").is_none());
        drop(late);
        assert!(pins.begin_removal("3f").is_some());
    }
}
