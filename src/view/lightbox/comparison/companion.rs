//! The choice of the second output of a comparison.

use leptos::prelude::*;

use crate::reactive::boxed::{handler, memo, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::sequence::{Choice, Sequence};
use crate::view::lightbox::shown::COMPARED;
use crate::view::lightbox::sweep::comparing;
use crate::view::lightbox::sweep::explored::Explored;
use crate::view::parts::list::{Item, list};
use crate::view::task::small_output;

/// Returns a radio group with the outputs that can be compared with the one in the lightbox or in the sweep. It is hidden
/// if the user has selected the compared outputs.
///
/// `names`: the names of the compared outputs, separated by commas.
pub fn companion(names: Memo<Option<String>>) -> AnyView {
    let navigation = contexts().navigation;
    let sequence = Sequence::of_address();
    let explored = Explored::of_address();
    let is_large = move |name: &str| sequence.shown.read().as_deref() == Some(name);
    let pair = memo(move || {
        let names = names.get()?;
        let (one, other) = names.split_once(',')?;
        let can_choose = !other.contains(',') && (explored.is_open.get() || is_large(one));
        can_choose.then(|| (one.to_owned(), other.to_owned()))
    });
    let other = memo(move || pair.get().map(|(_, other)| other));
    let choices = memo(move || {
        let Some((one, _)) = pair.get() else {
            return Vec::new();
        };
        match comparing::choices(explored, &one) {
            Some(choices) => choices,
            None if is_large(&one) => sequence.choices(),
            None => Vec::new(),
        }
    });
    let options = move || {
        let option = |choice: Choice| {
            let name = choice.name.clone();
            Item::new(name.clone(), move || {
                let name = choice.name.clone();
                let is_chosen = when(move || other.read().as_ref() == Some(&name));
                option(choice.clone(), is_chosen, move |name| {
                    if let Some((one, _)) = pair.get_untracked() {
                        navigation.set_query(COMPARED, Some(&format!("{one},{name}")));
                    }
                })
            })
        };
        choices.get().into_iter().map(option).collect()
    };
    view! {
        <div
            class="companion"
            role="radiogroup"
            aria-label="Compared with"
            hidden=when(move || choices.read().is_empty())
        >
            <span aria-hidden="true">"Compared with"</span>
            <div class="companion-choices">{list(options)}</div>
        </div>
    }
    .into_any()
}

fn option(choice: Choice, is_chosen: Signal<bool>, choose: impl Fn(&str) + 'static) -> AnyView {
    let Choice {
        name,
        label,
        url,
        kind,
    } = choice;
    let picture = small_output(name.clone(), url, kind);
    let title = label.clone();
    view! {
        <label class="companion-choice" title=title>
            <input
                type="radio"
                name="companion"
                aria-label=label
                prop:checked=is_chosen
                on:change=handler(move |_| choose(&name))
            />
            {picture}
        </label>
    }
    .into_any()
}
