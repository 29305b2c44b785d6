use std::ops::RangeInclusive;

use atelier_engine::gallery::GalleryEntry;
use atelier_engine::gallery::layout::{self, Row};
use leptos::html::Div;
use leptos::prelude::*;

use super::laid::{GAP, Laid, Layout, USUAL_SIZE};
use super::selection::Selection;
use super::tile::{TileRect, tile};
use super::{keys, marquee};
use crate::boxed::{memo, text};
use crate::browser::local;
use crate::browser::{clock, dates};
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::viewport;

/// How high the rows may be asked to be, in `rem`.
pub const SIZES: RangeInclusive<f64> = 8.0..=28.0;

/// In `localStorage`: the height that was chosen last, in `rem`.
const SIZE_KEY: &str = "atelier.gallery.size";

pub fn kept_size() -> f64 {
    let kept = local::LocalStore::Browser.read(SIZE_KEY);
    let kept = kept.and_then(|text| text.parse().ok());
    kept.filter(|size| SIZES.contains(size))
        .unwrap_or(USUAL_SIZE)
}

pub fn keep_size(rem: f64) {
    // Refused, it is as large as ever the next time.
    local::LocalStore::Browser.write(SIZE_KEY, &rem.to_string());
}

/// The outputs near the screen, in rows by day; the others are only room.
#[component]
pub fn Grid(
    found: Memo<Vec<GalleryEntry>>,
    /// The height of a row in `rem`.
    size: RwSignal<f64>,
    selection: Selection,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    // Whole pixels: a width that trembles would lay everything out anew.
    let width = memo(move || seen.read().width.floor());
    let rem = memo(move || seen.read().rem.max(1.0));
    let layout = memo(move || Layout::new(&found.read(), width.get(), size.get(), rem.get()));
    let laid = Laid { found, layout };
    laid.follow_lightbox(element);
    keys::follow(element, laid, selection);
    let in_sight = move || layout.read().in_sight(seen.get());
    let headings = move || {
        let today = clock::local(clock::now()).day;
        let found = found.read();
        let heading = |(row, top): (Row, f64)| match row {
            Row::Day(first) => {
                let day = dates::day(clock::local(found.get(first)?.created).day, today);
                Some(Item::new(format!("{top} {day}"), move || {
                    view! { <h2 style:top=format!("{top:.0}px")>{day.clone()}</h2> }.into_any()
                }))
            }
            Row::Items(_) => None,
        };
        in_sight().into_iter().filter_map(heading).collect()
    };
    // A tile is told apart by its output alone: whatever else comes, goes or moves, its picture and the
    // focus stay.
    let placed = memo(move || placed(&in_sight(), &found.read()));
    let tiles = move || {
        let item = |(entry, _): &(GalleryEntry, TileRect)| {
            let entry = entry.clone();
            Item::new(entry.name(), move || {
                // Made here, it lives as long as the tile. What is made outside goes with the next change
                // of the list, and a tile that stays would never move again.
                let place = place_of(entry.clone(), placed);
                tile(&entry, place, selection)
            })
        };
        placed.read().iter().map(item).collect()
    };
    let touched = move |frame| {
        let (found, layout) = (found.read_untracked(), layout.read_untracked());
        let touched = layout::touched(&layout.rows, &layout.stack, GAP, frame).into_iter();
        let names = touched.filter_map(|at| Some(found.get(at)?.name()));
        names.collect()
    };
    view! {
        <div
            class="gallery"
            node_ref=element
            style:height=text(move || format!("{:.0}px", layout.read().stack.height()))
        >
            {marquee::marquee(element, touched, selection)}
            {list(headings)}
            <ul role="list" aria-label="Outputs" tabindex="-1">
                {list(tiles)}
            </ul>
        </div>
    }
}

/// The outputs of rows, and where each is.
fn placed(rows: &[(Row, f64)], found: &[GalleryEntry]) -> Vec<(GalleryEntry, TileRect)> {
    let mut placed = Vec::new();
    for (row, top) in rows {
        let Row::Items(row) = row else { continue };
        let mut left = 0.0;
        for (at, width) in row.items.clone().zip(&row.widths) {
            let place = TileRect {
                left,
                top: *top,
                width: *width,
                height: row.height,
                at,
                total: found.len(),
            };
            left += width + GAP;
            placed.extend(found.get(at).map(|entry| (entry.clone(), place)));
        }
    }
    placed
}

/// Where an output lies now.
fn place_of(entry: GalleryEntry, placed: Memo<Vec<(GalleryEntry, TileRect)>>) -> Memo<TileRect> {
    memo(move || {
        let placed = placed.read();
        let is_own =
            |other: &GalleryEntry| other.position == entry.position && other.task == entry.task;
        let own = placed.iter().find(|(other, _)| is_own(other));
        own.map(|(_, place)| *place).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_stored_size_is_read_as_it_was() {
        let place = "atelier.gallery.size";
        for (text, size) in [
            ("8", 8.0),
            ("20.5", 20.5),
            ("900", 13.0),
            ("", 13.0),
            ("{}", 13.0),
        ] {
            local::LocalStore::Browser.write(place, text);
            assert_eq!(kept_size(), size, "{text}");
        }
        keep_size(20.5);
        let stored = local::LocalStore::Browser.read(place);
        assert_eq!(stored.as_deref(), Some("20.5"));
        local::LocalStore::Browser.remove(place);
        assert_eq!(kept_size(), 13.0);
    }
}
