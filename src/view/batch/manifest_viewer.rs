use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::stored_output;
use atelier_studio::batch::labelled_grid;
use atelier_studio::compose::MAX_ROWS;
use atelier_studio::history::manifest::{Manifest, ManifestItem};
use atelier_studio::text::plural::counted;
use icondata_lu::LuX;
use leptos::prelude::*;
use serde_json::Value;

use super::composer::Composer;
use super::grid::grid;
use super::item::ItemContext;
use super::thumb::Thumb;
use crate::reactive::boxed::{handler, memo};
use crate::view::gallery::selection::Selection;
use crate::view::parts::glyph::Glyph;

/// Shows a manifest. None of it is sent or stored.
pub fn manifest_viewer(composer: Composer, manifest: Manifest) -> AnyView {
    let name = manifest.name.clone();
    let about = format!(
        "{} of {}/{}, made {}{}. It is not stored in this browser.",
        counted(manifest.items.len(), "item"),
        manifest.model.category,
        manifest.model.subcategory,
        manifest.created.as_deref().unwrap_or("at an unknown time"),
        match manifest.service.as_str() {
            "" => String::new(),
            service => format!(" at {service}"),
        },
    );
    let category = manifest.model.category.clone();
    // A hand-written file may number its items arbitrarily.
    let index = |position: usize, item: &ManifestItem| match item.index {
        number @ 1..=MAX_ROWS => number - 1,
        _ => position,
    };
    let mut shapes = vec![None; MAX_ROWS];
    let schema = composer.schema();
    for (position, item) in manifest.items.iter().enumerate() {
        if let Some(shape) = shapes.get_mut(index(position, item)) {
            *shape = labelled_grid::shape(&item.input, Some(&schema));
        }
    }
    let cells = memo(move || {
        let items = manifest.items.iter().enumerate();
        items
            .map(|(position, item)| cell(index(position, item), item, &category, &manifest.service))
            .collect::<Vec<_>>()
    });
    // Outputs of a manifest can't be selected: they do not belong to tasks of this browser.
    let context = ItemContext {
        shapes: memo(move || shapes.clone()),
        selection: Selection::new(memo(Vec::new)),
        is_touched: false,
        is_mainly_touched: false,
    };
    view! {
        <article class="panel run" aria-label=format!("Manifest: {name}")>
            <div class="run-head">
                <h2>{name.clone()}</h2>
                <p class="muted">{about}</p>
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Close the manifest"
                    on:click=handler(move |_| composer.looked_at.set(None))
                >
                    <Glyph icon=LuX />
                </button>
            </div>
            {grid(cells, memo(|| None), context)}
        </article>
    }
    .into_any()
}

fn cell(index: usize, item: &ManifestItem, category: &str, service: &str) -> Thumb {
    let phase = match item.state.as_str() {
        "Completed" => "ready",
        "Failed" => "failed",
        "Gone" => "gone",
        "Unconfirmed" => "unconfirmed",
        "Removed" => "removed",
        _ => "queued",
    };
    let prompt = item
        .input
        .get("prompt")
        .or_else(|| item.input.values().next());
    let title = prompt.and_then(Value::as_str).unwrap_or_default();
    let first = item.outputs.first().map(|output| output.url.clone());
    Thumb {
        index,
        phase: phase.into(),
        state: item.state.clone(),
        title: title.to_owned(),
        caption: title.to_owned(),
        note: item.error.clone().unwrap_or_default(),
        more: item.outputs.len().saturating_sub(1),
        href: first
            .as_ref()
            .and_then(|url| SafeUrl::link(url, service))
            .map(|url| url.to_string()),
        task: None,
        is_left_out: false,
        // A reference points to a file that only the archive contains.
        picture: first
            .filter(|url| !stored_output::is_reference(url))
            .map(|url| {
                let kind = OutputKind::of(&url, category);
                (url, kind)
            }),
    }
}
