use icondata_lu::LuShuffle;
use leptos::prelude::*;

use crate::boxed::{handler, text, when};
use crate::browser::local::LocalStore;
use crate::view::parts::glyph::Glyph;

/// How many variations were made last, in this browser.
const VARIATIONS: &str = "atelier.variations";
const MAX_VARIATIONS: usize = 8;

/// `Vary`, and how many.
pub fn vary(vary: impl Fn(usize) + 'static) -> AnyView {
    let kept = LocalStore::Browser.read(VARIATIONS);
    let kept = kept.and_then(|kept| kept.parse().ok());
    let count = RwSignal::new(kept.unwrap_or(4_usize).clamp(1, MAX_VARIATIONS));
    let choose = move |event| {
        if let Ok(chosen) = event_target_value(&event).parse() {
            count.set(chosen);
            LocalStore::Browser.write(VARIATIONS, &chosen.to_string());
        }
    };
    let options = (1..=MAX_VARIATIONS)
        .map(|n| {
            let is_chosen = when(move || count.get() == n);
            view! {
                <option value=n.to_string() prop:selected=is_chosen>
                    {format!("× {n}")}
                </option>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <span class="vary">
            <button
                class="button"
                type="button"
                title=text(move || format!("The same inputs, with {} new seeds", count.get()))
                on:click=handler(move |_| vary(count.get_untracked()))
            >
                <Glyph icon=LuShuffle />
                <span class="word">"Vary"</span>
            </button>
            <select aria-label="How many variations" on:change=handler(choose)>
                {options}
            </select>
        </span>
    }
    .into_any()
}
