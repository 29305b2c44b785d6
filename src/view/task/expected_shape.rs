//! The expected aspect ratio of an output, so that the layout can reserve space for it.

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::output::{expected_output, output_cache};
use leptos::prelude::*;

use crate::state::aspect_ratios;
use crate::state::contexts::Contexts;

/// The maximum number of steps from an output back to the outputs it was made from.
const MAX_STEPS: usize = 6;

/// Returns the expected aspect ratio in CSS syntax: from the inputs, else from the output that the task uses as input,
/// else from the latest output of the model. Tracked.
pub fn ratio(all: Contexts, task: &Task) -> Option<String> {
    let is_drawn = matches!(task.output_kind(""), OutputKind::Image | OutputKind::Video);
    let steps = if is_drawn { MAX_STEPS } else { 0 };
    ratio_from_inputs(all, task, steps)
        .or_else(|| Some(aspect_ratios::of(&task.model)?.to_string()))
}

fn ratio_from_inputs(all: Contexts, task: &Task, steps: usize) -> Option<String> {
    let schema = all.catalog.schema(&task.model);
    let schema = schema.loaded().map(|schema| &**schema);
    expected_output::ratio(task.input.values(), schema).or_else(|| {
        let source = task.sources.first().filter(|_| steps > 0)?;
        let (key, _) = output_cache::parse_name(&source.output)?;
        let source = all.runner.task(&key)?.get_untracked();
        ratio_from_inputs(all, &source, steps - 1)
    })
}
