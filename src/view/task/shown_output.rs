use std::sync::Arc;

use atelier_contract::output::OutputKind;
use atelier_engine::{Millis, Task};
use leptos::prelude::*;

use crate::state::known_files;
use crate::view::parts::cached_output::object_url_signal;

/// An output of a task, as a view shows it.
#[derive(Clone)]
pub struct ShownOutput {
    pub task: Arc<Task>,
    pub url: String,
    /// The position among the task's outputs, from 0.
    pub position: usize,
    pub kind: OutputKind,
    /// When the view of the task was created.
    pub since: Millis,
    /// The address of the copy; empty until the copy is shown.
    pub copy: RwSignal<String>,
    /// The message shown instead of the output; empty while the output is shown.
    pub message: RwSignal<String>,
}

impl ShownOutput {
    /// Creates the value. Tracked: the kind may change when the file is inspected.
    pub fn new(task: Arc<Task>, url: String, position: usize, since: Millis) -> Self {
        Self {
            kind: known_files::kind(&task, &url),
            task,
            url,
            position,
            since,
            copy: object_url_signal(),
            message: RwSignal::new(String::new()),
        }
    }
}
