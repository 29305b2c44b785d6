//! The list of tiles, keyed by output.

use atelier_studio::gallery::GalleryEntry;
use leptos::prelude::*;

use super::tile::{TileContext, TileRect, tile};
use super::windowed::Windowed;
use crate::reactive::boxed::memo;
use crate::view::parts::list::{Item, list};

pub fn tile_list(windowed: Memo<Windowed>, context: TileContext) -> AnyView {
    list(move || {
        let now = windowed.read();
        let item = |entry: GalleryEntry| {
            Item::new(entry.name(), move || {
                // Created here, so that the memo lives as long as the tile.
                let place = place_of(entry.clone(), windowed);
                tile(&entry, place, context)
            })
        };
        now.tiles.iter().map(|tile| item(tile.0.clone())).collect()
    })
}

/// Returns the index and the place of an output, as a memo.
fn place_of(entry: GalleryEntry, windowed: Memo<Windowed>) -> Memo<(usize, TileRect)> {
    memo(move || {
        let windowed = windowed.read();
        let is_same_output =
            |other: &GalleryEntry| other.position == entry.position && other.task == entry.task;
        let mut tiles = windowed.tiles.iter();
        let own = tiles.find(|(other, ..)| is_same_output(other));
        own.map(|(_, at, place)| (*at, *place)).unwrap_or_default()
    })
}
