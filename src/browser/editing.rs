//! Changes to text fields that the browser's own undo includes: Ctrl+Z reverts them like typed text.

use std::cell::Cell;

use js_sys::Function;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};

use super::press::get;

thread_local! {
    static IS_REPLACING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether [`replace`] is running. An `input` event is then not caused by the user.
pub fn is_replacing() -> bool {
    IS_REPLACING.get()
}

/// Replaces the whole text of a field as if the new text were typed, and moves the focus to the field. Returns whether the
/// browser did so.
pub fn replace(field: &HtmlElement, text: &str) -> bool {
    let _ = field.focus();
    let document = document();
    // A hidden field can't take the focus: the browser would write into the field that has it.
    if document.active_element().as_ref() != Some(field.as_ref()) {
        return false;
    }
    if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        area.select();
    } else if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        input.select();
    }
    let name = if text.is_empty() {
        "delete"
    } else {
        "insertText"
    };
    let command: Option<Function> = get(&document, "execCommand").and_then(|it| it.dyn_into().ok());
    IS_REPLACING.set(true);
    let is_done = command.and_then(|command| {
        let typed = command.call3(&document, &name.into(), &false.into(), &text.into());
        typed.ok()?.as_bool()
    });
    IS_REPLACING.set(false);
    is_done == Some(true)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn field(body: &HtmlElement) -> HtmlInputElement {
        let input = document().create_element("input").unwrap();
        body.append_child(&input).unwrap();
        input.unchecked_into()
    }

    /// Guards against writing the text into the focused field instead.
    #[wasm_bindgen_test]
    fn replace_writes_nothing_if_the_field_cannot_take_the_focus() {
        let body = document().body().unwrap();
        let (focused, hidden) = (field(&body), field(&body));
        hidden.set_hidden(true);
        focused.focus().unwrap();
        assert!(!replace(&hidden, "of another field"));
        assert_eq!((focused.value(), hidden.value()), Default::default());
        hidden.set_hidden(false);
        assert!(replace(&hidden, "its own"));
        assert_eq!(hidden.value(), "its own");
        focused.remove();
        hidden.remove();
    }
}
