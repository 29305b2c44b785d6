//! Where the form is a bar, what is folded away opens as a sheet over the page: Back folds it, and leads no further.

use leptos::html::Details;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::view::parts::focus;
use crate::view::parts::root_mark::RootMark;
use crate::view::parts::viewport::is_one_pane;

/// In the address while it is open.
const SHEET: &str = "sheet";
const OPEN: &str = "more";

/// On the note of what was loaded, once the form was folded over it.
pub const SEEN: &str = "data-seen";

/// Keeps the sheet and the address alike. What it gives is to be told when the sheet was opened or folded.
pub fn follow(sheet: NodeRef<Details>) -> impl Fn() {
    let navigation = contexts().navigation;
    effect(move || {
        let is_wanted = navigation.query(SHEET).is_some();
        let Some(sheet) = sheet.get().filter(|_| is_one_pane()) else {
            return;
        };
        // Back has closed it: the focus within the form would keep that open as a sheet.
        if let (true, false, Ok(Some(form))) = (sheet.open(), is_wanted, sheet.closest("form")) {
            fold(&form);
        }
        sheet.set_open(is_wanted);
    });
    let is_unfolded = RwSignal::new(false);
    RootMark::MoreFields.follow(is_unfolded.into());
    move || {
        let is_open = sheet.get_untracked().is_some_and(|sheet| sheet.open());
        is_unfolded.set(is_open);
        match is_open {
            true if is_one_pane() => navigation.push_query(SHEET, OPEN),
            true => {}
            false => navigation.pop_query(SHEET),
        }
    }
}

/// Opens the fields that are folded away at first.
pub fn unfold(form: &Element) {
    if let Ok(Some(more)) = form.query_selector(".more-fields") {
        // What is missing can be put there.
        let _ = more.set_attribute("open", "");
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
        let _ =
            focus::in_place_to("form > .unfold") || focus::in_place_to(".more-fields > summary");
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
    let more = form.query_selector(".more-fields[open]").ok().flatten();
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
