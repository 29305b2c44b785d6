//! One parameter in the form: what stands in it.

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

/// One parameter in the form: what stands in it.
#[derive(Clone)]
pub struct Field {
    pub parameter: Arc<Parameter>,
    pub required: bool,
    pub kind: Kind,
    /// The control's element id.
    pub id: String,
    draft: RwSignal<Draft>,
    /// What the draft has of this parameter, so that only this field hears of it.
    entry: RwSignal<Option<Entry>>,
}

/// How a field is filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Parameter(Control),
    /// A secret, whose draft is kept in this tab alone.
    Secret,
}

impl Field {
    /// `at` is its place among all fields of the page.
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

    /// Takes over what the draft has of this parameter. Whether that was something else.
    pub fn follow(&self, now: Option<&Entry>) -> bool {
        let is_other = self.entry.read_untracked().as_ref() != now;
        if is_other {
            self.entry.set(now.cloned());
        }
        is_other
    }

    /// The element id of the control at a place of the form.
    pub fn id_of(at: usize) -> String {
        format!("field-{at}")
    }

    /// What the person entered; `None` while untouched.
    pub fn entry(&self) -> Option<Entry> {
        self.entry.get()
    }

    /// The same, and `None` once the form has gone, too. Not tracked.
    pub fn entry_now(&self) -> Option<Entry> {
        self.entry.try_get_untracked().flatten()
    }

    /// What the control shows: the entry, or the default while untouched.
    pub fn shown(&self) -> Option<Entry> {
        self.entry().or_else(|| self.parameter.default_entry())
    }

    /// What a text control shows. A default of `null` shows as empty.
    pub fn text(&self) -> String {
        match self.shown() {
            None | Some(Entry::Value(serde_json::Value::Null)) => String::new(),
            Some(entry) => entry.to_text(),
        }
    }

    pub fn set_text(&self, text: String) {
        self.set(Entry::Text(text));
    }

    /// Puts a text into a text control as if it were typed: Ctrl+Z takes it back. The control has the focus then.
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

    /// What was entered before stands there once more.
    pub fn put_back(&self, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.set(entry),
            None => self.reset(),
        }
    }

    /// What a text control shows, as a signal.
    pub fn value(&self) -> Signal<String> {
        let field = self.clone();
        text(move || field.text())
    }

    pub fn is_seed(&self) -> bool {
        self.kind == Kind::Parameter(Control::Seed)
    }

    /// There is a text that says what it does.
    pub fn is_described(&self) -> bool {
        !self.parameter.description.trim().is_empty()
    }

    /// The ids of what describes the control: all are there.
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

    pub fn hint_id(&self) -> String {
        format!("{}-hint", self.id)
    }

    pub fn problem_id(&self) -> String {
        format!("{}-problem", self.id)
    }
}

/// The element id of the input's text, where it is written as JSON.
pub const JSON_ID: &str = "input-json";

/// Moves the focus to a control, and the caret to the end of its text. Nothing is scrolled: what a page begins with is in
/// sight.
pub fn focus_in_place(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        focus::in_place(&element);
        if let Some(area) = element.dyn_ref::<HtmlTextAreaElement>() {
            // Any place behind the end is the end. It fails nowhere in a text.
            let _ = area.set_selection_range(u32::MAX, u32::MAX);
        }
    }
}

/// Moves the focus to a control, wherever on the page it is.
pub fn focus(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        // Written as JSON, the text stands for all of them.
        if let Ok(Some(_)) = element.closest(".form-fields[hidden]") {
            return focus(JSON_ID);
        }
        // A control that is folded away can't take the focus.
        if let Ok(Some(fold)) = element.closest("details") {
            let _ = fold.set_attribute("open", "");
        }
        let _ = element.focus();
        // Of a text the browser shows the line of the caret alone.
        bring_into_sight(id);
    }
}

/// Scrolls no further than it has to.
pub fn bring_into_sight(id: &str) {
    let field = element::<HtmlElement>(id).and_then(|element| element.closest(".field").ok()?);
    if let Some(field) = field {
        into_view(&field);
    }
}

/// A control, as the element that it is.
pub fn element<E: JsCast>(id: &str) -> Option<E> {
    document().get_element_by_id(id)?.dyn_into().ok()
}
