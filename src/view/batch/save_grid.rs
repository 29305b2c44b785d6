//! Saves the labelled grid of a sweep as one picture.

use std::sync::Arc;

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::batch::blocks::Blocks;
use atelier_studio::batch::grid_picture::GridPicture;
use atelier_studio::batch::{Batch, labelled_grid};
use atelier_studio::output::file_name;
use icondata_lu::LuGrid3x3;
use leptos::prelude::*;

use super::grid::GridLayout;
use super::item::Shapes;
use crate::browser::download;
use crate::browser::picture::GridCanvas;
use crate::files::output_file;
use crate::reactive::boxed::{handler, spawn, when};
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::glyph::Glyph;

const TOO_LARGE: &str =
    "This browser can't write a picture of this grid. Download all has its files.";

/// The button that saves the grid. It is hidden if the batch has no grid, and disabled while no item has an output.
pub fn save_grid(
    batch: impl Fn() -> Arc<Batch> + 'static,
    layout: GridLayout,
    shapes: Shapes,
    has_any: Signal<bool>,
) -> AnyView {
    let all = contexts();
    let is_busy = RwSignal::new(false);
    let save = move |_| {
        let (batch, Some(blocks)) = (batch(), layout.get_untracked()) else {
            return;
        };
        let tasks: Vec<Option<Task>> = all.runner.with_tasks(|tasks| {
            let items = batch.items(tasks.iter().copied());
            items.latest().map(Option::<&Task>::cloned).collect()
        });
        let shape = labelled_grid::frame(&shapes.read_untracked());
        is_busy.set(true);
        spawn(async move {
            let name = file_name::of_batch(&batch.name, "grid", "png");
            match draw_grid(all, &blocks, shape, &tasks).await {
                Some(picture) => {
                    download::blob(&name, &picture);
                    all.notices.say(format!("{name} saved."));
                }
                None => all.notices.problem(TOO_LARGE.to_owned()),
            }
            is_busy.try_set(false);
        });
    };
    view! {
        <button
            class="button quiet"
            type="button"
            title="One picture of the grid, with its labels"
            hidden=when(move || layout.read().is_none())
            prop:disabled=when(move || is_busy.get() || !has_any.get())
            on:click=handler(save)
        >
            <Glyph icon=LuGrid3x3 />
            "Save grid"
        </button>
    }
    .into_any()
}

/// Draws the first output of each item into its cell; `None` if the browser can't draw the picture.
async fn draw_grid(
    all: Contexts,
    blocks: &Arc<Blocks>,
    shape: f64,
    tasks: &[Option<Task>],
) -> Option<web_sys::Blob> {
    let address = all.session.settings_untracked().address;
    let grid = GridPicture::of(blocks, shape)?;
    let canvas = GridCanvas::new(&grid).ok()?;
    for place in &grid.outputs {
        let task = tasks.get(place.item).and_then(Option::as_ref);
        let file = match task.and_then(|task| Some((task, task.outputs().first()?))) {
            Some((task, url)) if task.output_kind(url) == OutputKind::Image => {
                let copy = all.runner.copy(&task.key.output(0)).await;
                match copy {
                    Some(copy) => Some(copy),
                    None => output_file::fetch(url, address.as_str()).await.ok(),
                }
            }
            _ => None,
        };
        canvas.draw(place, file.as_ref()).await.ok()?;
    }
    canvas.finish().await.ok()
}
