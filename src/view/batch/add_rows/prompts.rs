use std::rc::Rc;

use atelier_contract::Draft;
use atelier_studio::compose::table::{LinesSnapshot, Source};
use atelier_studio::form::seed;
use leptos::prelude::*;

use super::base_hint::{SINGLE_FORM, base_hint};
use super::shared_seed::SharedSeed;
use crate::reactive::boxed::{handler, text, when};
use crate::view::batch::composer::Composer;
use crate::view::parts::focus;

/// The panel with one prompt per line. Each line is a row of the table, and changes are synchronized in both directions.
/// Rows that were added in another way are not changed; a message names them.
pub fn prompts(composer: Composer, parameter: String) -> AnyView {
    let typed = RwSignal::new(String::new());
    let own_name = parameter.clone();
    // The text is set only if it differs: the browser then lays out all lines again, which is too slow for every key press in
    // a cell.
    let update = Rc::new(move || {
        let lines = composer.table.read_untracked().lines(&own_name);
        let is_same = {
            let typed = typed.read_untracked();
            atelier_studio::compose::prompts::prompts(&typed).eq(lines.iter().map(String::as_str))
        };
        if !is_same {
            typed.set(lines.join("\n"));
        }
    });
    update();
    composer.on_table_change(update.clone());
    let before = StoredValue::new(LinesSnapshot::default());
    let entered = parameter.clone();
    let enter = move |_| {
        // Applies pending changes of the table first, so that typing here does not undo them.
        update();
        before.set_value(composer.table.read_untracked().lines_snapshot(&entered));
    };
    let seed = SharedSeed::of(&composer.schema(), &composer.single_form.get_untracked());
    let is_shared = seed.as_ref().is_some_and(|seed| {
        let form = composer.single_form.read_untracked();
        seed.is_in_use(&form, &composer.table.read_untracked())
    });
    let is_shared = RwSignal::new(is_shared);
    let seed = StoredValue::new(seed);
    let own = parameter.clone();
    let is_set_by_panel = move |name: &str| {
        let is_seed = |seed: &SharedSeed| seed.name() == name;
        name == own || seed.with_value(|seed| seed.as_ref().is_some_and(is_seed))
    };
    let write = move |event| {
        let text = event_target_value(&event);
        let mut base = composer.single_form.get_untracked();
        if let Some(seed) = seed.get_value() {
            match is_shared.get_untracked() {
                true => untrack(|| seed.write_into(&mut base)),
                // The checkbox is off: each row gets its own seed.
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
            {seed.get_value().map(|seed| same_seed(composer, seed, is_shared))}
            {base_hint(text(|| SINGLE_FORM.to_owned()), composer.single_form.into(), is_set_by_panel)}
        </div>
    }
    .into_any()
}

/// A message about the rows that have no line, with a button that puts them aside.
fn unlined(composer: Composer) -> AnyView {
    let message = RwSignal::new(String::new());
    composer.on_table_change(Rc::new(move || {
        let now = composer.table.read_untracked().unlined_message();
        if now != *message.read_untracked() {
            message.set(now);
        }
    }));
    let put_aside = move |_| {
        composer.edit(|table| table.put_aside(|row| row.source != Source::Line));
        focus::when_lost(|| {
            focus::to_without_scrolling("#prompts");
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

/// A checkbox that gives all unsent rows the same seed, so that only their prompts differ. Unchecked, each row gets its
/// own seed. A seed that was typed into a row is not changed.
fn same_seed(composer: Composer, seed: SharedSeed, is_shared: RwSignal<bool>) -> AnyView {
    let seed_message = {
        let seed = seed.clone();
        text(move || seed::shared_message(&seed.text()))
    };
    let set_shared = move |event| {
        let is_checked = event_target_checked(&event);
        is_shared.set(is_checked);
        let mut with_seed = Draft::default();
        untrack(|| seed.write_into(&mut with_seed));
        let entry = with_seed.get(seed.name());
        let (from, to) = if is_checked {
            (None, entry)
        } else {
            (entry, None)
        };
        composer.change(|table, schema| {
            table.replace_in_lines(seed.name(), from, to, schema);
            Ok(())
        });
    };
    view! {
        <div class="row tight">
            <label class="tick">
                <input type="checkbox" prop:checked=is_shared on:change=handler(set_shared) />
                <span>"Same seed for all"</span>
            </label>
            <p class="hint" hidden=when(move || !is_shared.get()) prop:textContent=seed_message></p>
        </div>
    }
    .into_any()
}
