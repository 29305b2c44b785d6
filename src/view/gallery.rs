//! `/gallery`: every output in one place.

mod filters;
mod grid;
mod keys;
mod selection;
mod tile;

use atelier_engine::plural::counted;
use icondata_lu::LuImages;
use leptos::prelude::*;

use crate::boxed::{dynamic, handler, memo, text, when};
use crate::contexts::contexts;
use crate::gallery::Gallery;
use crate::view::parts::glyph::Glyph;

pub use filters::filter;

use filters::Filters;
use grid::Grid;
use selection::{Selection, SelectionBar};

#[component]
pub fn GalleryPage() -> impl IntoView {
    let all = contexts();
    let typed = RwSignal::new(untrack(|| all.navigation.query("q")).unwrap_or_default());
    let gallery = Gallery::new(all.runner);
    let found = memo(move || gallery.find(&filter(all.navigation, &typed.read())));
    let size = RwSignal::new(grid::kept_size());
    let selection = Selection::new(found);
    let is_empty = when(move || found.read().is_empty());
    view! {
        <div class="page gallery-page">
            <div class="page-head">
                <h1>"Gallery"</h1>
                <p class="muted" role="status">
                    {text(move || counted(found.read().len(), "output"))}
                </p>
            </div>
            <Filters typed size />
            <SelectionBar selection />
            <Grid found size selection />
            <div class="empty framed" hidden=when(move || !is_empty.get())>
                <Glyph icon=LuImages />
                {dynamic(move || {
                    let is_new = gallery.find(&Default::default()).is_empty();
                    if is_new {
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
