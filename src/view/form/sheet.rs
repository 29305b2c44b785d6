//! The form as a sheet. On narrow screens the form is a bar that opens as a sheet over the page; Back and Escape close only
//! the sheet.

use atelier_studio::form::sheet::{Sheet, Step, step};
use gloo_events::EventListener;
use leptos::html::{Div, Form};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::parts::focus;
use crate::view::parts::root_mark::RootMark;
use crate::view::parts::size::follow_size;
use crate::view::parts::viewport::is_one_pane;

/// The query parameter of the address while the sheet is open.
const SHEET: &str = "sheet";

/// Marks the note about loaded inputs after the form was folded. The note then no longer keeps the form open.
pub const SEEN: &str = "data-seen";

/// The fields that are folded at first, while they are open.
const UNFOLDED: &str = ".more-fields[open]";

/// Elements above the sheet, which Escape closes first.
const ABOVE_SHEET: &str = "dialog[open], :popover-open";

/// Synchronizes the sheet and the address.
#[derive(Clone, Copy)]
pub struct FormSheet {
    navigation: Navigation,
    form: NodeRef<Form>,
    is_unfolded: RwSignal<bool>,
    /// Whether going back was requested and the address has not changed yet.
    is_going_back: StoredValue<bool>,
}

impl FormSheet {
    /// Starts the synchronization. `handle`: an element that is shown only while the form is a sheet.
    pub fn follow(form: NodeRef<Form>, handle: NodeRef<Div>) -> Self {
        let navigation = contexts().navigation;
        let this = Self {
            navigation,
            form,
            is_unfolded: RwSignal::new(false),
            is_going_back: StoredValue::new(false),
        };
        let word = memo(move || navigation.query(SHEET));
        effect(move || {
            let word = word.get();
            if word.is_none() {
                this.is_going_back.set_value(false);
            }
            let Some(form) = form.get().filter(|_| is_one_pane()) else {
                return;
            };
            let form: &Element = form.as_ref();
            // After Back, the form must be folded: the focus inside it would keep the sheet open.
            if word.is_none() && is_sheet(form) {
                fold(form);
            }
            set_unfolded(form, word.as_deref() == Some(Sheet::More.word()));
        });
        RootMark::MoreFields.follow(this.is_unfolded.into());
        follow_size(handle, move |_| this.keep());
        // After a reload, the address may still have the parameter although the sheet is closed.
        after_frame(move || this.keep());
        let escape = EventListener::new(&window(), "keydown", move |event| {
            // Autofill dispatches `keydown` events that are not keyboard events.
            let event = event.dyn_ref::<KeyboardEvent>();
            if event.is_some_and(|it| it.key() == "Escape" && !it.is_composing()) {
                this.escape();
            }
        });
        StoredValue::new_local(escape);
        this
    }

    /// Returns the form; `None` once the page is disposed.
    fn form(self) -> Option<Element> {
        let form = self.form.try_get_untracked().flatten()?;
        Some(form.unchecked_into())
    }

    fn escape(self) {
        if let Some(form) = self.form()
            && is_sheet(&form)
            && !exists(ABOVE_SHEET)
        {
            fold(&form);
        }
    }

    /// Updates the address. Must be called after the sheet was opened or folded.
    pub fn keep(self) {
        let Some(form) = self.form() else { return };
        let navigation = self.navigation;
        let is_unfolded = form.query_selector(UNFOLDED).is_ok_and(|it| it.is_some());
        self.is_unfolded.set(is_unfolded);
        let open = match is_unfolded {
            _ if !is_one_pane() => None,
            true => Some(Sheet::More),
            false => is_sheet(&form).then_some(Sheet::Form),
        };
        let word = untrack(|| navigation.query(SHEET));
        match step(open, word.as_deref(), exists("dialog[open]")) {
            Some(Step::Push(open)) => navigation.push_query(SHEET, open.word()),
            Some(Step::Replace(open)) => navigation.set_query(SHEET, Some(open.word())),
            Some(Step::Pop) if !self.is_going_back.get_value() => {
                self.is_going_back.set_value(true);
                navigation.pop_query(SHEET);
            }
            _ => {}
        }
    }
}

fn exists(selector: &str) -> bool {
    document()
        .query_selector(selector)
        .is_ok_and(|it| it.is_some())
}

/// Whether the form is open as a sheet, which the style sheet decides.
fn is_sheet(form: &Element) -> bool {
    let handle = form.query_selector(".sheet-handle").ok().flatten();
    handle.is_some_and(|handle| handle.client_height() > 0)
}

/// Opens the fields that are folded at first.
pub fn unfold(form: &Element) {
    set_unfolded(form, true);
}

fn set_unfolded(form: &Element, is_unfolded: bool) {
    if let Ok(Some(more)) = form.query_selector(".more-fields") {
        // Fails only for an invalid name.
        let _ = more.toggle_attribute_with_force("open", is_unfolded);
    }
}

/// Folds the form. Removes everything that keeps it open: the focus, the unfolded fields and a new note about loaded inputs.
/// The focus moves to the button that opens the form again.
pub fn fold(form: &Element) {
    fold_more(form);
    if let Ok(Some(note)) = form.query_selector(".loaded-note") {
        // Fails only for an invalid name.
        let _ = note.set_attribute(SEEN, "");
    }
    if let Some(focused) = focused_in(form) {
        // `blur` does not fail.
        let _ = focused.blur();
    }
    if focus::is_lost() {
        let _ = focus::to_without_scrolling("form > .unfold")
            || focus::to_without_scrolling(".more-fields > summary")
            || focus::to_without_scrolling(".model-page .form-scroll");
    }
}

/// Folds the form after Generate was pressed, because it would cover the result. Unfolded fields and a focused field keep it
/// open, so the focus moves to Generate.
pub fn close_over_result(form: &Element) {
    if !is_one_pane() {
        return;
    }
    let was_open = fold_more(form);
    if focused_in(form).is_some_and(|it| was_open || it.closest(".form-scroll") != Ok(None)) {
        focus::to_without_scrolling(".form-foot > .primary");
    }
}

/// Folds the unfolded fields. Returns whether there were any.
fn fold_more(form: &Element) -> bool {
    let more = form.query_selector(UNFOLDED).ok().flatten();
    more.is_some_and(|more| more.remove_attribute("open").is_ok())
}

fn focused_in(form: &Element) -> Option<HtmlElement> {
    let focused = document().active_element()?;
    focused
        .dyn_into()
        .ok()
        .filter(|focused: &HtmlElement| form.contains(Some(focused)))
}

/// Opens a folded form, because its hidden fields can't be focused to show their problems.
pub fn show_problems(form: &Element) {
    let is_at_field = focused_in(form).is_some_and(|it| it.matches(".form-scroll *") == Ok(true));
    if is_one_pane() && !is_at_field {
        focus::to_without_scrolling(".model-page .form > .form-scroll");
    }
}
