use atelier_contract::ModelId;
use atelier_engine::control;
use atelier_engine::vocabulary::{Offer, Vocabulary};
use leptos::html::{Div, Textarea};
use leptos::prelude::*;

use super::earlier_prompts::earlier_button;
use super::field::{Field, FieldFrame};
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::view::parts::size::follow_size;

/// A text of more characters than this does not make its field grow: to measure 200,000 takes seconds.
const MAX_GROWING: usize = 20_000;

/// Several lines, growing with what is typed.
#[component]
pub fn LongText(field: Field, model: ModelId) -> impl IntoView {
    let (input, leave) = (field.clone(), field.clone());
    let count = {
        let field = field.clone();
        text(move || match field.text().chars().count() {
            0 => String::new(),
            n => n.to_string(),
        })
    };
    let is_very_long = {
        let field = field.clone();
        when(move || field.text().len() > MAX_GROWING)
    };
    let vocabulary = Vocabulary::of(&field.parameter);
    let element = NodeRef::<Textarea>::new();
    let marks = NodeRef::<Div>::new();
    let offer = RwSignal::new(Offer::default());
    let on_input = {
        let vocabulary = vocabulary.clone();
        move |event| {
            let text = event_target_value(&event);
            if let (Some(vocabulary), Some(element)) = (&vocabulary, element.get_untracked()) {
                let caret = element.selection_start().ok().flatten().unwrap_or_default();
                let now = vocabulary.offer(&text, caret as usize);
                if *offer.read_untracked() != now {
                    offer.set(now);
                }
            }
            input.set_text(text);
        }
    };
    // The marks lie under the text, and move with it.
    let follow = move || {
        let (element, marks) = (element.try_get_untracked(), marks.try_get_untracked());
        if let (Some(element), Some(marks)) = (element.flatten(), marks.flatten()) {
            marks.set_scroll_top(element.scroll_top());
        }
    };
    // Where its lines break anew they may be elsewhere.
    follow_size(element, move |_| follow());
    let left_to_chance = vocabulary.clone().map(|vocabulary| {
        let text = field.value();
        let is_unknown = memo(move || vocabulary.knows_none(&text.read()));
        view! {
            <p class="hint" role="status">
                {self::text(move || {
                    let said = "No word recognized: the result is left to chance.";
                    if is_unknown.get() { said.to_owned() } else { String::new() }
                })}
            </p>
        }
        .into_any()
    });
    let explained = vocabulary.clone().map(|vocabulary| {
        let text = field.value();
        let is_marked = memo(move || !vocabulary.find(&text.read()).is_empty());
        view! {
            <span class="understood" hidden=when(move || !is_marked.get())>
                "Outlined words steer this model"
            </span>
        }
        .into_any()
    });
    let understood = vocabulary.map(|vocabulary| {
        let text = field.value();
        let marked = dynamic(move || marked(&vocabulary, &text.read()));
        view! {
            <div class="marks" aria-hidden="true" dir="auto" node_ref=marks>
                {marked}
            </div>
        }
        .into_any()
    });
    let lines = control::text_lines(&field.parameter, field.required);
    // At each key Chromium's autofill reads the whole form that a text is of: 5 of 17 ms in one of 200 parameters.
    let has_no_form = lines > 1;
    let offered = understood
        .is_some()
        .then(|| offered(field.clone(), offer, element));
    let earlier = earlier_button(field.clone(), model, element);
    view! {
        <FieldFrame
            field=field.clone()
            aside=view! {
                <span class="muted row tight" aria-hidden="true">
                    {explained}
                    <span title="Characters" prop:textContent=count></span>
                </span>
                {earlier}
            }
            .into_any()
        >
            <div class="long-text">
                {understood}
                <textarea
                    id=field.id.clone()
                    node_ref=element
                    rows=lines.to_string()
                    form=has_no_form.then_some("")
                    dir="auto"
                    class:very-long=is_very_long
                    placeholder=field.parameter.description.clone()
                    required=field.required
                    aria-describedby=field.described_by()
                    aria-invalid=field.invalid()
                    aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
                    prop:value=field.value()
                    on:input=handler(on_input)
                    on:scroll=handler(move |_: web_sys::Event| follow())
                    on:blur=handler(move |_| leave.leave())
                ></textarea>
            </div>
            {left_to_chance}
            {offered}
        </FieldFrame>
    }
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
fn offered(field: Field, offer: RwSignal<Offer>, element: NodeRef<Textarea>) -> AnyView {
    let words = dynamic(move || {
        let words = offer.read().words.clone().into_iter();
        let field = field.clone();
        words
            .map(|word| {
                let (field, put) = (field.clone(), word.clone());
                let choose = move |_| {
                    let put = offer.get_untracked().put(&untrack(|| field.text()), &put);
                    offer.set(Offer::default());
                    let Some((text, caret)) = put else {
                        return;
                    };
                    field.set_text(text);
                    if let Some(element) = element.get_untracked() {
                        let _ = element.focus();
                        let caret = u32::try_from(caret).unwrap_or_default();
                        request_animation_frame(move || {
                            let _ = element.set_selection_range(caret, caret);
                        });
                    }
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
    });
    view! {
        <div class="offers" role="group" aria-label="Words the model understands">
            {words}
        </div>
    }
    .into_any()
}

/// One line.
#[component]
pub fn Text(field: Field) -> impl IntoView {
    let (input, leave) = (field.clone(), field.clone());
    view! {
        <FieldFrame field=field.clone()>
            <input
                type="text"
                id=field.id.clone()
                dir="auto"
                required=field.required
                autocomplete="off"
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=field.value()
                on:input=handler(move |event| input.set_text(event_target_value(&event)))
                on:blur=handler(move |_| leave.leave())
            />
        </FieldFrame>
    }
}
