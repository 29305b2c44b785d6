//! Where the form is a bar, it opens as a sheet over the page: Back and Escape fold it, and lead no further.

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

/// In the address while it is open.
const SHEET: &str = "sheet";

/// On the note of what was loaded, once the form was folded over it.
pub const SEEN: &str = "data-seen";

const UNFOLDED: &str = ".more-fields[open]";

/// What lies over the sheet, and is closed first.
const OVER_IT: &str = "dialog[open], :popover-open";

/// Keeps the sheet and the address alike.
#[derive(Clone, Copy)]
pub struct FormSheet {
    navigation: Navigation,
    form: NodeRef<Form>,
    is_unfolded: RwSignal<bool>,
    /// The address is on its way back.
    is_popped: StoredValue<bool>,
}

impl FormSheet {
    /// `handle` is shown where the form is a sheet, and only then.
    pub fn follow(form: NodeRef<Form>, handle: NodeRef<Div>) -> Self {
        let navigation = contexts().navigation;
        let this = Self {
            navigation,
            form,
            is_unfolded: RwSignal::new(false),
            is_popped: StoredValue::new(false),
        };
        let word = memo(move || navigation.query(SHEET));
        effect(move || {
            let word = word.get();
            if word.is_none() {
                this.is_popped.set_value(false);
            }
            let Some(form) = form.get().filter(|_| is_one_pane()) else {
                return;
            };
            let form: &Element = form.as_ref();
            // Back has closed it: the focus within the form would keep that open as a sheet.
            if word.is_none() && is_sheet(form) {
                fold(form);
            }
            set_unfolded(form, word.as_deref() == Some(Sheet::More.word()));
        });
        RootMark::MoreFields.follow(this.is_unfolded.into());
        follow_size(handle, move |_| this.keep());
        // What the address names of a visit before may not be open.
        after_frame(move || this.keep());
        let escape = EventListener::new(&window(), "keydown", move |event| {
            // The browser's own filling in of a form has no key.
            let event = event.dyn_ref::<KeyboardEvent>();
            if event.is_some_and(|it| it.key() == "Escape" && !it.is_composing()) {
                this.escape();
            }
        });
        StoredValue::new_local(escape);
        this
    }

    /// None once the page has gone.
    fn form(self) -> Option<Element> {
        let form = self.form.try_get_untracked().flatten()?;
        Some(form.unchecked_into())
    }

    fn escape(self) {
        if let Some(form) = self.form()
            && is_sheet(&form)
            && !is_there(OVER_IT)
        {
            fold(&form);
        }
    }

    /// Changes the address to what is open. To be called when the sheet was opened or folded.
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
        match step(open, word.as_deref(), is_there("dialog[open]")) {
            Some(Step::Push(open)) => navigation.push_query(SHEET, open.word()),
            Some(Step::Replace(open)) => navigation.set_query(SHEET, Some(open.word())),
            Some(Step::Pop) if !self.is_popped.get_value() => {
                self.is_popped.set_value(true);
                navigation.pop_query(SHEET);
            }
            _ => {}
        }
    }
}

fn is_there(selector: &str) -> bool {
    document()
        .query_selector(selector)
        .is_ok_and(|it| it.is_some())
}

/// Whether the form is open as a sheet: the style sheet decides that.
fn is_sheet(form: &Element) -> bool {
    let handle = form.query_selector(".sheet-handle").ok().flatten();
    handle.is_some_and(|handle| handle.client_height() > 0)
}

/// Opens the fields that are folded away at first.
pub fn unfold(form: &Element) {
    set_unfolded(form, true);
}

fn set_unfolded(form: &Element, is_unfolded: bool) {
    if let Ok(Some(more)) = form.query_selector(".more-fields") {
        // It fails only where the name is none.
        let _ = more.toggle_attribute_with_force("open", is_unfolded);
    }
}
/// Folds the form: the focus, the fields that were unfolded and a new note of what was loaded keep it open. The focus goes
/// to what opens it again.
pub fn fold(form: &Element) {
    fold_more(form);
    if let Ok(Some(note)) = form.query_selector(".loaded-note") {
        // It fails only where the name is none.
        let _ = note.set_attribute(SEEN, "");
    }
    if let Some(focused) = focused_in(form) {
        // What has the focus can lose it.
        let _ = focused.blur();
    }
    if focus::is_lost() {
        let _ = focus::in_place_to("form > .unfold")
            || focus::in_place_to(".more-fields > summary")
            || focus::in_place_to(".model-page .form-scroll");
    }
}

/// Folds the form, which would cover the result that was just sent for: unfolded fields keep it open, and so does the
/// focus in a field. The focus goes to Generate.
pub fn close_over_result(form: &Element) {
    if !is_one_pane() {
        return;
    }
    let was_open = fold_more(form);
    if focused_in(form).is_some_and(|it| was_open || it.closest(".form-scroll") != Ok(None)) {
        focus::in_place_to(".form-foot > .primary");
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

/// Opens a folded form: fields with problems are hidden in it, and can't take the focus.
pub fn show_problems(form: &Element) {
    let is_at_field = focused_in(form).is_some_and(|it| it.matches(".form-scroll *") == Ok(true));
    if is_one_pane() && !is_at_field {
        focus::in_place_to(".model-page .form > .form-scroll");
    }
}
