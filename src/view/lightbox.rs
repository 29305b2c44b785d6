//! A dialog that shows one output as large as the window, next to the input it was made from. The open output is part
//! of the page's URL.

mod actions;
pub mod comparison;
mod credentials;
mod edit_with_mask;
mod measures;
mod panel;
mod player;
mod removal;
mod sequence;
pub mod shown;
mod slideshow;
mod stage;
pub mod sweep;
mod user_activity;
mod zooming;

use atelier_contract::output::OutputKind;
use atelier_studio::navigation::route::Route;
use gloo_events::{EventListener, EventListenerOptions};
use icondata_lu::{LuChevronLeft, LuChevronRight, LuMaximize, LuMinimize};
use leptos::html::{Dialog, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, KeyboardEvent, PointerEvent, WheelEvent};

use measures::Measures;
use removal::Removal;
use sequence::Sequence;
use shown::{SHOWN, known_tasks, shown_output};
use slideshow::Slideshow;
use zooming::Zooming;

use crate::browser::frame::after_frame;
use crate::browser::full_screen;
use crate::reactive::boxed::{dynamic, effect, follow_memo, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::status_note::StatusNote;
use crate::view::parts::{dialog, focus};
use crate::view::shell::undo::Undo;

/// The dialog that shows one output large. It opens above any page; the arrow keys step through the outputs of that page.
#[component]
pub fn Lightbox() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let sequence = Sequence::of_address();
    let shown = sequence.shown;
    let is_open = when(move || shown.read().is_some());
    dialog::follow_large(dialog, is_open);
    let zooming = Zooming::new(".stage > img");
    let close = move || navigation.pop_query(SHOWN);
    let removal = Removal::new(sequence);
    let container = NodeRef::<Div>::new();
    let slideshow = Slideshow::new(sequence, zooming, container);
    let remove = move || {
        // The output must not change while the confirmation is open.
        slideshow.stop();
        removal.remove(close);
    };
    let toggle_full_screen = move || {
        if let Some(container) = container.get_untracked() {
            full_screen::turn(&container);
        }
    };
    follow_keys(navigation, sequence, zooming, (remove, toggle_full_screen));
    let body = NodeRef::<Div>::new();
    effect(move || {
        shown.track();
        zooming.reset();
        // On phones the body scrolls: show the next output from its top.
        if let Some(body) = body.get() {
            body.set_scroll_top(0);
        }
    });
    return_focus(navigation, shown);
    removal::keep_focus(shown);
    let is_active = user_activity::follow(container);
    // Input in the panel is about this output, so it stops the slideshow.
    let stop_slideshow = move |event: &Event| {
        let is_in_panel = event_target::<Element>(event).closest(".lightbox-panel");
        if is_in_panel.is_ok_and(|it| it.is_some()) {
            slideshow.stop();
        }
    };
    let contents = move || {
        view! {
            // This element is the one that enters full screen.
            <div class="lightbox-room" class:slideshow=slideshow.is_on class:stirred=is_active node_ref=container>
                {head(sequence, zooming, slideshow, toggle_full_screen, close)}
                // The body gets the initial focus instead of a button, so that Space plays the output.
                <div
                    class="lightbox-body"
                    tabindex="-1"
                    autofocus
                    node_ref=body
                    on:pointerdown=handler(move |event: PointerEvent| stop_slideshow(&event))
                    on:keydown=handler(move |event: KeyboardEvent| stop_slideshow(&event))
                    on:wheel=handler(move |event: WheelEvent| stop_slideshow(&event))
                >
                    {output(sequence, zooming, remove)}
                </div>
                // The page's own Undo bar is behind the dialog.
                <Undo />
                {removal.question(close)}
                // Notices outside this element are not visible in full screen.
                {dialog::notices(is_open)}
            </div>
            {slideshow.next_output()}
        }
        .into_any()
    };
    view! {
        <dialog
            class="lightbox"
            node_ref=dialog
            aria-label="Output"
            on:close=dialog::closed(close)
        >
            {dialog::contents_alone(is_open, contents)}
        </dialog>
    }
}

/// Moves the focus to the output on the page when the dialog closes.
///
/// The browser itself returns the focus to the element that had it before. That isn't enough after a reload, where no
/// element had it, nor after the user stepped to another output. The gallery page moves the focus itself, because the
/// tile may not be rendered.
fn return_focus(navigation: Navigation, shown: Memo<Option<String>>) {
    let before = StoredValue::new(None::<String>);
    // The output that was open first.
    let first = StoredValue::new(None::<String>);
    effect(move || {
        let now = shown.get();
        let last = before.get_value();
        before.set_value(now.clone());
        if last.is_none() {
            first.set_value(now.clone());
        }
        let Some(closed) = last.filter(|_| now.is_none()) else {
            return;
        };
        if untrack(|| navigation.route()) == Route::Gallery {
            return;
        }
        if first.get_value().as_ref() != Some(&closed) {
            let closed = closed.clone();
            after_frame(move || {
                focus::to_output(&closed);
            });
        }
        give_focus(closed, FRAMES);
    });
}

/// How many frames to wait for the page to render the element that shows the output.
const FRAMES: u32 = 20;

fn give_focus(output: String, frames: u32) {
    after_frame(move || {
        if focus::is_lost() && !focus::to_output(&output) && frames == 0 {
            focus::to("main");
        }
        if frames > 0 {
            give_focus(output, frames - 1);
        }
    });
}

