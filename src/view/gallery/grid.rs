use std::ops::RangeInclusive;

use atelier_engine::calendar::Day;
use atelier_engine::gallery::GalleryEntry;
use atelier_engine::gallery::layout::{self, Measure, Row};
use atelier_engine::output_cache;
use atelier_engine::window::Stack;
use leptos::html::Div;
use leptos::prelude::*;

use super::selection::Selection;
use super::tile::{TileRect, tile};
use super::{focus, keys, marquee};
use crate::boxed::{effect, memo, text};
use crate::browser::frame::after_frame;
use crate::browser::local;
use crate::browser::{clock, dates};
use crate::contexts::contexts;
use crate::shapes;
use crate::view::lightbox::shown;
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::{Viewport, viewport};

/// How high the rows may be asked to be, in `rem`.
pub const SIZES: RangeInclusive<f64> = 8.0..=28.0;

/// In `localStorage`: the height that was chosen last, in `rem`.
const SIZE_KEY: &str = "atelier.gallery.size";

const GAP: f64 = 6.0;

/// A day's heading in `rem`; the stylesheet has the same.
const HEADING: f64 = 3.25;

pub fn kept_size() -> f64 {
    let kept = local::LocalStore::Browser.read(SIZE_KEY);
    let kept = kept.and_then(|text| text.parse().ok());
    kept.filter(|size| SIZES.contains(size)).unwrap_or(13.0)
}

pub fn keep_size(rem: f64) {
    // Refused, it is as large as ever the next time.
    local::LocalStore::Browser.write(SIZE_KEY, &rem.to_string());
}

#[derive(Clone, PartialEq)]
pub struct Layout {
    pub rows: Vec<Row>,
    stack: Stack,
}

impl Layout {
    /// `width` in pixels, `height` of a row in `rem`.
    fn new(found: &[GalleryEntry], width: f64, height: f64, rem: f64) -> Self {
        let measure = Measure {
            width,
            row: height * rem,
            gap: GAP,
        };
        let rows = layout::rows(&days(found), measure);
        let stack = Stack::new(rows.iter().map(|row| match row {
            Row::Day(_) => HEADING * rem,
            Row::Items(row) => row.height + GAP,
        }));
        Self { rows, stack }
    }

    /// The rows that are to be there, and how far down each is.
    fn in_sight(&self, seen: Viewport) -> Vec<(Row, f64)> {
        // Nothing is laid out before the width is known.
        if seen.width <= 0.0 {
            return Vec::new();
        }
        let beyond = trimmed(seen);
        let window = self.stack.window(seen.from + beyond, seen.to - beyond);
        let rows = window.filter_map(|at| Some((self.rows.get(at)?.clone(), self.stack.top(at))));
        rows.collect()
    }
}

/// The outputs, and where each lies.
#[derive(Clone, Copy)]
pub struct Laid {
    pub found: Memo<Vec<GalleryEntry>>,
    pub layout: Memo<Layout>,
}

impl Laid {
    pub fn at(self, name: &str) -> Option<usize> {
        let (task, position) = output_cache::place(name)?;
        let found = self.found.read_untracked();
        found
            .iter()
            .position(|entry| entry.position == position && entry.task == task)
    }

    pub fn name(self, at: usize) -> Option<String> {
        let found = self.found.read_untracked();
        found.get(at).map(GalleryEntry::name)
    }

    /// Gives the focus to the tile of an output, wherever it lies.
    pub fn focus(self, gallery: NodeRef<Div>, at: usize, name: String) {
        let layout = self.layout.read_untracked();
        let mut rows = layout.rows.iter().enumerate();
        let row = rows.find_map(|(row, kind)| match kind {
            Row::Items(items) if items.items.contains(&at) => Some((row, items.height)),
            _ => None,
        });
        if let Some((row, height)) = row {
            focus::to_place(name, gallery, layout.stack.top(row), height);
        }
    }

    /// Once nothing is shown large any more, the focus is on what was seen last, or on what has its place.
    fn follow_lightbox(self, gallery: NodeRef<Div>) {
        let navigation = contexts().navigation;
        let shown = memo(move || navigation.query(shown::SHOWN));
        let seen = StoredValue::new(None::<(String, usize)>);
        effect(move || {
            self.found.track();
            if let Some(name) = shown.get() {
                if let Some(at) = self.at(&name) {
                    seen.set_value(Some((name, at)));
                }
                return;
            }
            let Some((name, at)) = seen.get_value() else {
                return;
            };
            seen.set_value(None);
            // The dialog gives the focus back to what had it when it opened; and what was removed is gone
            // a frame later.
            after_frame(move || {
                let Some(count) = self.found.try_with_untracked(Vec::len) else {
                    return;
                };
                let at = self.at(&name).unwrap_or(at.min(count.saturating_sub(1)));
                match self.name(at) {
                    Some(name) => self.focus(gallery, at, name),
                    None => focus::settle(None),
                }
            });
        });
    }
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

/// Half a screenful beyond each end is room enough for pictures: there are many elements to one.
fn trimmed(seen: Viewport) -> f64 {
    let screen = window()
        .inner_height()
        .ok()
        .and_then(|height| height.as_f64());
    let beyond = seen.to - seen.from - screen.unwrap_or(0.0);
    (beyond / 4.0).max(0.0)
}

/// Of each output a number for its day, and its shape.
fn days(found: &[GalleryEntry]) -> Vec<(i64, f64)> {
    // Asking for the day of each of thousands would take longer than a frame: neighbors share theirs.
    let mut day = (0, 0..0);
    let mut number = 0;
    let of = |entry: &GalleryEntry| {
        if !day.1.contains(&entry.created) {
            let this: Day = clock::local(entry.created).day;
            day = (number, clock::start_of(this)..clock::start_of(this.next()));
            number += 1;
        }
        let shape = entry.ratio.or_else(|| shapes::of(&entry.model));
        (day.0, shape.unwrap_or(1.0))
    };
    found.iter().map(of).collect()
}
