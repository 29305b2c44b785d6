//! The shown item of a sweep: the choice among its outputs, its prompt and its actions.

use atelier_engine::TaskKey;
use atelier_studio::navigation::route::Route;
use icondata_lu::{LuListChecks, LuPencil};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::actions;
use crate::view::lightbox::shown::shown_output;
use crate::view::parts::clamped::clamped;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::segment::segment;
use crate::view::task::again::Again;
use crate::view::task::{edit, words};

/// Returns the number of outputs of a task; tracked.
pub fn outputs(task: &TaskKey) -> usize {
    let task = contexts().runner.task(task);
    task.map_or(0, |task| task.read().outputs().len())
}

/// Returns the name of the chosen output, or of the last output if the task has fewer; tracked.
pub fn output_of(task: &TaskKey, chosen: RwSignal<usize>) -> String {
    let last = outputs(task).saturating_sub(1);
    task.output(chosen.get().min(last))
}

/// Returns the control that chooses among several outputs of an item. The choice also applies to the next item, so that
/// the same output is compared.
pub fn output_picker(count: usize, chosen: RwSignal<usize>) -> AnyView {
    if count < 2 {
        return ().into_any();
    }
    let radios = (0..count).map(|nth| {
        let is_chosen = when(move || chosen.get().min(count - 1) == nth);
        let label = (nth + 1).to_string();
        segment("sweep-output", label, is_chosen, move || chosen.set(nth))
    });
    view! {
        <fieldset class="sweep-axis">
            <legend>"Output"</legend>
            <div class="segments">{radios.collect_view()}</div>
        </fieldset>
    }
    .into_any()
}

/// Returns the prompt and the actions of an item. `compare`: returns the button that compares the output of this name.
pub fn details(
    task: Option<TaskKey>,
    output: RwSignal<usize>,
    compare: impl Fn(&str) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let Some(key) = task else {
        return ().into_any();
    };
    let Some(task) = contexts()
        .runner
        .task(&key)
        .map(|task| task.get_untracked())
    else {
        return ().into_any();
    };
    let again = Again::of(&task);
    let name = {
        let key = key.clone();
        memo(move || output_of(&key, output))
    };
    // Rendered again only for another output.
    let offered = dynamic(move || match shown_output(&name.read()) {
        Some(shown) => {
            let compare = compare(&name.read());
            actions::actions(&shown, again, compare)
        }
        None => ().into_any(),
    });
    let edit = edit::button(
        &task,
        "button quiet",
        view! { <Glyph icon=LuPencil /> "Edit" }.into_any(),
    );
    view! {
        <div>{clamped(words::name(&task), "task-prompt")}</div>
        {offered}
        {again.answer.view()}
        <div class="row">
            {edit}
            <a class="button quiet" href=Route::Task(key).path()>
                <Glyph icon=LuListChecks />
                "Show task"
            </a>
        </div>
    }
    .into_any()
}
