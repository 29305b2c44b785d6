//! The search field of the list of models.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use atelier_contract::{Model, ModelList};
use atelier_studio::navigation::search::Searchable;
use icondata_lu::LuSearch;
use leptos::leptos_dom::helpers::debounce;
use leptos::prelude::*;

use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, handler};
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// Delay before the URL is updated after the last typed letter. Browsers limit how often it can change.
const URL_DELAY: Duration = Duration::from_millis(300);

/// Returns the search field.
pub fn field(typed: RwSignal<String>, index: Arc<Index>) -> AnyView {
    let navigation = contexts().navigation;
    let mut write_url = debounce(URL_DELAY, move |()| {
        let typed = typed.get_untracked();
        navigation.set_query("q", Some(typed.trim()).filter(|text| !text.is_empty()));
    });
    view! {
        <div class="search">
            <Glyph icon=LuSearch />
            <input
                type="search"
                aria-label="Search models"
                placeholder="Search models"
                autocomplete="off"
                spellcheck="false"
                prop:value=typed
                on:focus=handler(move |_| {
                    index.items();
                })
                on:input=handler(move |event| {
                    typed.set(event_target_value(&event));
                    write_url(());
                })
            />
        </div>
    }
    .into_any()
}

/// Returns the search text, updated one frame later, so that a typed letter is painted before its results.
///
/// `is_new`: set to true with each update.
pub fn delayed_text(typed: RwSignal<String>, is_new: RwSignal<bool>) -> RwSignal<String> {
    let delayed = RwSignal::new(typed.get_untracked());
    effect(move || {
        typed.track();
        after_frame(move || {
            let text = typed.try_get_untracked().unwrap_or_default();
            if delayed.try_with_untracked(|delayed| *delayed != text) == Some(true) {
                is_new.set(true);
                delayed.set(text);
            }
        });
    });
    delayed
}

/// The search index of the models. It is built when the search field gets the focus.
pub struct Index {
    list: Arc<ModelList>,
    items: OnceLock<Vec<Searchable>>,
}

impl Index {
    pub fn of(list: Arc<ModelList>) -> Self {
        Self {
            list,
            items: OnceLock::new(),
        }
    }

    pub fn items(&self) -> &[Searchable] {
        let make = || self.list.models.iter().map(searchable).collect();
        self.items.get_or_init(make)
    }
}

fn searchable(model: &Model) -> Searchable {
    Searchable::new([
        model.display_name(),
        &model.id.subcategory,
        &model.id.category,
        &model.description,
    ])
}
