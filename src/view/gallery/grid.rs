use std::ops::RangeInclusive;

use atelier_studio::gallery::GalleryEntry;
use atelier_studio::gallery::days::DaySpan;
use atelier_studio::text::calendar::Day;
use leptos::html::Div;
use leptos::prelude::*;

use super::arrivals::arrivals;
use super::laid::{Laid, Layout, USUAL_SIZE};
use super::narrowing::Narrowing;
use super::selection::Selection;
use super::tile::{Around, TileRect};
use super::tile_list::tile_list;
use super::waiting::{waiting_status, waiting_tile};
use super::windowed::{Sources, Windowed};
use super::{focus, keys, long_press, marquee};
use crate::browser::local;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{effect, memo, text};
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::{has_coarse_pointer, viewport};

/// How high the rows may be asked to be, in `rem`.
pub const SIZES: RangeInclusive<f64> = 8.0..=28.0;

/// In `localStorage`: the height that was chosen last, in `rem`.
const SIZE_KEY: &str = "atelier.gallery.size";

pub fn kept_size() -> f64 {
    let kept = local::LocalStore::Browser.read(SIZE_KEY);
    let kept = kept.and_then(|text| text.parse().ok());
    kept.filter(|size| SIZES.contains(size))
        .unwrap_or(USUAL_SIZE)
}

pub fn keep_size(rem: f64) {
    // Refused, it is as large as ever the next time.
    local::LocalStore::Browser.write(SIZE_KEY, &rem.to_string());
}

/// Goes to the first output of the day, or of the nearest day before it, or else to the oldest.
fn go_to_day(day: Day, laid: Laid, gallery: NodeRef<Div>) {
    let end = clock::start_of(day.next());
    let (found, layout) = (laid.found.read_untracked(), laid.layout.read_untracked());
    let at = found.partition_point(|entry| entry.created >= end);
    let at = at.min(found.len().saturating_sub(1));
    if let Some(place) = layout.place(at) {
        focus::scroll_to_place(gallery, place.top, place.height);
    }
}

/// The outputs near the screen, in rows by day; the others are only room.
#[component]
pub fn Grid(
    found: Memo<Vec<GalleryEntry>>,
    /// What is on its way.
    waiting: Memo<Vec<GalleryEntry>>,
    /// What both are narrowed by.
    asked: Memo<(Narrowing, String)>,
    /// The height of a row in `rem`.
    size: RwSignal<f64>,
    /// The day to go to.
    day: RwSignal<Option<Day>>,
    selection: Selection,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    // Whole pixels: a width that trembles would lay everything out anew.
    let width = memo(move || seen.read().width.floor());
    let rem = memo(move || seen.read().rem.max(1.0));
    let layout = memo(move || {
        let (waiting, found) = (waiting.read(), found.read());
        Layout::new(&waiting, &found, width.get(), size.get(), rem.get())
    });
    let laid = Laid { found, layout };
    laid.follow_lightbox(element);
    keys::follow(element, laid, selection);
    long_press::follow(move || element.get().map(Into::into), selection);
    effect(move || {
        if let Some(wanted) = day.get() {
            day.set(None);
            go_to_day(wanted, laid, element);
        }
    });
    let focused = RwSignal::new(None::<String>);
    let windowed = Windowed::follow(Sources {
        laid,
        seen,
        asked,
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
    let around = Around {
        selection,
        focused,
        in_tab_order,
        total: memo(move || found.read().len()),
        is_touched: has_coarse_pointer(),
    };
    let coming = move || {
        let waiting = waiting.read();
        let item = |(at, place): &(usize, TileRect)| {
            let (entry, place) = (waiting.get(*at)?.clone(), *place);
            Some(Item::new(
                format!("{} {place:?}", entry.name()),
                move || waiting_tile(&entry, place),
            ))
        };
        windowed.read().waiting.iter().filter_map(item).collect()
    };
    let touched = move |frame| {
        let (found, layout) = (found.read_untracked(), layout.read_untracked());
        let touched = layout.touched(frame).into_iter();
        let names = touched.filter_map(|at| Some(found.get(at)?.name()));
        names.collect()
    };
    view! {
        {waiting_status(waiting)}
        {arrivals(windowed)}
        <div
            class="gallery"
            node_ref=element
            style:height=text(move || format!("{:.0}px", layout.read().stack.height()))
        >
            {marquee::marquee(element, touched, selection)}
            {list(headings)}
            {list(coming)}
            <ul role="list" aria-label="Outputs" tabindex="-1">
                {tile_list(windowed, around)}
            </ul>
        </div>
    }
}

/// What tells a heading apart: one that lies elsewhere is made anew.
fn key(span: DaySpan, day: &str) -> String {
    let DaySpan { head, top, bottom } = span;
    format!("{top} {bottom} {} {} {day}", head.left, head.width)
}

/// As high as its day: its words stay at the top of the screen as long as anything of it is below.
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
    fn a_stored_size_is_read_as_it_was() {
        let place = "atelier.gallery.size";
        for (text, size) in [
            ("8", 8.0),
            ("20.5", 20.5),
            ("900", 13.0),
            ("", 13.0),
            ("{}", 13.0),
        ] {
            local::LocalStore::Browser.write(place, text);
            assert_eq!(kept_size(), size, "{text}");
        }
        keep_size(20.5);
        let stored = local::LocalStore::Browser.read(place);
        assert_eq!(stored.as_deref(), Some("20.5"));
        local::LocalStore::Browser.remove(place);
        assert_eq!(kept_size(), 13.0);
    }
}
