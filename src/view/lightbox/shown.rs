//! What is shown large, as the address says it, so that Back leads out again: one output, several to be
//! compared, or a batch to be explored.

use std::sync::Arc;

use atelier_engine::BatchKey;
use atelier_studio::batch::exploration;
use atelier_studio::output::output_cache;
use leptos::prelude::*;

use crate::browser::clock;
use crate::reactive::boxed::memo;
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::task::shown_output::ShownOutput;

/// In the address: the name of the output that is shown large.
pub const SHOWN: &str = "lightbox";

/// In the address: the names of what is compared, with a comma between.
pub const COMPARED: &str = "compare";

/// In the address: the batch that is explored, and where in it the person is.
pub const EXPLORED: &str = "sweep";

pub const MAX_COMPARED: usize = 4;

/// Shows an output large.
pub fn open(navigation: Navigation, output: &str) {
    navigation.push_query(SHOWN, output);
}

/// Compares outputs by their names.
pub fn compare(navigation: Navigation, names: &[String]) {
    navigation.push_query(COMPARED, &names.join(","));
}

/// Explores a batch from the start of every axis.
pub fn explore(navigation: Navigation, batch: &BatchKey) {
    navigation.push_query(EXPLORED, &exploration::beginning(batch));
}

/// Whether a comparison or a batch covers the output that is shown large; tracked.
pub fn is_covered(navigation: Navigation) -> bool {
    navigation.query(COMPARED).is_some() || navigation.query(EXPLORED).is_some()
}

/// What is known of the tasks of some outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Storage was read.
    pub is_open: bool,
    /// Of each output, whether its task is there.
    tasks: Vec<bool>,
}

/// Follows the tasks of outputs, named with a comma between: none other's changes are heard of.
pub fn known(names: Memo<Option<String>>) -> Memo<Known> {
    let runner = contexts().runner;
    memo(move || {
        let names = names.get().unwrap_or_default();
        let keys = runner.keys();
        let is_there = |name: &str| {
            let place = output_cache::parse_name(name);
            place.is_some_and(|(key, _)| keys.contains(&key))
        };
        Known {
            is_open: runner.is_open(),
            tasks: names.split(',').take(MAX_COMPARED).map(is_there).collect(),
        }
    })
}

/// An output by its name; none that this browser does not know.
pub fn shown_output(name: &str) -> Option<ShownOutput> {
    let (key, position) = output_cache::parse_name(name)?;
    let task = contexts().runner.task(&key)?;
    // A new address of the same output is shown anew, other changes are not.
    let url = memo({
        let task = task.clone();
        move || {
            let task = task.read();
            let url = task.outputs().get(position);
            url.filter(|_| task.removed.is_none()).cloned()
        }
    });
    let url = url.get()?;
    let task = Arc::new(task.get_untracked());
    Some(ShownOutput::new(task, url, position, clock::now()))
}
