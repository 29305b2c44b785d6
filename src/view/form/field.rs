//! A field of the form: a parameter and its current value.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, Parameter};
use atelier_studio::form::control::{self, Control};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlTextAreaElement};

use crate::browser::editing;
use crate::reactive::boxed::text;
use crate::view::parts::focus;
use crate::view::parts::into_view::into_view;

/// A field of the form: a parameter and its current value.
#[derive(Clone)]
pub struct Field {
    pub parameter: Arc<Parameter>,
    pub required: bool,
    pub kind: Kind,
    /// The control's element id.
    pub id: String,
    draft: RwSignal<Draft>,
    /// The draft's entry of this parameter, so that a change notifies only this field.
    entry: RwSignal<Option<Entry>>,
}

/// The kind of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Parameter(Control),
    /// A secret, whose draft is never stored outside this tab.
    Secret,
}

impl Field {
    /// Creates a field. `at`: its index among all fields of the page.
    pub fn new(
        at: usize,
        parameter: Parameter,
        required: bool,
        kind: Kind,
        draft: RwSignal<Draft>,
    ) -> Self {
        let entry = RwSignal::new(draft.read_untracked().get(&parameter.name).cloned());
        Self {
            parameter: Arc::new(parameter),
            required,
            kind,
            id: Self::id_of(at),
            draft,
            entry,
        }
    }

    /// Updates the entry from the draft. Returns whether it has changed.
    pub fn update_entry(&self, now: Option<&Entry>) -> bool {
        let has_changed = self.entry.read_untracked().as_ref() != now;
        if has_changed {
            self.entry.set(now.cloned());
        }
        has_changed
    }

    /// Returns the element id of the control with this index.
    pub fn id_of(at: usize) -> String {
        format!("field-{at}")
    }

    /// Returns what the user entered; `None` while untouched. Tracked.
    pub fn entry(&self) -> Option<Entry> {
        self.entry.get()
    }

    /// Like [`Self::entry`], but not tracked, and `None` once the form is disposed.
    pub fn entry_now(&self) -> Option<Entry> {
        self.entry.try_get_untracked().flatten()
    }

    /// Returns the values of the whole form; not tracked, and empty once the form is disposed.
    pub fn draft_now(&self) -> Draft {
        self.draft.try_get_untracked().unwrap_or_default()
    }

    /// Whether the form of the field was removed from the page.
    pub fn is_disposed(&self) -> bool {
        self.entry.is_disposed()
    }

    /// Returns what the control shows: the entry, or the default while untouched. Tracked.
    pub fn shown(&self) -> Option<Entry> {
        self.entry().or_else(|| self.parameter.default_entry())
    }

    /// Returns the text of a text control; empty for `null`. Tracked.
    pub fn text(&self) -> String {
        match self.shown() {
            None | Some(Entry::Value(serde_json::Value::Null)) => String::new(),
            Some(entry) => entry.to_text(),
        }
    }

    pub fn set_text(&self, text: String) {
        self.set(Entry::Text(text));
    }

    /// Sets the text of a text control as if it were typed, so that Ctrl+Z undoes it. This focuses the control.
    pub fn type_text(&self, text: String) {
        let control = element::<HtmlElement>(&self.id);
        if !control.is_some_and(|control| editing::replace(&control, &text)) {
            self.set_text(text);
        }
    }

    pub fn set(&self, entry: Entry) {
        self.entry.set(Some(entry.clone()));
        self.draft
            .update(|draft| draft.set(self.parameter.name.clone(), entry));
    }

    pub fn reset(&self) {
        self.entry.set(None);
        self.draft.update(|draft| draft.reset(&self.parameter.name));
    }

    /// Restores an earlier entry.
    pub fn restore(&self, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.set(entry),
            None => self.reset(),
        }
    }

    /// Returns [`Self::text`] as a signal.
    pub fn value(&self) -> Signal<String> {
        let field = self.clone();
        text(move || field.text())
    }

    pub fn is_seed(&self) -> bool {
        self.kind == Kind::Parameter(Control::Seed)
    }

    /// Whether the parameter has a description.
    pub fn is_described(&self) -> bool {
        !self.parameter.description.trim().is_empty()
    }

    /// Returns the value of `aria-describedby`. Contains only ids that exist.
    pub fn described_by(&self) -> String {
        let bounds = (!control::bounds(&self.parameter).is_empty()).then(|| self.bounds_id());
        let hint = self.is_described().then(|| self.hint_id());
        let ids: Vec<String> = [bounds, hint, Some(self.problem_id())]
            .into_iter()
            .flatten()
            .collect();
        ids.join(" ")
    }

    pub fn bounds_id(&self) -> String {
        format!("{}-bounds", self.id)
    }

    pub fn label_id(&self) -> String {
        format!("{}-label", self.id)
    }

    /// The id of the word "Address" in the accessible name of a media field's text field.
    pub fn address_id(&self) -> String {
        format!("{}-address", self.id)
    }

    /// The id of the part of a media field for a file of the user's own.
    pub fn own_file_id(&self) -> String {
        format!("{}-file", self.id)
    }

    pub fn hint_id(&self) -> String {
        format!("{}-hint", self.id)
    }

    pub fn problem_id(&self) -> String {
        format!("{}-problem", self.id)
    }
}

/// The element id of the text field for the input as JSON.
pub const JSON_ID: &str = "input-json";

/// Moves the focus to a control, and the caret to the end of its text. Does not scroll: the control at the start of a page is
/// visible.
pub fn focus_in_place(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        focus::in_place(&element);
        if let Some(area) = element.dyn_ref::<HtmlTextAreaElement>() {
            // Positions past the end are clamped to it. Does not fail for a `textarea`.
            let _ = area.set_selection_range(u32::MAX, u32::MAX);
        }
    }
}

/// Moves the focus to a control and scrolls its field into view. Opens the fold that contains it, if any.
pub fn focus(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        // While the input is edited as JSON, that text field gets the focus.
        if let Ok(Some(_)) = element.closest(".form-fields[hidden]") {
            return focus(JSON_ID);
        }
        // A control in a closed fold can't be focused.
        if let Ok(Some(fold)) = element.closest("details") {
            let _ = fold.set_attribute("open", "");
        }
        let _ = element.focus();
        // The browser would scroll only the line of the caret into view.
        scroll_into_view(id);
    }
}

/// Scrolls the field of a control into view, by the smallest distance.
pub fn scroll_into_view(id: &str) {
    let field = element::<HtmlElement>(id).and_then(|element| element.closest(".field").ok()?);
    if let Some(field) = field {
        into_view(&field);
    }
}

/// Returns the element of a control.
pub fn element<E: JsCast>(id: &str) -> Option<E> {
    document().get_element_by_id(id)?.dyn_into().ok()
}
