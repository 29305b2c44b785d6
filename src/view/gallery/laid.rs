//! Where each output of the gallery lies: rows of one height, by day.

use atelier_engine::calendar::Day;
use atelier_engine::gallery::GalleryEntry;
use atelier_engine::gallery::layout::{self, Measure, Row};
use atelier_engine::output_cache;
use atelier_engine::window::Stack;
use leptos::html::Div;
use leptos::prelude::*;

use super::focus;
use crate::boxed::{effect, memo};
use crate::browser::clock;
use crate::browser::frame::after_frame;
use crate::contexts::contexts;
use crate::shapes;
use crate::view::lightbox::shown;
use crate::view::parts::viewport::Viewport;

/// Between outputs, in pixels.
pub const GAP: f64 = 6.0;

/// How high rows are until another height is chosen, in `rem`.
pub const USUAL_SIZE: f64 = 13.0;

/// A day's heading in `rem`; the stylesheet has the same.
const HEADING: f64 = 3.25;

#[derive(Clone, PartialEq)]
pub struct Layout {
    pub rows: Vec<Row>,
    pub stack: Stack,
}

impl Layout {
    /// `width` in pixels, `height` of a row in `rem`.
    pub fn new(found: &[GalleryEntry], width: f64, height: f64, rem: f64) -> Self {
        let measure = Measure {
            width,
            row: height * rem,
            gap: GAP,
            // On a phone a row would be one picture: whoever wants that chooses a larger size.
            least: if height <= USUAL_SIZE { 2 } else { 1 },
        };
        let rows = layout::rows(&days(found), measure);
        let stack = Stack::new(rows.iter().map(|row| match row {
            Row::Day(_) => HEADING * rem,
            Row::Items(row) => row.height + GAP,
        }));
        Self { rows, stack }
    }

    /// The rows that are to be there, and how far down each is.
    pub fn in_sight(&self, seen: Viewport) -> Vec<(Row, f64)> {
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
