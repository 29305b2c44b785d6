//! The tiles in the page, by output. A tile that stays is left where it is: one that is taken out and put in again, as
//! lists of Leptos do it with some of those that stay, would lose the focus.

use std::collections::{HashMap, HashSet};

use atelier_studio::gallery::GalleryEntry;
use leptos::html::Ul;
use leptos::prelude::*;
use leptos::tachys::view::any_view::AnyViewState;
use leptos::tachys::view::{Mountable, Render};
use web_sys::Element;

use super::tile::{Around, TileRect, tile};
use super::windowed::Windowed;
use crate::reactive::boxed::{effect, memo};

/// What a tile consists of.
struct Built {
    owner: Owner,
    view: AnyViewState,
}

impl Built {
    fn new(page: &Owner, entry: &GalleryEntry, windowed: Memo<Windowed>, around: Around) -> Self {
        let owner = page.with(Owner::new);
        let view = owner.with(|| {
            // Made here, it lives as long as the tile.
            let place = place_of(entry.clone(), windowed);
            untrack(|| tile(entry, place, around).build())
        });
        Self { owner, view }
    }

    fn element(&self) -> Option<Element> {
        self.view.elements().into_iter().next()
    }
}

/// Keeps the tiles of a list for as long as the present owner lives.
pub fn follow(list: NodeRef<Ul>, windowed: Memo<Windowed>, around: Around) {
    let page = Owner::current().unwrap_or_default();
    let built = StoredValue::new_local(HashMap::<String, Built>::new());
    effect(move || {
        let Some(list) = list.get() else {
            return;
        };
        let now = windowed.read();
        let names: Vec<String> = now.tiles.iter().map(|tile| tile.0.name()).collect();
        built.update_value(|built| {
            let wanted: HashSet<&String> = names.iter().collect();
            built.retain(|name, tile| {
                let stays = wanted.contains(name);
                if !stays {
                    tile.view.unmount();
                    tile.owner.cleanup();
                }
                stays
            });
            // From the last one: each is put before the one that follows it.
            let mut next = None::<Element>;
            for ((entry, ..), name) in now.tiles.iter().zip(&names).rev() {
                let tile = built.entry(name.clone());
                let tile = tile.or_insert_with(|| Built::new(&page, entry, windowed, around));
                let is_there = tile.element().is_some_and(|element| {
                    element.parent_element().is_some() && element.next_element_sibling() == next
                });
                if !is_there {
                    tile.view.mount(&list, next.as_deref());
                }
                next = tile.element().or(next);
            }
        });
    });
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
