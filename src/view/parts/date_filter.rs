//! A filter by date of creation. Its first and last day are query parameters.

use std::ops::Range;

use atelier_engine::Millis;
use atelier_studio::text::calendar::{self, Day};
use icondata_lu::LuCalendarDays;
use leptos::prelude::*;

use crate::browser::{clock, dates};
use crate::reactive::boxed::{handler, text, when};
use crate::state::navigation::Navigation;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;

/// Element id of the popover.
const DATES: &str = "filter-dates";

/// Returns the selected range of creation times, or `None` without a filter; tracked.
pub fn created(navigation: Navigation) -> Option<Range<Millis>> {
    let day = |name| Day::read(&navigation.query(name)?);
    let (from, to) = (day("from"), day("to"));
    let from_start = from.map_or(0, clock::start_of);
    let to_end = to.map_or(u64::MAX, |to| clock::start_of(to.next()));
    (from.is_some() || to.is_some()).then_some(from_start..to_end)
}

/// Returns a button that shows the selected dates and opens a popover to change them. On phones, where all filters are
/// behind one button, the style sheet shows the content of the popover in place.
///
/// `more`: content below the dates.
pub fn dates(navigation: Navigation, more: impl IntoAny) -> AnyView {
    let label = text(move || {
        let today = clock::local(clock::now()).day;
        let day = |name| Some(dates::day(Day::read(&navigation.query(name)?)?, today));
        match (day("from"), day("to")) {
            (None, None) => "Any date".to_owned(),
            (Some(from), None) => format!("From {from}"),
            (None, Some(to)) => format!("Until {to}"),
            (Some(from), Some(to)) if from == to => from,
            (Some(from), Some(to)) => format!("{from} – {to}"),
        }
    });
    let is_set = move || navigation.query("from").is_some() || navigation.query("to").is_some();
    let clear = move |_| {
        navigation.set_query("from", None);
        navigation.set_query("to", None);
        // The button disappears.
        focus::when_lost(|| {
            focus::to(&format!("#{DATES} input"));
        });
    };
    view! {
        <button class="button small filter-dates" type="button" popovertarget=DATES>
            <Glyph icon=LuCalendarDays />
            <span prop:textContent=label></span>
        </button>
        <div class="menu" id=DATES popover="auto">
            {date(navigation, "from", "From")} {date(navigation, "to", "To")}
            <p class="problem" role="status" prop:textContent=text(move || {
                    let day = |name| Day::read(&navigation.query(name)?);
                    calendar::range_problem(day("from"), day("to")).unwrap_or_default().to_owned()
                })></p>
            <button
                class="button quiet"
                type="button"
                hidden=when(move || !is_set())
                on:click=handler(clear)
            >
                "Clear the dates"
            </button>
            {more.into_any()}
        </div>
    }
    .into_any()
}

fn date(navigation: Navigation, name: &'static str, label: &'static str) -> AnyView {
    view! {
        <label class="filter-date">
            {label}
            <input
                type="date"
                prop:value=text(move || navigation.query(name).unwrap_or_default())
                on:change=handler(move |event| {
                    let date = event_target_value(&event);
                    navigation.set_query(name, Some(date.as_str()).filter(|date| !date.is_empty()));
                })
            />
        </label>
    }
    .into_any()
}
