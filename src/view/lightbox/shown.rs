//! Query parameters that open the dialogs of the lightbox: one output, a comparison, or a sweep of a batch. As they are
//! part of the URL, Back closes the dialog.

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

/// Query parameter with the name of the output in the lightbox.
pub const SHOWN: &str = "lightbox";

/// Query parameter with the names of the compared outputs, separated by commas.
pub const COMPARED: &str = "compare";

/// Query parameter with the explored batch and the position in it.
pub const EXPLORED: &str = "sweep";

/// Maximum number of outputs in a comparison.
pub const MAX_COMPARED: usize = 4;

/// Opens the lightbox with an output.
pub fn open(navigation: Navigation, output: &str) {
    navigation.push_query(SHOWN, output);
}

/// Opens a comparison of the outputs with these names.
pub fn compare(navigation: Navigation, names: &[String]) {
    navigation.push_query(COMPARED, &names.join(","));
}

/// Opens a batch at the start of every axis.
pub fn explore(navigation: Navigation, batch: &BatchKey) {
    navigation.push_query(EXPLORED, &exploration::beginning(batch));
}

/// Returns whether a comparison or a sweep is open above the lightbox; tracked.
pub fn is_covered(navigation: Navigation) -> bool {
    navigation.query(COMPARED).is_some() || navigation.query(EXPLORED).is_some()
}

/// For a list of outputs, whether their tasks exist in this browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTasks {
    /// Whether storage was read.
    pub is_open: bool,
    /// For each output, whether its task exists.
    tasks: Vec<bool>,
}

/// Returns a memo that changes when the tasks of some outputs are added or removed, but not when other tasks are.
///
/// `names`: the names of the outputs, separated by commas.
pub fn known_tasks(names: Memo<Option<String>>) -> Memo<KnownTasks> {
    let runner = contexts().runner;
    memo(move || {
        let names = names.get().unwrap_or_default();
        let keys = runner.keys();
        let is_known = |name: &str| {
            let place = output_cache::parse_name(name);
            place.is_some_and(|(key, _)| keys.contains(&key))
        };
        KnownTasks {
            is_open: runner.is_open(),
            tasks: names.split(',').take(MAX_COMPARED).map(is_known).collect(),
        }
    })
}

/// Returns an output by its name, or `None` if its task isn't in this browser; tracked.
pub fn shown_output(name: &str) -> Option<ShownOutput> {
    let (key, position) = output_cache::parse_name(name)?;
    let task = contexts().runner.task(&key)?;
    // Changes only with the URL of the output, not with other changes of its task.
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
