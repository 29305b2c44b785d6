//! Where the form is a bar, what is folded away opens as a sheet over the page: Back folds it, and leads no further.

use leptos::html::Details;
use leptos::prelude::*;

use crate::boxed::effect;
use crate::contexts::contexts;
use crate::view::parts::root_mark::RootMark;
use crate::view::parts::viewport::is_one_pane;

/// In the address while it is open.
const SHEET: &str = "sheet";
const OPEN: &str = "more";

/// Keeps the sheet and the address alike. What it gives is to be told when the sheet was opened or folded.
pub fn follow(sheet: NodeRef<Details>) -> impl Fn() {
    let navigation = contexts().navigation;
    effect(move || {
        let is_wanted = navigation.query(SHEET).is_some();
        if let Some(sheet) = sheet.get().filter(|_| is_one_pane()) {
            sheet.set_open(is_wanted);
        }
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
