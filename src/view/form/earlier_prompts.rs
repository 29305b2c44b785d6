//! Offers texts that were sent before for a long text field.

use std::collections::BTreeSet;

use atelier_contract::ModelId;
use atelier_engine::Task;
use atelier_studio::form::prompt_history::{self, distinct};
use atelier_studio::text::excerpt::excerpt;
use icondata_lu::LuHistory;
use leptos::prelude::*;
use web_sys::HtmlElement;

use super::field::{self, Field};
use crate::reactive::boxed::{dynamic, handler, memo};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// The maximum number of earlier prompts.
const MAX: usize = 100;

/// The number of prompts in the menu, which has no search.
const MAX_LISTED: usize = 20;

/// The length of the excerpts in the menu, which have two lines.
const MAX_CHARS: usize = 200;

/// Returns the texts that tasks of the model had in this parameter, newest first. Line ends are `\n`, as in a text field.
pub fn earlier_prompts(runner: Runner, model: &ModelId, name: &str) -> Vec<String> {
    let keys = untrack(|| runner.keys());
    let tasks = keys.iter().filter_map(|key| runner.task(key));
    let prompts = tasks.filter_map(|task| {
        let task = task.read_untracked();
        prompt_of(&task, model, name).map(with_line_feeds)
    });
    let prompts: Vec<String> = prompts.collect();
    distinct(prompts.iter().map(String::as_str), MAX)
}

/// Changes all line ends to `\n`, as a text field does.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the text of a parameter in a task; `None` if the task is of another model.
fn prompt_of<'a>(task: &'a Task, model: &ModelId, name: &str) -> Option<&'a str> {
    let text = task.input.values().get(name)?.as_str()?;
    (task.model == *model).then_some(text)
}

/// Returns the parameters among `names` for which a task of the model had a text.
pub fn sent_before(runner: Runner, model: &ModelId, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for key in runner.keys().iter() {
        let Some(task) = runner.task(key) else {
            continue;
        };
        let task = task.read_untracked();
        let has_text = |name: &&String| {
            prompt_of(&task, model, name).is_some_and(|text| !text.trim().is_empty())
        };
        found.extend(names.iter().filter(has_text).cloned());
        if found.len() == names.len() {
            break;
        }
    }
    found
}

/// The button that opens the menu. It is hidden until a text was sent for this parameter. `sent`: the parameters for which
/// texts were sent.
pub fn earlier_button(field: &Field, model: &ModelId, sent: Memo<BTreeSet<String>>) -> AnyView {
    // The user's own text, from before an earlier prompt replaced it.
    let typed = RwSignal::new(String::new());
    let (field, model) = (field.clone(), model.clone());
    let name = field.parameter.name.clone();
    let has_any = memo(move || sent.read().contains(&name));
    dynamic(move || match has_any.get() {
        true => button_and_menu(field.clone(), model.clone(), typed),
        false => ().into_any(),
    })
}

fn button_and_menu(field: Field, model: ModelId, typed: RwSignal<String>) -> AnyView {
    let id = format!("{}-earlier", field.id);
    let label_id = field.label_id();
    let is_open = RwSignal::new(false);
    let toggled = move |event: web_sys::Event| {
        let menu = event_target::<web_sys::Element>(&event);
        is_open.set(menu.matches(":popover-open").unwrap_or_default());
    };
    let lines = dynamic({
        let id = id.clone();
        move || match is_open.get() {
            true => lines(&field, &model, typed, &id),
            false => ().into_any(),
        }
    });
    view! {
        <button
            class="reset"
            type="button"
            aria-label="Earlier prompts"
            title="Earlier prompts (Alt+↑)"
            aria-describedby=label_id
            popovertarget=id.clone()
        >
            <Glyph icon=LuHistory />
        </button>
        <div
            class="menu earlier-prompts"
            translate="no"
            id=id
            popover="auto"
            role="group"
            aria-label="Earlier prompts"
            on:toggle=handler(toggled)
        >
            {lines}
        </div>
    }
    .into_any()
}

fn lines(field: &Field, model: &ModelId, typed: RwSignal<String>, menu: &str) -> AnyView {
    let earlier = earlier_prompts(contexts().runner, model, &field.parameter.name);
    let listed = prompt_history::listed(&earlier, &typed.read_untracked(), MAX_LISTED);
    let line = |prompt: String| {
        let (field, earlier) = (field.clone(), earlier.clone());
        let text = excerpt(&prompt, MAX_CHARS);
        let use_prompt = move |_| {
            let shown = with_line_feeds(&untrack(|| field.text()));
            if !earlier.contains(&shown) {
                typed.set(shown);
            }
            field.type_text(prompt.clone());
            if let Some(element) = field::element::<HtmlElement>(&field.id) {
                // Focusing fails only if the field was removed.
                let _ = element.focus();
            }
        };
        view! {
            <button
                class="button quiet"
                type="button"
                dir="auto"
                popovertarget=menu.to_owned()
                popovertargetaction="hide"
                on:click=handler(use_prompt)
            >
                <span>{text}</span>
            </button>
        }
        .into_any()
    };
    listed.into_iter().map(line).collect_view().into_any()
}
