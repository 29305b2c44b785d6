//! The tiles near the screen. Scrolls when outputs are added or removed above the visible tiles, so that these do not move.

use std::ops::Range;

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::gallery::anchor::{self, ItemPosition};
use atelier_studio::gallery::days::DaySpan;
use atelier_studio::list::window;
use leptos::prelude::*;

use super::layout::{GalleryLayout, Layout};
use super::narrowing::UrlFilters;
use super::tile::TileRect;
use crate::reactive::boxed::{effect, memo, spawn};
use crate::view::parts::viewport::Viewport;

/// The height of the page's bar in `rem`, which covers the top of the page; must match the style sheet.
const BAR: f64 = 3.75;

/// An output, its index and its place.
pub type Tile = (GalleryEntry, usize, TileRect);

/// The items to build.
#[derive(Clone, PartialEq)]
pub struct Windowed {
    pub tiles: Vec<Tile>,
    /// The indexes of pending outputs, from 0, with their places.
    pub pending: Vec<(usize, TileRect)>,
    pub days: Vec<DaySpan>,
    /// The number of outputs that were added above the visible ones.
    pub arrived: isize,
    filters: (UrlFilters, String),
    viewport: Viewport,
    is_downward: bool,
    /// The distance by which the visible tiles have moved down since `viewport` was measured, in px.
    shift: f64,
    /// A counter and the distance of the last scroll.
    jump: (usize, f64),
}

/// The inputs of [`Windowed`].
#[derive(Clone, Copy)]
pub struct Sources {
    pub gallery_layout: GalleryLayout,
    pub viewport: RwSignal<Viewport>,
    /// The filters of the list.
    pub filters: Memo<(UrlFilters, String)>,
    /// The output whose tile had the focus last. It is always built, so that the focus is not lost.
    pub focused: RwSignal<Option<String>>,
}

impl Windowed {
    /// Returns the items to build, as a memo. Scrolls when the visible tiles would move.
    pub fn follow(sources: Sources) -> Memo<Self> {
        let windowed = Memo::new(move |before: Option<&Self>| sources.windowed(before));
        let jump = memo(move || windowed.read().jump);
        effect(move || {
            let (_, down) = jump.get();
            if down != 0.0 {
                // Runs after the other effects, when the gallery has its new height, but in the same frame.
                spawn(async move { window().scroll_by_with_x_and_y(0.0, down) });
            }
        });
        windowed
    }

    /// Returns the first output on the screen, or else the first that is built.
    pub fn first_on_screen(&self) -> Option<&GalleryEntry> {
        let from = self.viewport.on_screen().0 + self.shift;
        let is_below = |(_, _, place): &&Tile| place.top >= from;
        let first = self.tiles.iter().find(is_below);
        first.or(self.tiles.first()).map(|(entry, ..)| entry)
    }
}

impl Sources {
    /// Computes the items to build. `before`: the previous ones.
    fn windowed(self, before: Option<&Windowed>) -> Windowed {
        let (found, layout) = (
            self.gallery_layout.found.read(),
            self.gallery_layout.layout.read(),
        );
        let (viewport, filters) = (self.viewport.get(), self.filters.get());
        let measured = before.filter(|before| before.viewport == viewport);
        let mut shift = measured.map_or(0.0, |before| before.shift);
        let mut jump = before.map(|before| before.jump).unwrap_or_default();
        let mut arrived = before.map_or(0, |before| before.arrived);
        if before.is_none_or(|before| before.filters != filters)
            || viewport.on_screen().0 + shift <= 0.0
        {
            arrived = 0;
        } else if let Some(before) = measured {
            let positions = before.tiles.iter().map(|(entry, at, place)| ItemPosition {
                item: entry,
                at: *at,
                top: place.top,
                bottom: place.top + place.height,
            });
            let from = viewport.on_screen().0 + shift + BAR * viewport.rem;
            let now = |entry: &&GalleryEntry| {
                let at = position(&found, entry)?;
                Some((at, layout.place(at)?.top))
            };
            let moved = anchor::shift(positions, from, now);
            arrived += moved.before;
            if moved.down != 0.0 {
                shift += moved.down;
                jump = (jump.0 + 1, moved.down);
            }
        }
        let (from, to) = viewport.on_screen();
        let is_downward = before.is_none_or(|before| {
            let earlier = before.viewport.from + before.shift;
            match viewport.from + shift - earlier {
                0.0 => before.is_downward,
                moved => moved > 0.0,
            }
        });
        let screen = (from + shift, to + shift);
        // In the first frame only the screen is built, to show it sooner.
        let (from, to) = match viewport.margin > 0.0 {
            true => window::ahead(screen, is_downward),
            false => screen,
        };
        let items = layout.between(from, to);
        let pending = items
            .iter()
            .filter(|(item, _)| layout.output(*item).is_none());
        Windowed {
            pending: pending.copied().collect(),
            days: layout.days_between(from, to).to_vec(),
            tiles: self.tiles(&found, &layout, &items),
            arrived,
            filters,
            viewport,
            is_downward,
            shift,
            jump,
        }
    }

    /// Returns the tiles of `items`, and that of the focused output.
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
        if let Some(at) = focused.and_then(|name| self.gallery_layout.index_of(&name))
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
    let is_same =
        |other: &GalleryEntry| other.position == entry.position && other.task == entry.task;
    found.iter().position(is_same)
}
