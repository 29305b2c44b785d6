//! Undo after tasks were removed.

use atelier_engine::Action;
use atelier_engine::removed::last_removed;
use atelier_studio::navigation::route::Route;
use atelier_studio::task::removal::removed_message;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::browser::clock;
use crate::reactive::boxed::{handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::view::parts::ticker::ticker;
use crate::view::parts::{focus, focus_return};

/// The panel of the lightbox.
const LARGE: &str = "dialog.lightbox[open] .lightbox-panel";

/// The maximum number of restored tasks that are searched for an element to focus.
const MAX_TASKS: usize = 50;

/// Makes Ctrl/⌘+Z press the Undo button that is shown, until the owner is disposed. In a text field, the browser undoes
/// the typing.
pub fn follow_key() {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let keys = EventListener::new_with_options(&document(), "keydown", may_prevent, |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        let has_command = event.ctrl_key() || event.meta_key();
        let is_undo = event.key().eq_ignore_ascii_case("z") && has_command;
        let is_other = event.shift_key() || event.alt_key() || event.default_prevented();
        if !is_undo || is_other || focus::is_writing() {
            return;
        }
        if let Some(button) = latest_button() {
            event.prevent_default();
            // Key repeat counts as one press.
            if !event.repeat() {
                button.click();
            }
        }
    });
    StoredValue::new_local(keys);
}

/// Returns the button with the class `undoes` that was offered last. While a dialog is open, only buttons in dialogs count.
fn latest_button() -> Option<HtmlElement> {
    const SHOWN: &str = ".undoes:not([hidden], [hidden] *, dialog:not([open]) *)";
    let dialog = document().query_selector("dialog[open]").ok().flatten();
    let buttons = document().get_elements_by_class_name("undoes");
    let buttons = (0..buttons.length())
        .rev()
        .filter_map(|at| buttons.item(at));
    let shown = buttons.filter(|button| {
        let is_in_dialog = button.matches("dialog *") == Ok(true);
        button.matches(SHOWN) == Ok(true) && (is_in_dialog || dialog.is_none())
    });
    // When the button was offered.
    let since = |button: &Element| {
        let since = button.get_attribute(OFFERED_SINCE)?;
        since.parse::<u64>().ok()
    };
    let latest = shown.max_by_key(since);
    latest?.dyn_into().ok()
}

/// The attribute with the time when an Undo button was offered, in milliseconds since the Unix epoch.
const OFFERED_SINCE: &str = "data-since";

/// Returns the time of the latest change of `change`, for the `data-since` of an Undo button; tracked.
pub fn offered_since<T: Send + Sync + 'static>(change: Memo<T>) -> Signal<String> {
    text(move || {
        change.track();
        clock::now().to_string()
    })
}

/// Offers to restore the tasks that were just removed, in this or another tab.
#[component]
pub fn Undo() -> impl IntoView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let all = memo(move || runner.removed());
    let removed = memo(move || last_removed(&*all.read(), now.get().max(clock::now())));
    let sentence = text(move || {
        let (all, removed) = (all.read(), removed.read());
        removed_message(all.iter().filter(|task| removed.contains(&task.key)))
    });
    let undo = move |_| {
        let restored = removed.get_untracked();
        runner.act_on_all(&restored, Action::Restore);
        // The button disappears. In the lightbox the focus must not leave the dialog; on a page it moves to a restored task.
        let selectors = restored.iter().take(MAX_TASKS).flat_map(|key| {
            let tile = format!("[data-output={}]", focus::quoted(&key.output(0)));
            let link = format!(
                "main a[href={}]",
                focus::quoted(&Route::Task(key.clone()).path())
            );
            [tile, link]
        });
        let selectors = std::iter::once(LARGE.to_owned()).chain(selectors);
        focus_return::when_rendered(selectors.collect());
    };
    view! {
        <div class="undo" hidden=when(move || removed.read().is_empty())>
            <p role="status" prop:textContent=sentence></p>
            <button
                class="button quiet small undoes"
                type="button"
                data-since=offered_since(removed)
                on:click=handler(undo)
            >
                "Undo"
            </button>
        </div>
    }
}
