//! Reports which of the items to send have results already or were sent before. Shown before Generate is pressed.

use std::rc::Rc;

use atelier_contract::Draft;
use atelier_studio::compose::duplicates::{Duplicate, Repeats, find_duplicates, fresh_seeds};
use atelier_studio::compose::table::DuplicateRow;
use icondata_lu::LuDices;
use leptos::prelude::*;

use super::composer::Composer;
use crate::browser::random;
use crate::reactive::boxed::{handler, text, when};
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// The note about items that have results already. It offers new seeds and, through `only_new`, to send only the others.
pub fn duplicates_note(composer: Composer, only_new: Callback<()>) -> AnyView {
    let all = contexts();
    let found = RwSignal::new(Repeats::default());
    let update = move || {
        let (to_send, account) = (composer.to_send(), all.session.account());
        let repeats = all
            .runner
            .with_tasks(|tasks| Repeats::of(&to_send, &composer.schema(), &account, tasks));
        if repeats != found.get_untracked() {
            found.set(repeats);
        }
    };
    let track = move || {
        all.runner.track_phases();
        all.session.account();
        composer.block_message.track();
        composer
            .offered
            .with(|it| it.as_ref().map_or(0, |offer| offer.items.len()))
    };
    composer.on_changes(track, Rc::new(move || untrack(update)));
    let renew = move |_| {
        let schema = composer.schema();
        let to_send = untrack(|| composer.to_send());
        let drafts: Vec<&Draft> = to_send.drafts.iter().collect();
        let made = find_made(composer, &drafts);
        let made = made.iter().filter_map(|made| to_send.drafts.get(made.at));
        let fresh = fresh_seeds(made, &schema, &mut random::bits);
        composer.edit(|table| table.renew_seeds(&fresh, &schema));
        composer.fresh_seeds.set(fresh);
    };
    let message = text(move || found.read().message());
    view! {
        <div class="made-already" role="status" hidden=when(move || found.read().made == 0)>
            <p prop:textContent=text(move || found.read().made_message())></p>
            <div class="row tight">
                <button class="button small" type="button" on:click=handler(renew)>
                    <Glyph icon=LuDices />
                    "New seed"
                </button>
                <button
                    class="button small"
                    type="button"
                    hidden=when(move || { let found = found.read(); found.made == found.all })
                    on:click=handler(move |_| only_new.run(()))
                    prop:textContent=text(move || found.read().rest_label())></button>
            </div>
        </div>
        <p class="muted sent-before" role="status" hidden=when(move || message.read().is_empty()) prop:textContent=message></p>
    }
    .into_any()
}

/// Returns the rows to send that have results already; not tracked.
pub fn duplicate_rows(composer: Composer) -> Vec<DuplicateRow> {
    let table = composer.table.read_untracked();
    let rows: Vec<_> = table.to_send().collect();
    let drafts: Vec<&Draft> = rows.iter().map(|row| &row.draft).collect();
    let found = find_made(composer, &drafts).into_iter();
    found
        .filter_map(|it| Some((rows.get(it.at)?.id, it.place)))
        .collect()
}

/// Returns the drafts that have results already; not tracked.
fn find_made(composer: Composer, drafts: &[&Draft]) -> Vec<Duplicate> {
    let all = composer.all.get_value();
    let (schema, account) = (composer.schema(), untrack(|| all.session.account()));
    all.runner
        .with_tasks(|tasks| find_duplicates(drafts, &schema, &account, tasks))
}
