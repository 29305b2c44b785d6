use atelier_studio::form::rerun::variations_label;
use atelier_studio::text::plural::counted;
use icondata_lu::LuShuffle;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::reactive::boxed::{handler, text, when};
use crate::view::parts::glyph::Glyph;

/// The storage key of the last chosen number of variations.
const VARIATIONS: &str = "atelier.variations";
const MAX_VARIATIONS: usize = 8;

thread_local! {
    // Shared by all buttons of the page.
    static COUNT: ArcRwSignal<usize> = ArcRwSignal::new(stored_count());
}

/// The Vary button, and a choice of how many variations to make of each of `tasks`, which have `outputs` in total.
pub fn vary(tasks: usize, outputs: usize, vary: impl Fn(usize) + 'static) -> AnyView {
    let count = COUNT.with(|count| RwSignal::from(count.clone()));
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
                    {variations_label(n, tasks, outputs)}
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
                title=text(move || {
                    let seeds = counted(count.get(), "new seed");
                    let outputs = counted(count.get() * outputs, "output");
                    format!("The same inputs, with {seeds}: {outputs}")
                })
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

fn stored_count() -> usize {
    let stored = LocalStore::Browser.read(VARIATIONS);
    let stored = stored.and_then(|stored| stored.parse().ok());
    stored.unwrap_or(4).clamp(1, MAX_VARIATIONS)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_count_is_clamped_and_defaults_to_four() {
        for (text, count) in [("1", 1), ("8", 8), ("0", 1), ("200", 8), ("", 4), ("{}", 4)] {
            LocalStore::Browser.write("atelier.variations", text);
            assert_eq!(stored_count(), count, "{text}");
        }
        LocalStore::Browser.remove("atelier.variations");
        assert_eq!(stored_count(), 4);
    }
}
