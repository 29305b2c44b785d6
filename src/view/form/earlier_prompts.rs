//! What was sent in a long text before, to be taken back into its field.

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

/// How far back it goes.
const MAX: usize = 100;

/// In the menu: it is read through, and not searched.
const LISTED: usize = 20;

/// As much of each as its two lines hold.
const MAX_CHARS: usize = 200;

/// What the model's tasks had in this parameter, the newest first. The line ends are those of a text field.
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

/// Changes each line end into `\n`, as a text field does.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The value of this parameter in a task of the model.
fn prompt_of<'a>(task: &'a Task, model: &ModelId, name: &str) -> Option<&'a str> {
    let text = task.input.values().get(name)?.as_str()?;
    (task.model == *model).then_some(text)
}

/// In which of these parameters the model's tasks had a text.
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

/// The button, once there is anything, and the menu that it opens. `sent` has the parameters in which a text was sent.
pub fn earlier_button(field: &Field, model: &ModelId, sent: Memo<BTreeSet<String>>) -> AnyView {
    // What stood in the field before the first of them was taken.
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
    let listed = prompt_history::listed(&earlier, &typed.read_untracked(), LISTED);
    let line = |prompt: String| {
        let (field, earlier) = (field.clone(), earlier.clone());
        let words = excerpt(&prompt, MAX_CHARS);
        let take = move |_| {
            let shown = with_line_feeds(&untrack(|| field.text()));
            if !earlier.contains(&shown) {
                typed.set(shown);
            }
            field.type_text(prompt.clone());
            if let Some(element) = field::element::<HtmlElement>(&field.id) {
                // A field that is there can take the focus.
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
                on:click=handler(take)
            >
                <span>{words}</span>
            </button>
        }
        .into_any()
    };
    listed.into_iter().map(line).collect_view().into_any()
}
