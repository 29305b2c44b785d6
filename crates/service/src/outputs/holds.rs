//! Outputs that a task which has not ended is made from: these are not cleaned up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ROUTE;

/// Counts the holds on each task's outputs.
#[derive(Debug, Clone, Default)]
pub struct Holds(Arc<Mutex<HashMap<String, usize>>>);

impl Holds {
    /// Holds on to every output whose address is in this text.
    pub fn hold(&self, text: &str) -> Hold {
        let tasks = tasks_in(text);
        let mut counts = self.lock();
        for task in &tasks {
            *counts.entry(task.clone()).or_default() += 1;
        }
        Hold {
            holds: self.clone(),
            tasks,
        }
    }

    /// Does something with a task's outputs, unless somebody holds on to them; nobody can meanwhile.
    pub fn unless_held<T>(&self, task: &str, work: impl FnOnce() -> T) -> Option<T> {
        let counts = self.lock();
        (!counts.contains_key(task)).then(work)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut counts = self.holds.lock();
        for task in &self.tasks {
            if let Some(count) = counts.get_mut(task) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(task);
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
        let free = |task: &str| holds.unless_held(task, || ()).is_some();
        assert!(!free("3f") && !free("ab") && free("cd"));
        drop(one);
        assert!(!free("3f") && free("ab"));
        drop(other);
        assert!(free("3f"));
    }
}
