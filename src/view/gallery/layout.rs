//! The layout of the gallery: rows of equal height, grouped by day.

use atelier_engine::Millis;
use atelier_studio::gallery::GalleryEntry;
use atelier_studio::gallery::days::{self, DaySpan};
use atelier_studio::gallery::layout::{self, Direction, Frame, LayoutRow, Measure};
use atelier_studio::list::window::Stack;
use atelier_studio::output::output_cache;
use atelier_studio::text::calendar::Day;
use leptos::html::Div;
use leptos::prelude::*;

use super::focus;
use super::tile::TileRect;
use crate::browser::clock;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, memo};
use crate::state::aspect_ratios;
use crate::state::contexts::contexts;
use crate::view::lightbox::shown;

/// The gap between outputs, in px.
pub const GAP: f64 = 6.0;

/// The default height of rows, in `rem`.
pub const DEFAULT_SIZE: f64 = 13.0;

/// The height of a day's heading, in `rem`; must match the style sheet.
const HEADING: f64 = 3.25;

/// The minimum width of a day that shares a row with another day, in `rem`.
const MIN_DAY_WIDTH: f64 = 14.0;
/// The gap between two days in a row, in `rem`.
const DAY_GAP: f64 = 1.5;

/// Pending and finished outputs in rows. Pending ones come first.
#[derive(Clone, PartialEq)]
pub struct Layout {
    rows: Vec<LayoutRow>,
    pub stack: Stack,
    days: Vec<DaySpan>,
    /// The number of pending outputs, which are the first items of today.
    pending: usize,
}

impl Layout {
    /// Computes the layout. `width`: in px. `height`: of a row, in `rem`.
    pub fn new(
        pending: &[GalleryEntry],
        found: &[GalleryEntry],
        width: f64,
        height: f64,
        rem: f64,
    ) -> Self {
        let measure = Measure {
            width,
            row: height * rem,
            gap: GAP,
            // At least two outputs in a row, also on phones, unless the user has chosen a larger size.
            least: if height <= DEFAULT_SIZE { 2 } else { 1 },
            day: MIN_DAY_WIDTH * rem,
            day_gap: DAY_GAP * rem,
        };
        // The width is 0 until it is measured.
        let rows = match width > 0.0 {
            true => layout::rows(&items(pending, found), measure),
            false => Vec::new(),
        };
        let stack = Stack::new(rows.iter().map(|row| match row {
            LayoutRow::Days(_) => HEADING * rem,
            LayoutRow::Items(row) => row.height + GAP,
        }));
        let days = days::spans(&rows, &stack);
        Self {
            rows,
            stack,
            days,
            pending: pending.len(),
        }
    }

    /// Returns the index of the output that an item is; `None` for a pending output.
    pub fn output(&self, item: usize) -> Option<usize> {
        item.checked_sub(self.pending)
    }

    /// Returns the items of the rows that intersect a vertical range, with their places.
    pub fn between(&self, from: f64, to: f64) -> Vec<(usize, TileRect)> {
        let rows = self.stack.window(from, to);
        rows.flat_map(|row| self.row(row)).collect()
    }

    /// Returns the items of a row, with their places.
    fn row(&self, at: usize) -> Vec<(usize, TileRect)> {
        let Some(LayoutRow::Items(row)) = self.rows.get(at) else {
            return Vec::new();
        };
        let places = row.places().map(|(item, left, width)| {
            let place = TileRect {
                left,
                top: self.stack.top(at),
                width,
                height: row.height,
            };
            (item, place)
        });
        places.collect()
    }

    /// Returns the days that intersect a vertical range.
    pub fn days_between(&self, from: f64, to: f64) -> &[DaySpan] {
        self.days
            .get(days::in_sight(&self.days, from, to))
            .unwrap_or_default()
    }

