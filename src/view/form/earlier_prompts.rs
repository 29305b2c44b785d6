//! What was sent in a long text before, to be taken back into its field.

use atelier_contract::ModelId;
use atelier_engine::Task;
use atelier_engine::excerpt::excerpt;
use atelier_engine::prompt_history::{self, distinct};
use icondata_lu::LuHistory;
use leptos::html::Textarea;
use leptos::prelude::*;

use super::field::Field;
use crate::boxed::{dynamic, handler, memo};
use crate::contexts::contexts;
use crate::runner::Runner;
use crate::view::parts::glyph::Glyph;

/// How far back it goes.
const MAX: usize = 100;

/// In the menu: it is read through, and not searched.
const LISTED: usize = 20;

/// As much of each as its two lines hold.
const MAX_CHARS: usize = 200;

/// What the model's tasks had in this parameter, the newest first.
pub fn earlier_prompts(runner: Runner, model: &ModelId, name: &str) -> Vec<String> {
    let keys = untrack(|| runner.keys());
    let tasks = keys.iter().filter_map(|key| runner.task(key));
    let prompts = tasks.filter_map(|task| {
        let task = task.read_untracked();
        prompt_of(&task, model, name).map(str::to_owned)
    });
    let prompts: Vec<String> = prompts.collect();
    distinct(prompts.iter().map(String::as_str), MAX)
}

/// The value of this parameter in a task of the model.
fn prompt_of<'a>(task: &'a Task, model: &ModelId, name: &str) -> Option<&'a str> {
    let text = task.input.values().get(name)?.as_str()?;
    (task.model == *model).then_some(text)
}

/// The button, once there is anything, and the menu that it opens.
pub fn earlier_button(field: Field, model: ModelId, element: NodeRef<Textarea>) -> AnyView {
    let runner = contexts().runner;
    let has_any = memo({
        let (model, name) = (model.clone(), field.parameter.name.clone());
        move || {
            runner.keys().iter().any(|key| {
                let task = runner.task(key);
                task.is_some_and(|task| {
                    let task = task.read_untracked();
                    prompt_of(&task, &model, &name).is_some_and(|text| !text.trim().is_empty())
                })
            })
        }
    });
    // What stood in the field before the first of them was taken.
    let typed = RwSignal::new(String::new());
    let button = dynamic(move || match has_any.get() {
        true => button_and_menu(field.clone(), model.clone(), element, typed),
        false => ().into_any(),
    });
    // As at the way back to a default: nothing moves when it comes.
    view! { <span class="reset-place">{button}</span> }.into_any()
}

fn button_and_menu(
    field: Field,
    model: ModelId,
    element: NodeRef<Textarea>,
    typed: RwSignal<String>,
) -> AnyView {
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
            true => lines(&field, &model, element, typed, &id),
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

fn lines(
    field: &Field,
    model: &ModelId,
    element: NodeRef<Textarea>,
    typed: RwSignal<String>,
    menu: &str,
) -> AnyView {
    let earlier = earlier_prompts(contexts().runner, model, &field.parameter.name);
    let listed = prompt_history::listed(&earlier, &typed.read_untracked(), LISTED);
    let line = |prompt: String| {
        let (field, earlier) = (field.clone(), earlier.clone());
        let words = excerpt(&prompt, MAX_CHARS);
        let take = move |_| {
            let shown = untrack(|| field.text());
            if !earlier.contains(&shown) {
                typed.set(shown);
            }
            field.set_text(prompt.clone());
            if let Some(element) = element.get_untracked() {
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
