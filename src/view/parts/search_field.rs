use icondata_lu::LuSearch;
use leptos::prelude::*;

use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// Returns a search field whose text is a query parameter of the URL.
///
/// `name`: the accessible name. The placeholder is only one word, because the field can be narrow.
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