    /// Returns the place of an output.
    pub fn place(&self, output: usize) -> Option<TileRect> {
        let item = output + self.pending;
        let row = self.rows.iter().position(
            |row| matches!(row, LayoutRow::Items(items) if items.items.contains(&item)),
        )?;
        let mut row = self.row(row).into_iter();
        row.find_map(|(other, place)| (other == item).then_some(place))
    }

    /// Returns the output that an arrow key moves to.
    pub fn neighbor(&self, output: usize, direction: Direction) -> Option<usize> {
        let to = layout::neighbor(&self.rows, output + self.pending, direction)?;
        self.output(to)
    }

    /// Returns the outputs that a frame intersects.
    pub fn touched(&self, frame: Frame) -> Vec<usize> {
        let items = layout::touched(&self.rows, &self.stack, frame).into_iter();
        items.filter_map(|item| self.output(item)).collect()
    }
}

/// The outputs and their layout.
#[derive(Clone, Copy)]
pub struct GalleryLayout {
    pub found: Memo<Vec<GalleryEntry>>,
    pub layout: Memo<Layout>,
}

impl GalleryLayout {
    /// Returns the index of an output.
    pub fn index_of(self, name: &str) -> Option<usize> {
        let (task, position) = output_cache::parse_name(name)?;
        let found = self.found.read_untracked();
        found
            .iter()
            .position(|entry| entry.position == position && entry.task == task)
    }

    /// Returns the name of the output with this index.
    pub fn name(self, at: usize) -> Option<String> {
        let found = self.found.read_untracked();
        found.get(at).map(GalleryEntry::name)
    }

    /// Moves the focus to the tile of an output. Scrolls to it if necessary.
    pub fn focus(self, gallery: NodeRef<Div>, at: usize, name: String) {
        if let Some(place) = self.layout.read_untracked().place(at) {
            focus::to_place(name, gallery, place.top, place.height);
        }
    }

    /// Moves the focus after the large view is closed: to the output that it showed last, or to the one that replaced it.
    pub fn focus_after_lightbox(self, gallery: NodeRef<Div>) {
        let navigation = contexts().navigation;
        let shown = memo(move || navigation.query(shown::SHOWN));
        let last_shown = StoredValue::new(None::<(String, usize)>);
        effect(move || {
            self.found.track();
            if let Some(name) = shown.get() {
                if let Some(at) = self.index_of(&name) {
                    last_shown.set_value(Some((name, at)));
                }
                return;
            }
            let Some((name, at)) = last_shown.get_value() else {
                return;
            };
            last_shown.set_value(None);
            // Waits a frame: the closing dialog first restores the earlier focus, and removed tiles disappear.
            after_frame(move || {
                let Some(count) = self.found.try_with_untracked(Vec::len) else {
                    return;
                };
                let at = self
                    .index_of(&name)
                    .unwrap_or(at.min(count.saturating_sub(1)));
                match self.name(at) {
                    Some(name) => self.focus(gallery, at, name),
                    None => focus::restore(None),
                }
            });
        });
    }
}

/// Returns for each item a number for its day and the aspect ratio.
fn items(pending: &[GalleryEntry], found: &[GalleryEntry]) -> Vec<(i64, f64)> {
    let now = clock::now();
    let pending = pending.iter().map(|entry| (entry, now));
    let found = found.iter().map(|entry| (entry, entry.created));
    // The day of the previous item is reused: computing it for each of thousands of items would take longer than a frame.
    let mut day = (0, 0..0);
    let mut number = 0;
    let day_and_ratio = |(entry, created): (&GalleryEntry, Millis)| {
        if !day.1.contains(&created) {
            let this: Day = clock::local(created).day;
            day = (number, clock::start_of(this)..clock::start_of(this.next()));
            number += 1;
        }
        let shape = entry.ratio.or_else(|| aspect_ratios::of(&entry.model));
        (day.0, shape.unwrap_or(1.0))
    };
    pending.chain(found).map(day_and_ratio).collect()
}
