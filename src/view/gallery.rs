//! `/gallery`: the outputs of all tasks.

mod add_to_batch;
mod filters;
mod focus;
mod grid;
mod keys;
mod layout;
pub mod long_press;
mod marquee;
pub mod narrowing;
mod new_outputs;
mod pack;
mod pending;
pub mod selection;
mod selection_height;
mod tile;
mod tile_list;
pub mod tile_tools;
mod vary;
mod windowed;

use atelier_contract::output::needs_loading;
use atelier_studio::text::plural::{counted_many, grouped};
use icondata_lu::LuImages;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::gallery::Gallery;
use crate::view::parts::glyph::Glyph;
use crate::view::shell::open_file;

use filters::Filters;
use grid::Grid;
use narrowing::UrlFilters;
use selection::{Selection, SelectionBar};

#[component]
pub fn GalleryPage() -> impl IntoView {
    let all = contexts();
    let typed = RwSignal::new(untrack(|| all.navigation.query("q")).unwrap_or_default());
    let gallery = Gallery::new(all.runner);
    let narrowing = memo(move || UrlFilters::of(all.navigation));
    // Back or a link may change the address while the page is open.
    effect(move || {
        let text = narrowing.read().text.clone();
        if text != typed.read_untracked().trim() {
            typed.set(text);
        }
    });
    let filters = memo(move || (narrowing.get(), typed.get()));
    let filter = move || {
        let (narrowing, typed) = &*filters.read();
        narrowing.filter(typed)
    };
    let found = memo(move || gallery.find(&filter()));
    let pending = memo(move || gallery.expected(&filter()));
    let size = RwSignal::new(grid::stored_size());
    let day = RwSignal::new(None);
    let selection = Selection::new(found);
    let is_empty = when(move || found.read().is_empty() && pending.read().is_empty());
    // Whether there are no outputs at all, regardless of the filters.
    let has_none = memo(move || {
        let is_read = all.runner.is_open();
        is_read && is_empty.get() && gallery.find(&Default::default()).is_empty()
    });
    let is_refused = when(move || all.runner.own_storage_error().is_some());
    // Computed once, when the gallery is opened: a hint that appears later would move the visible tiles.
    let is_any_elsewhere = memo(move || {
        if !all.runner.is_open() {
            return false;
        }
        all.runner.with_tasks(|tasks| {
            let mut urls = tasks.iter().flat_map(|task| task.outputs());
            urls.any(|url| needs_loading(url))
        })
    });
    let is_hint_hidden =
        when(move || all.session.settings().keep && !is_refused.get() || !is_any_elsewhere.get());
    view! {
        <div class="page gallery-page">
            <div class="page-head">
                <h1>"Gallery"</h1>
                <p class="muted" role="status" prop:textContent=text(move || {
                        // The total also grows while tasks are read from storage, even if `found` does not change.
                        all.runner.track_phases();
                        match (found.read().len(), gallery.count()) {
                            (found, all) if found < all => {
                                format!("{} of {}", counted_many(found, "output"), grouped(all))
                            }
                            (found, _) => counted_many(found, "output"),
                        }
                    })></p>
                {open_file::button()}
            </div>
            <p class="hint" hidden=is_hint_hidden>
                "Outputs load from the service; their addresses may expire. "
                <a href="/settings" hidden=is_refused>
                    "Keep copies in this browser"
                </a>
                <span hidden=when(move || !is_refused.get())>
                    "This browser refuses to store copies at present."
                </span>
            </p>
            <Filters typed narrowing size day hidden=has_none />
            <SelectionBar selection />
            <Grid found pending filters size day selection />
            {dynamic(move || match is_empty.get() && all.runner.is_open() {
                true => empty_message(has_none, typed),
                false => ().into_any(),
            })}
        </div>
    }
}

/// A message that explains why nothing is shown, with a link.
fn empty_message(has_none: Memo<bool>, typed: RwSignal<String>) -> AnyView {
    let runner = contexts().runner;
    let message = dynamic(move || {
        if let Some(unread) = runner.unread() {
            view! { <p>{unread}</p> }.into_any()
        } else if has_none.get() {
            view! {
                <p>"No outputs yet. What you generate appears here."</p>
                <a class="button" href="/">
                    "Choose a model"
                </a>
            }
            .into_any()
        } else {
            view! {
                <p>"No output matches."</p>
                <a
                    class="button"
                    href="/gallery"
                    on:click=handler(move |_| typed.set(String::new()))
                >
                    "Show all outputs"
                </a>
            }
            .into_any()
        }
    });
    view! {
        <div class="empty">
            <Glyph icon=LuImages />
            {message}
        </div>
    }
    .into_any()
}