/// Handles the lightbox's keys.
///
/// Listens on the document, because the focus leaves the dialog when the focused element is removed.
fn follow_keys(
    navigation: Navigation,
    sequence: Sequence,
    zooming: Zooming,
    (remove, toggle_full_screen): (impl Fn() + 'static, impl Fn() + 'static),
) {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let keys = EventListener::new_with_options(&document(), "keydown", may_prevent, move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        // A comparison or the list of keyboard shortcuts may be open above the lightbox.
        let other = document().query_selector("dialog[open]:not([aria-label=Output])");
        let is_covered =
            untrack(|| sequence.shown.get().is_none() || shown::is_covered(navigation))
                || other.is_ok_and(|other| other.is_some());
        let focused = document().active_element();
        let has_focus = |selector: &str| {
            let focused = focused.as_ref();
            focused.is_some_and(|at| at.matches(selector) == Ok(true))
        };
        let is_player_or_field = has_focus("audio, video, input, select");
        if has_modifier || is_covered || is_player_or_field {
            return;
        }
        let is_button = has_focus("button, summary");
        let is_control = is_button || has_focus("a");
        match event.key().as_str() {
            _ if zooming.apply_key(event) => {}
            "ArrowLeft" => sequence.step(-1),
            "ArrowRight" => sequence.step(1),
            // Ignore key repeat.
            "Enter" if is_control => return,
            "Delete" | "Enter" if event.repeat() => {}
            "Enter" if full_screen::is_supported() => toggle_full_screen(),
            "Delete" => remove(),
            " " if !event.repeat() && !is_button && player::toggle() => {}
            _ if actions::press_tool(event, "Output") => {}
            _ => return,
        }
        event.prevent_default();
    });
    StoredValue::new_local(keys);
}

/// Returns the button that enters and leaves full screen, hidden if the browser doesn't support it.
fn full_screen_button(toggle: impl Fn() + 'static) -> AnyView {
    let is_on = full_screen::is_on();
    let label = text(move || {
        match is_on.get() {
            true => "Leave full screen",
            false => "Full screen",
        }
        .to_owned()
    });
    view! {
        <button
            class="icon-button"
            type="button"
            aria-label=label
            title=text(move || format!("{} (Enter)", label.get()))
            hidden=!full_screen::is_supported()
            on:click=handler(move |_| toggle())
        >
            {dynamic(move || match is_on.get() {
                true => view! { <Glyph icon=LuMinimize /> }.into_any(),
                false => view! { <Glyph icon=LuMaximize /> }.into_any(),
            })}
        </button>
    }
    .into_any()
}

fn head(
    sequence: Sequence,
    zooming: Zooming,
    slideshow: Slideshow,
    toggle_full_screen: impl Fn() + 'static,
    close: impl Fn() + Copy + 'static,
) -> AnyView {
    // Only pictures can be zoomed; videos and sounds have their own controls.
    let known = known_tasks(sequence.shown);
    let is_picture = memo(move || {
        follow_memo(known);
        let shown = sequence.shown.get();
        let kind = shown.and_then(|name| Some(shown_output(&name)?.kind));
        kind == Some(OutputKind::Image)
    });
    let step_button = move |label: &'static str, icon, step: isize| {
        view! {
            <button
                class="icon-button lightbox-step"
                type="button"
                aria-label=label
                title=label
                aria-disabled=text(move || sequence.neighbor(step).is_none().to_string())
                on:click=handler(move |_| sequence.step(step))
            >
                <Glyph icon />
            </button>
        }
        .into_any()
    };
    view! {
        <header class="lightbox-head">
            <p class="muted" role="status" translate="no">
                <span prop:textContent=text(move || sequence.position_label())></span> " "
                <span class="lightbox-whole" prop:textContent=text(move || sequence.scope_label().to_owned())></span>
            </p>
            <span class="lightbox-percent" translate="no" title="Relative to its original size" hidden=when(move || !is_picture.get()) prop:textContent=text(move || zooming.percent())></span>
            {zooming.button(is_picture)}
            {full_screen_button(toggle_full_screen)}
            {slideshow.button()}
            {step_button("Previous", LuChevronLeft, -1)}
            {step_button("Next", LuChevronRight, 1)}
            {dialog::close_button(close, false)}
        </header>
    }
    .into_any()
}

/// Returns the output with its panel, or a message if its task isn't in this browser.
fn output(
    sequence: Sequence,
    zooming: Zooming,
    remove: impl Fn() + Copy + Send + Sync + 'static,
) -> AnyView {
    let shown = sequence.shown;
    let compare = move || {
        let this = shown.get_untracked();
        if let (Some(this), Some(other)) = (this, sequence.companion()) {
            shown::compare(contexts().navigation, &[this, other]);
        }
    };
    let known = known_tasks(shown);
    // Cleared when another output is shown, but not when the panel is rendered again.
    let answer = StatusNote::default();
    effect(move || {
        shown.track();
        answer.clear();
    });
    dynamic(move || {
        follow_memo(known);
        let Some(name) = shown.get() else {
            return ().into_any();
        };
        match shown_output(&name) {
            Some(shown) => {
                let measures = Measures::new();
                let go = move |step| sequence.step(step);
                let panel = panel::panel(&shown, measures, answer, compare, remove);
                view! { {stage::stage(&shown, measures, zooming, go)} {panel} }.into_any()
            }
            // Storage has not been read yet: `known` changes once it has, and this runs again.
            None if !known.read().is_open => ().into_any(),
            None => view! {
                <p class="lightbox-unknown">
                    "This output isn't in this browser's history. Outputs are listed in the browser that submitted their tasks."
                </p>
            }
            .into_any(),
        }
    })
}
