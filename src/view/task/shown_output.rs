use std::sync::Arc;

use atelier_contract::output::OutputKind;
use atelier_engine::{Millis, Task};
use leptos::prelude::*;

use crate::state::known_files;
use crate::view::parts::cached_output::address_of_copy;

/// One output of a task, as a view has it.
#[derive(Clone)]
pub struct ShownOutput {
    pub task: Arc<Task>,
    pub url: String,
    /// From 0.
    pub position: usize,
    pub kind: OutputKind,
    /// Since when the task is before the person.
    pub since: Millis,
    /// The address of the copy, once it is shown.
    pub copy: RwSignal<String>,
    /// What is said instead of showing it; empty while it is shown.
    pub words: RwSignal<String>,
}

impl ShownOutput {
    /// Tracked: its kind may be known only once its file is looked at.
    pub fn new(task: Arc<Task>, url: String, position: usize, since: Millis) -> Self {
        Self {
            kind: known_files::kind(&task, &url),
            task,
            url,
            position,
            since,
            copy: address_of_copy(),
            words: RwSignal::new(String::new()),
        }
    }
}
