use crate::state::contexts::contexts;
use atelier_studio::history::history_file;
use atelier_studio::output::output_cache::{self, CachedOutput, LIMITS};
use leptos::prelude::*;

use super::fields::SettingsFields;
use super::tick::Tick;
use crate::browser::storage;
use crate::reactive::boxed::{derived, dynamic, effect, handler, memo, spawn, text, when};
use crate::view::parts::confirm::ConfirmButton;

/// The settings for copies of outputs in this browser: whether to make them, how much space they may use, and what is
/// stored now.
pub fn output_cache(fields: SettingsFields) -> AnyView {
    let SettingsFields {
        keep, keep_limit, ..
    } = fields;
    let (runner, session) = (contexts().runner, contexts().session);
    let copies = RwSignal::new(None::<Vec<CachedOutput>>);
    effect(move || {
        runner.track_copies();
        spawn(async move {
            copies.try_set(Some(runner.copies().await.unwrap_or_default()));
        });
    });
    let used_bytes = memo(move || copies.read().as_deref().map_or(0, output_cache::total));
    let messages = memo(move || {
        runner.track_phases();
        let favorites = runner.with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()));
        let copies = copies.read();
        let copies = copies.as_deref();
        copies.map(|copies| output_cache::messages(copies, &favorites, session.settings().keep))
    });
    let used = text(move || {
        messages
            .get()
            .map_or_else(String::new, |messages| messages.count)
    });
    let stored = memo(move || {
        runner.track_phases();
        runner.with_tasks(history_file::stored_message)
    });
    let summary = text(move || match stored.get() {
        Some(stored) => format!("{}; {stored}", used.read()),
        None => used.get(),
    });
    let why = text(move || {
        let why = messages.get().and_then(|messages| messages.reason);
        why.unwrap_or_default().to_owned()
    });
    let on_tick = move |()| {
        let is_wanted = keep.get_untracked();
        fields.choose(|settings| settings.keep = is_wanted);
        if is_wanted {
            storage::ask_to_persist();
            runner.request_all_copies();
        }
    };
    keep_limit.update(|limit| *limit = output_cache::valid_limit(*limit));
    let apply = move || {
        let limit = keep_limit.get_untracked();
        fields.choose(|settings| settings.keep_limit = limit);
    };
    // A lower limit needs confirmation: arrow keys on the list change it in passing, and deleted copies can't be restored.
    let needs_confirmation = when(move || {
        let limit = keep_limit.get();
        limit < used_bytes.get()
            && limit != output_cache::valid_limit(session.settings().keep_limit)
    });
    let too_many = dynamic(move || {
        if !needs_confirmation.get() {
            return ().into_any();
        }
        view! {
            <ConfirmButton
                label="Use this space"
                class="button removes"
                question=text(move || format!(
                    "{} is in use now. The least recently viewed copies are deleted until {} is enough. Favorites stay.",
                    output_cache::size(used_bytes.get()),
                    output_cache::size(keep_limit.get()),
                ))
                confirm="Delete them"
                on_confirm=move |()| apply()
            />
        }
        .into_any()
    });
    let limits = LIMITS.map(|limit| {
        view! {
            <option value=limit.to_string() selected=keep_limit.get_untracked() == limit>
                {output_cache::size(limit)}
            </option>
        }
        .into_any()
    });
    view! {
        <section class="panel form" aria-labelledby="kept-heading">
            <h2 id="kept-heading">"Kept outputs"</h2>
            <div class="field">
                <Tick id="keep" label="Keep outputs" checked=keep on_change=on_tick />
                <p class="hint" prop:textContent=text(move || match runner.own_storage_error() {
                        None => "Keeps a copy of each output in this browser, because the addresses that services give may expire.",
                        Some(_) => "This browser refuses to store anything for this page at present: no outputs are kept.",
                    }.to_owned())></p>
            </div>
            <div class="field">
                <label class="label" for="keep-limit">
                    "Space for kept outputs"
                </label>
                <select
                    id="keep-limit"
                    aria-describedby="keep-limit-hint"
                    on:change=handler(move |event| {
                        keep_limit.set(event_target_value(&event).parse().unwrap_or_default());
                        if !untrack(|| needs_confirmation.get()) {
                            apply();
                        }
                    })
                >
                    {limits.into_iter().collect_view()}
                </select>
                <p class="hint" id="keep-limit-hint">
                    "When it is full, the least recently viewed copies are deleted. Favorites stay."
                </p>
                {too_many}
            </div>
            <div class="row">
                <span>"Kept now: " <span prop:textContent=summary></span></span>
                <ConfirmButton
                    label="Delete kept outputs"
                    class="button removes"
                    disabled_reason=derived(move || messages.get().and_then(|messages| messages.undeletable_reason))
                    question=text(move || format!(
                        "Delete the copies kept in this browser ({})? Outputs whose addresses have expired can then no longer be shown. Favorites stay.",
                        used.read(),
                    ))
                    confirm="Delete them"
                    on_confirm=move |()| runner.delete_copies()
                />
            </div>
            <p class="hint" hidden=when(move || why.read().is_empty()) prop:textContent=why></p>
        </section>
    }
    .into_any()
}
