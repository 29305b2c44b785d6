//! The tiles near the screen. What is in sight stays there while outputs come and go above it.

use std::ops::Range;

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::gallery::anchor::{self, ItemPosition};
use atelier_studio::gallery::days::DaySpan;
use atelier_studio::list::window;
use leptos::prelude::*;

use super::laid::{Laid, Layout};
use super::narrowing::Narrowing;
use super::tile::TileRect;
use crate::reactive::boxed::{effect, memo, spawn};
use crate::view::parts::viewport::Viewport;

/// The height of the bar in `rem`, below which the page is seen; the stylesheet has the same.
const BAR: f64 = 3.75;

/// An output, where it is among all, and where it lies.
pub type Tile = (GalleryEntry, usize, TileRect);

#[derive(Clone, PartialEq)]
pub struct Windowed {
    pub tiles: Vec<Tile>,
    /// Of those that are waited for the number, from 0, and where it will lie.
    pub waiting: Vec<(usize, TileRect)>,
    pub days: Vec<DaySpan>,
    /// Outputs that have come above what is in sight.
    pub arrived: isize,
    asked: (Narrowing, String),
    seen: Viewport,
    is_downward: bool,
    /// So much further down lies what is in sight than where it was when that was measured.
    shift: f64,
    /// The latest move of the page, and its number.
    jump: (usize, f64),
}

/// What the tiles near the screen are made of.
#[derive(Clone, Copy)]
pub struct Sources {
    pub laid: Laid,
    pub seen: RwSignal<Viewport>,
    /// What the list is narrowed by.
    pub asked: Memo<(Narrowing, String)>,
    /// The output whose tile had the focus last. It stays, or the focus would be gone.
    pub focused: RwSignal<Option<String>>,
}

impl Windowed {
    pub fn follow(sources: Sources) -> Memo<Self> {
        let windowed = Memo::new(move |before: Option<&Self>| sources.windowed(before));
        let jump = memo(move || windowed.read().jump);
        effect(move || {
            let (_, down) = jump.get();
            if down != 0.0 {
                // After the effects of this change: the gallery has its new height then. It is still the same frame.
                spawn(async move { window().scroll_by_with_x_and_y(0.0, down) });
            }
        });
        windowed
    }

    /// The first output that is on the screen.
    pub fn first_on_screen(&self) -> Option<&GalleryEntry> {
        let from = self.seen.on_screen().0 + self.shift;
        let is_below = |(_, _, place): &&Tile| place.top >= from;
        let first = self.tiles.iter().find(is_below);
        first.or(self.tiles.first()).map(|(entry, ..)| entry)
    }
}

impl Sources {
    fn windowed(self, before: Option<&Windowed>) -> Windowed {
        let (found, layout) = (self.laid.found.read(), self.laid.layout.read());
        let (seen, asked) = (self.seen.get(), self.asked.get());
        let measured = before.filter(|before| before.seen == seen);
        let mut shift = measured.map_or(0.0, |before| before.shift);
        let mut jump = before.map(|before| before.jump).unwrap_or_default();
        let mut arrived = before.map_or(0, |before| before.arrived);
        if before.is_none_or(|before| before.asked != asked) || seen.on_screen().0 + shift <= 0.0 {
            arrived = 0;
        } else if let Some(before) = measured {
            let lying = before.tiles.iter().map(|(entry, at, place)| ItemPosition {
                item: entry,
                at: *at,
                top: place.top,
                bottom: place.top + place.height,
            });
            let from = seen.on_screen().0 + shift + BAR * seen.rem;
            let now = |entry: &&GalleryEntry| {
                let at = position(&found, entry)?;
                Some((at, layout.place(at)?.top))
            };
            let moved = anchor::shift(lying, from, now);
            arrived += moved.before;
            if moved.down != 0.0 {
                shift += moved.down;
                jump = (jump.0 + 1, moved.down);
            }
        }
        let (from, to) = seen.on_screen();
        let is_downward = before.is_none_or(|before| {
            let then = before.seen.from + before.shift;
            match seen.from + shift - then {
                0.0 => before.is_downward,
                moved => moved > 0.0,
            }
        });
        let screen = (from + shift, to + shift);
        // The first frame is drawn the sooner.
        let (from, to) = match seen.margin > 0.0 {
            true => window::ahead(screen, is_downward),
            false => screen,
        };
        let items = layout.between(from, to);
        let waiting = items
            .iter()
            .filter(|(item, _)| layout.output(*item).is_none());
        Windowed {
            waiting: waiting.copied().collect(),
            days: layout.days_between(from, to).to_vec(),
            tiles: self.tiles(&found, &layout, &items),
            arrived,
            asked,
            seen,
            is_downward,
            shift,
            jump,
        }
    }

    fn tiles(
        self,
        found: &[GalleryEntry],
        layout: &Layout,
        items: &[(usize, TileRect)],
    ) -> Vec<Tile> {
        let outputs = items.iter().filter_map(|(item, place)| {
            let at = layout.output(*item)?;
            Some((found.get(at)?.clone(), at, *place))
        });
        let mut tiles: Vec<Tile> = outputs.collect();
        let focused = self.focused.get();
        if let Some(at) = focused.and_then(|name| self.laid.at(&name))
            && let (Some(entry), Some(place)) = (found.get(at), layout.place(at))
        {
            let range: Range<usize> = match (tiles.first(), tiles.last()) {
                (Some(first), Some(last)) => first.1..last.1 + 1,
                _ => 0..0,
            };
            let tile = (entry.clone(), at, place);
            match range.contains(&at) {
                true => {}
                false if at < range.start => tiles.insert(0, tile),
                false => tiles.push(tile),
            }
        }
        tiles
    }
}

fn position(found: &[GalleryEntry], entry: &GalleryEntry) -> Option<usize> {
    let is_it = |other: &GalleryEntry| other.position == entry.position && other.task == entry.task;
    found.iter().position(is_it)
}
