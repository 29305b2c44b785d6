//! The tiles in the page, by output.

use atelier_studio::gallery::GalleryEntry;
use leptos::prelude::*;

use super::tile::{Around, TileRect, tile};
use super::windowed::Windowed;
use crate::reactive::boxed::memo;
use crate::view::parts::list::{Item, list};

pub fn tile_list(windowed: Memo<Windowed>, around: Around) -> AnyView {
    list(move || {
        let now = windowed.read();
        let item = |entry: GalleryEntry| {
            Item::new(entry.name(), move || {
                // Made here, it lives as long as the tile.
                let place = place_of(entry.clone(), windowed);
                tile(&entry, place, around)
            })
        };
        now.tiles.iter().map(|tile| item(tile.0.clone())).collect()
    })
}

/// Where an output lies now.
fn place_of(entry: GalleryEntry, windowed: Memo<Windowed>) -> Memo<(usize, TileRect)> {
    memo(move || {
        let windowed = windowed.read();
        let is_own =
            |other: &GalleryEntry| other.position == entry.position && other.task == entry.task;
        let mut tiles = windowed.tiles.iter();
        let own = tiles.find(|(other, ..)| is_own(other));
        own.map(|(_, at, place)| (*at, *place)).unwrap_or_default()
    })
}
