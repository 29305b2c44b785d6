//! Formats days and times, with the browser's names for weekdays and months.

use atelier_engine::Millis;
use atelier_studio::text::calendar::{Day, DayName};
use js_sys::{Array, Date, Function, Intl, Object, Reflect};
use wasm_bindgen::JsValue;

use super::clock;

/// The locale of the page: English, with the day before the month.
const LOCALE: &str = "en-GB";

thread_local! {
    // The formats are made once, because making one takes much longer than using it.
    static WEEKDAY: Function = format(&[("weekday", "long")]);
    static DATE: Function = format(&[("day", "numeric"), ("month", "long"), ("year", "numeric")]);
}

/// Formats a day as a heading: `Today`, `Yesterday`, `Monday` within the last week, or else `12 March 2026`.
pub fn day(day: Day, today: Day) -> String {
    match day.named(today) {
        DayName::Today => "Today".into(),
        DayName::Yesterday => "Yesterday".into(),
        DayName::Weekday => WEEKDAY.with(|weekday| formatted(weekday, day)),
        DayName::Date => DATE.with(|date| formatted(date, day)),
    }
}

/// Formats a time, as in `Yesterday 09:05`.
pub fn time(then: Millis, now: Millis) -> String {
    let then = clock::local(then);
    let day = day(then.day, clock::local(now).day);
    format!("{day} {:02}:{:02}", then.hour, then.minute)
}

/// Formats a time with seconds, as in `Yesterday 09:05:07`.
pub fn time_with_seconds(then: Millis, now: Millis) -> String {
    let day = day(clock::local(then).day, clock::local(now).day);
    format!("{day} {}", clock::time_of_day(then))
}

/// Formats a time for use within a sentence, as in `yesterday 09:05`. A time of today has no day.
pub fn as_of(then: Millis, now: Millis) -> String {
    let time = time(then, now);
    match time.strip_prefix("Today ") {
        Some(time) => time.to_owned(),
        None => time.replacen("Yesterday", "yesterday", 1),
    }
}

fn format(parts: &[(&str, &str)]) -> Function {
    let options = Object::new();
    for (part, how) in parts {
        // A plain object takes any property.
        let _ = Reflect::set(&options, &(*part).into(), &(*how).into());
    }
    Intl::DateTimeFormat::new(&Array::of1(&LOCALE.into()), &options).format()
}

fn formatted(format: &Function, day: Day) -> String {
    let date = Date::new(&JsValue::from_f64(clock::start_of(day) as f64));
    let text = format.call1(&JsValue::UNDEFINED, &date);
    // Fails only for an invalid date.
    text.ok()
        .and_then(|text| text.as_string())
        .unwrap_or_else(|| day.iso())
}
