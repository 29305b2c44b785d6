//! Where each output of the gallery lies: rows of one height, by day.

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

/// Between outputs, in pixels.
pub const GAP: f64 = 6.0;

/// How high rows are until another height is chosen, in `rem`.
pub const USUAL_SIZE: f64 = 13.0;

/// A day's heading in `rem`; the stylesheet has the same.
const HEADING: f64 = 3.25;

/// The least that a day which stands next to another one is wide, and what lies between the two, in `rem`.
const DAY: f64 = 14.0;
const DAY_GAP: f64 = 1.5;

/// What is waited for, and then the outputs, in rows.
#[derive(Clone, PartialEq)]
pub struct Layout {
    rows: Vec<LayoutRow>,
    pub stack: Stack,
    days: Vec<DaySpan>,
    /// So many of the items are waited for: the first of today.
    waiting: usize,
}

impl Layout {
    /// `width` in pixels, `height` of a row in `rem`.
    pub fn new(
        waiting: &[GalleryEntry],
        found: &[GalleryEntry],
        width: f64,
        height: f64,
        rem: f64,
    ) -> Self {
        let measure = Measure {
            width,
            row: height * rem,
            gap: GAP,
            // On a phone a row would be one picture: a person who wants that chooses a larger size.
            least: if height <= USUAL_SIZE { 2 } else { 1 },
            day: DAY * rem,
            day_gap: DAY_GAP * rem,
        };
        // Nothing is laid out before the width is known.
        let rows = match width > 0.0 {
            true => layout::rows(&items(waiting, found), measure),
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
            waiting: waiting.len(),
        }
    }

    /// The output that an item is; none for what is waited for.
    pub fn output(&self, item: usize) -> Option<usize> {
        item.checked_sub(self.waiting)
    }

    /// The items of the rows that touch a stretch, and where each lies.
    pub fn between(&self, from: f64, to: f64) -> Vec<(usize, TileRect)> {
        let rows = self.stack.window(from, to);
        rows.flat_map(|row| self.row(row)).collect()
    }

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

    pub fn days_between(&self, from: f64, to: f64) -> &[DaySpan] {
        self.days
            .get(days::in_sight(&self.days, from, to))
            .unwrap_or_default()
    }

    /// Where an output lies.
    pub fn place(&self, output: usize) -> Option<TileRect> {
        let item = output + self.waiting;
        let row = self.rows.iter().position(
            |row| matches!(row, LayoutRow::Items(items) if items.items.contains(&item)),
        )?;
        let mut row = self.row(row).into_iter();
        row.find_map(|(other, place)| (other == item).then_some(place))
    }

    /// The output that an arrow leads to.
    pub fn neighbor(&self, output: usize, direction: Direction) -> Option<usize> {
        let to = layout::neighbor(&self.rows, output + self.waiting, direction)?;
        self.output(to)
    }

    /// The outputs that a frame touches.
    pub fn touched(&self, frame: Frame) -> Vec<usize> {
        let items = layout::touched(&self.rows, &self.stack, frame).into_iter();
        items.filter_map(|item| self.output(item)).collect()
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
        let (task, position) = output_cache::parse_name(name)?;
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
        if let Some(place) = self.layout.read_untracked().place(at) {
            focus::to_place(name, gallery, place.top, place.height);
        }
    }

    /// Once nothing is shown large any more, the focus is on what was seen last, or on what has its place.
    pub fn follow_lightbox(self, gallery: NodeRef<Div>) {
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

/// Of each item a number for its day, and its shape.
fn items(waiting: &[GalleryEntry], found: &[GalleryEntry]) -> Vec<(i64, f64)> {
    let now = clock::now();
    let waiting = waiting.iter().map(|entry| (entry, now));
    let found = found.iter().map(|entry| (entry, entry.created));
    // Asking for the day of each of thousands would take longer than a frame: neighbors share theirs.
    let mut day = (0, 0..0);
    let mut number = 0;
    let of = |(entry, created): (&GalleryEntry, Millis)| {
        if !day.1.contains(&created) {
            let this: Day = clock::local(created).day;
            day = (number, clock::start_of(this)..clock::start_of(this.next()));
            number += 1;
        }
        let shape = entry.ratio.or_else(|| aspect_ratios::of(&entry.model));
        (day.0, shape.unwrap_or(1.0))
    };
    waiting.chain(found).map(of).collect()
}
