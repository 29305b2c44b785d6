use std::ops::RangeInclusive;

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::gallery::days::DaySpan;
use atelier_studio::text::calendar::Day;
use leptos::html::Div;
use leptos::prelude::*;

use super::layout::{DEFAULT_SIZE, GalleryLayout, Layout};
use super::narrowing::UrlFilters;
use super::new_outputs::new_outputs;
use super::pending::{pending_status, pending_tile};
use super::selection::Selection;
use super::tile::{TileContext, TileRect};
use super::tile_list::tile_list;
use super::windowed::{Sources, Windowed};
use super::{focus, keys, long_press, marquee};
use crate::browser::local;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{effect, memo, text};
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::{has_coarse_pointer, viewport};

/// The range of row heights that can be chosen, in `rem`.
pub const SIZES: RangeInclusive<f64> = 8.0..=28.0;

/// The key in `localStorage` of the chosen row height, in `rem`.
const SIZE_KEY: &str = "atelier.gallery.size";

/// Returns the stored row height, or the default.
pub fn stored_size() -> f64 {
    let stored = local::LocalStore::Browser.read(SIZE_KEY);
    let stored = stored.and_then(|text| text.parse().ok());
    stored
        .filter(|size| SIZES.contains(size))
        .unwrap_or(DEFAULT_SIZE)
}

/// Stores the row height.
pub fn store_size(rem: f64) {
    // If storing fails, the next visit uses the default.
    local::LocalStore::Browser.write(SIZE_KEY, &rem.to_string());
}

/// Scrolls to the first output of a day, or of the nearest day before it, or else to the oldest output.
fn scroll_to_day(day: Day, gallery_layout: GalleryLayout, gallery: NodeRef<Div>) {
    let end = clock::start_of(day.next());
    let (found, layout) = (
        gallery_layout.found.read_untracked(),
        gallery_layout.layout.read_untracked(),
    );
    let at = found.partition_point(|entry| entry.created >= end);
    let at = at.min(found.len().saturating_sub(1));
    if let Some(place) = layout.place(at) {
        focus::scroll_to_place(gallery, place.top, place.height);
    }
}

/// The outputs in rows by day. Only those near the screen are built.
#[component]
pub fn Grid(
    found: Memo<Vec<GalleryEntry>>,
    /// Outputs that are not finished yet.
    pending: Memo<Vec<GalleryEntry>>,
    /// The filters of both lists.
    filters: Memo<(UrlFilters, String)>,
    /// The height of a row in `rem`.
    size: RwSignal<f64>,
    /// The day to scroll to.
    day: RwSignal<Option<Day>>,
    selection: Selection,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let viewport = viewport(element);
    // Rounded down, so that changes of less than a pixel don't cause a new layout.
    let width = memo(move || viewport.read().width.floor());
    let rem = memo(move || viewport.read().rem.max(1.0));
    let layout = memo(move || {
        let (pending, found) = (pending.read(), found.read());
        Layout::new(&pending, &found, width.get(), size.get(), rem.get())
    });
    let gallery_layout = GalleryLayout { found, layout };
    gallery_layout.focus_after_lightbox(element);
    keys::follow(element, gallery_layout, selection);
    long_press::follow(move || element.get().map(Into::into), selection);
    effect(move || {
        if let Some(wanted) = day.get() {
            day.set(None);
            scroll_to_day(wanted, gallery_layout, element);
        }
    });
    let focused = RwSignal::new(None::<String>);
    let windowed = Windowed::follow(Sources {
        gallery_layout,
        viewport,
        filters,
        focused,
    });
    let headings = move || {
        let today = clock::local(clock::now()).day;
        let (windowed, found) = (windowed.read(), found.read());
        let heading = |span: &DaySpan| {
            let day = match layout.read_untracked().output(span.head.first) {
                Some(first) => dates::day(clock::local(found.get(first)?.created).day, today),
                None => dates::day(today, today),
            };
            let span = *span;
            Some(Item::new(key(span, &day), move || {
                day_heading(day.clone(), span)
            }))
        };
        windowed.days.iter().filter_map(heading).collect()
    };
    let in_tab_order = memo(move || {
        let windowed = windowed.read();
        let tiles = &windowed.tiles;
        let focused = focused
            .get()
            .filter(|name| tiles.iter().any(|tile| tile.0.name() == *name));
        focused.or_else(|| windowed.first_on_screen().map(GalleryEntry::name))
    });
    let context = TileContext {
        selection,
        focused,
        in_tab_order,
        total: memo(move || found.read().len()),
        is_touched: has_coarse_pointer(),
    };
    let pending_tiles = move || {
        let pending = pending.read();
        let item = |(at, place): &(usize, TileRect)| {
            let (entry, place) = (pending.get(*at)?.clone(), *place);
            Some(Item::new(
                format!("{} {place:?}", entry.name()),
                move || pending_tile(&entry, place),
            ))
        };
        windowed.read().pending.iter().filter_map(item).collect()
    };
    let names_in = move |frame| {
        let (found, layout) = (found.read_untracked(), layout.read_untracked());
        let touched = layout.touched(frame).into_iter();
        let names = touched.filter_map(|at| Some(found.get(at)?.name()));
        names.collect()
    };
    view! {
        {pending_status(pending)}
        {new_outputs(windowed)}
        <div
            class="gallery"
            node_ref=element
            style:height=text(move || format!("{:.0}px", layout.read().stack.height()))
        >
            {marquee::marquee(element, names_in, selection)}
            {list(headings)}
            {list(pending_tiles)}
            <ul role="list" aria-label="Outputs" tabindex="-1">
                {tile_list(windowed, context)}
            </ul>
        </div>
    }
}

/// Returns the key of a heading. A heading whose place changes is built again.
fn key(span: DaySpan, day: &str) -> String {
    let DaySpan { head, top, bottom } = span;
    format!("{top} {bottom} {} {} {day}", head.left, head.width)
}

/// The heading of a day, as high as the day, so that its sticky text stays visible while its outputs are.
fn day_heading(day: String, span: DaySpan) -> AnyView {
    let px = |of: f64| format!("{of:.0}px");
    view! {
        <h2
            style:left=px(span.head.left)
            style:top=px(span.top)
            style:width=px(span.head.width)
            style:height=px(span.bottom - span.top)
        >
            <span>{day}</span>
        </h2>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn reads_stored_sizes_and_ignores_invalid_ones() {
        let place = "atelier.gallery.size";
        for (text, size) in [
            ("8", 8.0),
            ("20.5", 20.5),
            ("900", 13.0),
            ("", 13.0),
            ("{}", 13.0),
        ] {
            local::LocalStore::Browser.write(place, text);
            assert_eq!(stored_size(), size, "{text}");
        }
        store_size(20.5);
        let stored = local::LocalStore::Browser.read(place);
        assert_eq!(stored.as_deref(), Some("20.5"));
        local::LocalStore::Browser.remove(place);
        assert_eq!(stored_size(), 13.0);
    }
}
