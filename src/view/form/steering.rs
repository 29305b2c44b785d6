//! The words of a long text that steer a model: marked where they stand, and offered while they are typed.

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

/// What is said above the text while a word is marked.
pub fn understood() -> Markup {
    html! { span.understood hidden { "Outlined words steer this model" } }
}

/// Room below the text for what is said of it, and for words that are offered.
pub fn below() -> Markup {
    html! {
        p.hint.left-to-chance role="status" {}
        div.offers role="group" aria-label="Words the model understands" {}
    }
}

/// Follows the text of a field, for as long as the owner lives.
pub fn follow(field: &Field, vocabulary: Vocabulary, within: &Element) {
    let found = |selector: &str| within.query_selector(selector).ok().flatten();
    let area = found("textarea").and_then(|it| it.dyn_into::<HtmlTextAreaElement>().ok());
    let (Some(area), Some(marks), Some(understood), Some(chance), Some(offers)) = (
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
        // It fails only where the name is none.
        let _ = understood.toggle_attribute_with_force("hidden", !is_marked.get());
    });
    let is_unknown = memo({
        let vocabulary = vocabulary.clone();
        move || vocabulary.has_no_known_word(&value.read())
    });
    let said = text(move || match is_unknown.get() {
        true => "No word recognized: the result is left to chance.".to_owned(),
        false => String::new(),
    });
    effect(move || chance.set_text_content(Some(&said.read())));
    let lies_under = {
        let vocabulary = vocabulary.clone();
        dynamic(move || marked(&vocabulary, &value.read()))
    };
    mount_into(&marks, lies_under);
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
    // The marks lie under the text, and move with it.
    let follow = {
        let area = area.clone();
        move || marks.set_scroll_top(area.scroll_top())
    };
    let scrolled = EventListener::new(&area, "scroll", {
        let follow = follow.clone();
        move |_| follow()
    });
    StoredValue::new_local([typed, scrolled]);
    // Where its lines break anew they may be elsewhere.
    follow_size_of(&area, follow);
}

/// The text once more, unseen, with the words marked that the model understands.
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
    // A line break at the end would have no height of its own.
    parts.push(format!("{}\u{200b}", &text[at..]).into_any());
    parts.collect_view().into_any()
}

/// Words that may be meant; one that is pressed takes the place of what was typed of it.
fn offered(field: Field, offer: RwSignal<Completions>, area: HtmlTextAreaElement) -> AnyView {
    let area = StoredValue::new_local(area);
    dynamic(move || {
        let words = offer.read().words.clone().into_iter();
        let field = field.clone();
        words
            .map(|word| {
                let (field, put) = (field.clone(), word.clone());
                let choose = move |_| {
                    let put = offer.get_untracked().apply(&untrack(|| field.text()), &put);
                    if let Some((text, _)) = &put {
                        field.type_text(text.clone());
                    }
                    offer.set(Completions::default());
                    let Some((_, caret)) = put else {
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
