use std::rc::Rc;

use atelier_contract::Draft;
use atelier_studio::compose::table::{LinesSnapshot, Source};
use atelier_studio::form::seed;
use leptos::prelude::*;

use super::base_hint::{SINGLE_FORM, base_hint};
use super::held_seed::HeldSeed;
use crate::reactive::boxed::{handler, text, when};
use crate::view::batch::composer::Composer;
use crate::view::parts::focus;

/// One prompt per line: the table's own column, as a text, of the rows that came from here. A change here changes
/// them, and the other way round. Rows from elsewhere are left alone, and named.
pub fn prompts(composer: Composer, parameter: String) -> AnyView {
    let typed = RwSignal::new(String::new());
    let followed = parameter.clone();
    // A thousand lines are laid out anew whenever the text is set: too slow for every key press in
    // a cell.
    let follow = Rc::new(move || {
        let lines = composer.table.read_untracked().lines(&followed);
        let is_same = {
            let typed = typed.read_untracked();
            atelier_studio::compose::prompts::prompts(&typed).eq(lines.iter().map(String::as_str))
        };
        if !is_same {
            typed.set(lines.join("\n"));
        }
    });
    follow();
    composer.follow(follow.clone());
    let before = StoredValue::new(LinesSnapshot::default());
    let entered = parameter.clone();
    let enter = move |_| {
        // Before a change that is made here: it must not undo one that was made there.
        follow();
        before.set_value(composer.table.read_untracked().lines_snapshot(&entered));
    };
    let seed = HeldSeed::of(&composer.schema(), &composer.one.get_untracked());
    let is_held = seed.as_ref().is_some_and(|seed| {
        let one = composer.one.read_untracked();
        seed.is_held(&one, &composer.table.read_untracked())
    });
    let is_held = RwSignal::new(is_held);
    let seed = StoredValue::new(seed);
    let own = parameter.clone();
    let is_own = move |name: &str| {
        let is_seed = |held: &HeldSeed| held.name() == name;
        name == own || seed.with_value(|seed| seed.as_ref().is_some_and(is_seed))
    };
    let write = move |event| {
        let text = event_target_value(&event);
        let mut base = composer.one.get_untracked();
        if let Some(seed) = seed.get_value() {
            match is_held.get_untracked() {
                true => untrack(|| seed.put_into(&mut base)),
                // As the box says.
                false => base.reset(seed.name()),
            }
        }
        composer.change(|table, schema| {
            before.with_value(|before| table.set_lines(&parameter, &text, &base, schema, before))
        });
        typed.set(text);
    };
    view! {
        <div class="field">
            <label class="label" for="prompts">
                "Prompts"
            </label>
            <textarea
                id="prompts"
                rows="4"
                aria-describedby="prompts-hint"
                placeholder="a lighthouse in a storm\na lighthouse at dawn"
                prop:value=typed
                on:focus=handler(enter)
                on:input=handler(write)
            ></textarea>
            <p class="hint" id="prompts-hint">
                "One per line; each becomes a row of the table."
            </p>
            {unlined(composer)}
            {seed.get_value().map(|seed| same_seed(composer, seed, is_held))}
            {base_hint(text(|| SINGLE_FORM.to_owned()), composer.one.into(), is_own)}
        </div>
    }
    .into_any()
}

/// The rows that these lines do not change.
fn unlined(composer: Composer) -> AnyView {
    let message = RwSignal::new(String::new());
    composer.follow(Rc::new(move || {
        let now = composer.table.read_untracked().unlined_message();
        if now != *message.read_untracked() {
            message.set(now);
        }
    }));
    let put_aside = move |_| {
        composer.edit(|table| table.put_aside(|row| row.source != Source::Line));
        focus::once_lost(|| {
            focus::in_place_to("#prompts");
        });
    };
    view! {
        <div class="row tight" hidden=when(move || message.read().is_empty())>
            <p class="hint" role="status" prop:textContent=message></p>
            <button class="button small" type="button" on:click=handler(put_aside)>
                "Put aside"
            </button>
        </div>
    }
    .into_any()
}

/// One seed for all rows that were not sent, so that only their prompts differ; or, again, another for each.
/// A seed that was typed into a row stays.
fn same_seed(composer: Composer, seed: HeldSeed, is_held: RwSignal<bool>) -> AnyView {
    let named = {
        let seed = seed.clone();
        text(move || seed::shared_message(&seed.text()))
    };
    let hold = move |event| {
        let is_wanted = event_target_checked(&event);
        is_held.set(is_wanted);
        let mut held = Draft::default();
        untrack(|| seed.put_into(&mut held));
        let held = held.get(seed.name());
        let (from, to) = if is_wanted {
            (None, held)
        } else {
            (held, None)
        };
        composer.change(|table, schema| {
            table.replace_in_lines(seed.name(), from, to, schema);
            Ok(())
        });
    };
    view! {
        <div class="row tight">
            <label class="tick">
                <input type="checkbox" prop:checked=is_held on:change=handler(hold) />
                <span>"Same seed for all"</span>
            </label>
            <p class="hint" hidden=when(move || !is_held.get()) prop:textContent=named></p>
        </div>
    }
    .into_any()
}
