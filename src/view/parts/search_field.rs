use icondata_lu::LuSearch;
use leptos::prelude::*;

use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// A search field whose text stands in the address. `name` is what it is called; next to a button it has no room for
/// more than a word.
pub fn search_field(name: &'static str, typed: RwSignal<String>) -> AnyView {
    let navigation = contexts().navigation;
    let search = move |event| {
        let text = event_target_value(&event);
        navigation.set_query("q", Some(text.trim()).filter(|text| !text.is_empty()));
        typed.set(text);
    };
    view! {
        <div class="search">
            <Glyph icon=LuSearch />
            <input
                type="search"
                aria-label=name
                placeholder="Search"
                autocomplete="off"
                spellcheck="false"
                prop:value=typed
                on:input=handler(search)
            />
        </div>
    }
    .into_any()
}
