//! `/gallery`: every output in one place.

mod add_to_batch;
mod arrivals;
mod bar_top;
mod filters;
mod focus;
mod grid;
mod keys;
mod laid;
pub mod long_press;
mod marquee;
pub mod narrowing;
mod pack;
pub mod selection;
mod tile;
mod tile_list;
pub mod tile_tools;
mod vary;
mod waiting;
mod windowed;

use atelier_contract::output::needs_loading;
use atelier_studio::text::plural::{counted_many, grouped};
use icondata_lu::LuImages;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::gallery::Gallery;
use crate::view::parts::glyph::Glyph;

use filters::Filters;
use grid::Grid;
use narrowing::Narrowing;
use selection::{Selection, SelectionBar};

#[component]
pub fn GalleryPage() -> impl IntoView {
    let all = contexts();
    let typed = RwSignal::new(untrack(|| all.navigation.query("q")).unwrap_or_default());
    let gallery = Gallery::new(all.runner);
    let narrowing = memo(move || Narrowing::of(all.navigation));
    // Back, or a link to here, may have changed it.
    effect(move || {
        let text = narrowing.read().text.clone();
        if text != typed.read_untracked().trim() {
            typed.set(text);
        }
    });
    let asked = memo(move || (narrowing.get(), typed.get()));
    let filter = move || {
        let (narrowing, typed) = &*asked.read();
        narrowing.filter(typed)
    };
    let found = memo(move || gallery.find(&filter()));
    let waiting = memo(move || gallery.expected(&filter()));
    let size = RwSignal::new(grid::kept_size());
    let day = RwSignal::new(None);
    let selection = Selection::new(found);
    let is_empty = when(move || found.read().is_empty() && waiting.read().is_empty());
    // Whatever the filters let through.
    let has_none = memo(move || {
        let is_read = all.runner.is_open();
        is_read && is_empty.get() && gallery.find(&Default::default()).is_empty()
    });
    let is_refused = when(move || all.runner.own_storage_error().is_some());
    // As the gallery is opened: a line that came with the first such output would move what is in sight.
    let is_any_elsewhere = memo(move || {
        if !all.runner.is_open() {
            return false;
        }
        all.runner.with_tasks(|tasks| {
            let mut urls = tasks.iter().flat_map(|task| task.outputs());
            urls.any(|url| needs_loading(url))
        })
    });
    let needs_no_copies =
        when(move || all.session.settings().keep && !is_refused.get() || !is_any_elsewhere.get());
    view! {
        <div class="page gallery-page">
            <div class="page-head">
                <h1>"Gallery"</h1>
                <p class="muted" role="status" prop:textContent=text(move || {
                        // What is read from storage is more of all, and may be none of what is found.
                        all.runner.track_phases();
                        match (found.read().len(), gallery.count()) {
                            (found, all) if found < all => {
                                format!("{} of {}", counted_many(found, "output"), grouped(all))
                            }
                            (found, _) => counted_many(found, "output"),
                        }
                    })></p>
            </div>
            <p class="hint" hidden=needs_no_copies>
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
            <Grid found waiting asked size day selection />
            {dynamic(move || match is_empty.get() && all.runner.is_open() {
                true => nothing(has_none, typed),
                false => ().into_any(),
            })}
        </div>
    }
}

/// Why nothing is shown, and what leads on.
fn nothing(has_none: Memo<bool>, typed: RwSignal<String>) -> AnyView {
    let runner = contexts().runner;
    let said = dynamic(move || {
        if let Some(unread) = runner.unread() {
            view! { <p>{unread}</p> }.into_any()
        } else if has_none.get() {
            view! {
                <p>"Nothing made yet. Whatever you make appears here."</p>
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
            {said}
        </div>
    }
    .into_any()
}
