//! Words that a model understands: marked in a long text, and suggested while the user types.

use atelier_studio::form::vocabulary::{Completions, Vocabulary};
use gloo_events::EventListener;
use leptos::prelude::*;
use maud::{Markup, html};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlTextAreaElement};

use super::field::Field;
use crate::browser::editing;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text};
use crate::view::parts::mounted::mount_into;
use crate::view::parts::size::follow_size_of;

/// The note above the text that explains the marks.
pub fn note() -> Markup {
    html! { span.understood hidden { "Outlined words steer this model" } }
}

/// The containers below the text for a message and for suggested words.
pub fn below() -> Markup {
    html! {
        p.hint.left-to-chance role="status" {}
        div.offers role="group" aria-label="Words the model understands" {}
    }
}

/// Updates marks and suggestions from the text of a field, for as long as the owner lives.
pub fn follow(field: &Field, vocabulary: Vocabulary, within: &Element) {
    let found = |selector: &str| within.query_selector(selector).ok().flatten();
    let area = found("textarea").and_then(|it| it.dyn_into::<HtmlTextAreaElement>().ok());
    let (Some(area), Some(marks), Some(note), Some(chance), Some(offers)) = (
        area,
        found(".marks"),
        found(".understood"),
        found(".left-to-chance"),
        found(".offers"),
    ) else {
        return;
    };
    let value = field.value();
    let offer = RwSignal::new(Completions::default());
    let is_marked = memo({
        let vocabulary = vocabulary.clone();
        move || !vocabulary.find(&value.read()).is_empty()
    });
    effect(move || {
        // Fails only for an invalid name.
        let _ = note.toggle_attribute_with_force("hidden", !is_marked.get());
    });
    let is_unknown = memo({
        let vocabulary = vocabulary.clone();
        move || vocabulary.has_no_known_word(&value.read())
    });
    let message = text(move || match is_unknown.get() {
        true => "No word recognized: the result is random.".to_owned(),
        false => String::new(),
    });
    effect(move || chance.set_text_content(Some(&message.read())));
    let text_marks = {
        let vocabulary = vocabulary.clone();
        dynamic(move || marked(&vocabulary, &value.read()))
    };
    mount_into(&marks, text_marks);
    mount_into(&offers, offered(field.clone(), offer, area.clone()));
    let typed = EventListener::new(&area, "input", {
        let area = area.clone();
        move |_| {
            let caret = area.selection_start().ok().flatten().unwrap_or_default();
            let now = match editing::is_replacing() {
                true => Completions::default(),
                false => vocabulary.complete(&area.value(), caret as usize),
            };
            if *offer.read_untracked() != now {
                offer.set(now);
            }
        }
    });
    // The marks are in a layer behind the text field, so both must have the same scroll position.
    let scroll_marks = {
        let area = area.clone();
        move || marks.set_scroll_top(area.scroll_top())
    };
    let scrolled = EventListener::new(&area, "scroll", {
        let scroll_marks = scroll_marks.clone();
        move |_| scroll_marks()
    });
    StoredValue::new_local([typed, scrolled]);
    // After a resize, lines may wrap differently.
    follow_size_of(&area, scroll_marks);
}

/// An invisible copy of the text in which the known words are marked.
fn marked(vocabulary: &Vocabulary, text: &str) -> AnyView {
    let found = vocabulary.find(text);
    if found.is_empty() {
        return ().into_any();
    }
    let mut parts = Vec::new();
    let mut at = 0;
    for range in found {
        parts.push(text[at..range.start].to_owned().into_any());
        parts.push(view! { <mark>{text[range.clone()].to_owned()}</mark> }.into_any());
        at = range.end;
    }
    // Without this character, a line break at the end would have no height.
    parts.push(format!("{}\u{200b}", &text[at..]).into_any());
    parts.collect_view().into_any()
}

/// Buttons for suggested words. Pressing one completes the typed word.
fn offered(field: Field, offer: RwSignal<Completions>, area: HtmlTextAreaElement) -> AnyView {
    let area = StoredValue::new_local(area);
    dynamic(move || {
        let words = offer.read().words.clone().into_iter();
        let field = field.clone();
        words
            .map(|word| {
                let (field, chosen) = (field.clone(), word.clone());
                let choose = move |_| {
                    let completed = offer
                        .get_untracked()
                        .apply(&untrack(|| field.text()), &chosen);
                    if let Some((text, _)) = &completed {
                        field.type_text(text.clone());
                    }
                    offer.set(Completions::default());
                    let Some((_, caret)) = completed else {
                        return;
                    };
                    let area = area.get_value();
                    let _ = AsRef::<HtmlElement>::as_ref(&area).focus();
                    let caret = u32::try_from(caret).unwrap_or_default();
                    request_animation_frame(move || {
                        let _ = area.set_selection_range(caret, caret);
                    });
                };
                view! {
                    <button class="offered" type="button" on:click=handler(choose)>
                        {word}
                    </button>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    })
}
