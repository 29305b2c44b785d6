//! `/gallery`: every output in one place.

mod filters;
mod focus;
mod grid;
mod keys;
mod laid;
mod marquee;
pub mod narrowing;
mod selection;
mod tile;
mod variations;

use atelier_engine::plural::counted;
use icondata_lu::LuImages;
use leptos::prelude::*;

use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::contexts::contexts;
use crate::gallery::Gallery;
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
    let found = memo(move || gallery.find(&narrowing.read().filter(&typed.read())));
    let size = RwSignal::new(grid::kept_size());
    let selection = Selection::new(found);
    let is_empty = when(move || found.read().is_empty());
    // Whatever the filters let through.
    let has_none = memo(move || {
        let is_read = all.runner.is_open();
        is_read && is_empty.get() && gallery.find(&Default::default()).is_empty()
    });
    let is_kept = when(move || all.session.settings().keep);
    view! {
        <div class="page gallery-page">
            <div class="page-head">
                <h1>"Gallery"</h1>
                <p class="muted" role="status">
                    {text(move || counted(found.read().len(), "output"))}
                </p>
            </div>
            <p class="hint" hidden=is_kept>
                "Outputs load from the service; their addresses may expire. "
                <a href="/settings">"Keep copies in this browser"</a>
            </p>
            <Filters typed size hidden=has_none />
            <SelectionBar selection />
            <Grid found size selection />
            <div class="empty" hidden=when(move || !is_empty.get() || !all.runner.is_open())>
                <Glyph icon=LuImages />
                {dynamic(move || {
                    if let Some(unread) = all.runner.unread() {
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
                })}
            </div>
        </div>
    }
}
