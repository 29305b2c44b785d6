//! The shape that an output is going to have, so that its place can be kept.

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::output::{expected_output, output_cache};
use leptos::prelude::*;

use crate::state::aspect_ratios;
use crate::state::contexts::Contexts;

/// Steps back to the first of what one output was made from, at most.
const MAX_STEPS: usize = 6;

/// As its inputs say it; else that of the output that it is made from; else that of the last one of its model. As style
/// sheets write it; tracked.
pub fn ratio(all: Contexts, task: &Task) -> Option<String> {
    let is_drawn = matches!(task.output_kind(""), OutputKind::Image | OutputKind::Video);
    let steps = if is_drawn { MAX_STEPS } else { 0 };
    of_inputs(all, task, steps).or_else(|| Some(aspect_ratios::of(&task.model)?.to_string()))
}

fn of_inputs(all: Contexts, task: &Task, steps: usize) -> Option<String> {
    let schema = all.catalog.schema(&task.model);
    let schema = schema.loaded().map(|schema| &**schema);
    expected_output::ratio(task.input.values(), schema).or_else(|| {
        let source = task.sources.first().filter(|_| steps > 0)?;
        let (key, _) = output_cache::parse_name(&source.output)?;
        let source = all.runner.task(&key)?.get_untracked();
        of_inputs(all, &source, steps - 1)
    })
}
