use atelier_engine::Millis;
use atelier_studio::text::calendar::{Day, Local};
use js_sys::Date;
use wasm_bindgen::JsValue;

/// Returns the wall clock time in milliseconds since the Unix epoch. It advances while the machine sleeps, unlike
/// `performance.now()` in some browsers.
pub fn now() -> Millis {
    Date::now() as Millis
}

/// Converts a time to a date and a time of day in the user's time zone.
pub fn local(then: Millis) -> Local {
    let date = Date::new(&JsValue::from_f64(then as f64));
    Local {
        day: Day {
            year: i64::from(date.get_full_year()),
            month: i64::from(date.get_month()) + 1,
            day: i64::from(date.get_date()),
        },
        hour: date.get_hours(),
        minute: date.get_minutes(),
    }
}

/// Formats the time of day in the user's time zone, with seconds: `09:05:07`.
pub fn time_of_day(then: Millis) -> String {
    let date = Date::new(&JsValue::from_f64(then as f64));
    let (hour, minute, second) = (date.get_hours(), date.get_minutes(), date.get_seconds());
    format!("{hour:02}:{minute:02}:{second:02}")
}

/// Returns the time when a day begins in the user's time zone.
pub fn start_of(day: Day) -> Millis {
    let (month, of_month) = (day.month as i32 - 1, day.day as i32);
    Date::new_with_year_month_day(day.year as u32, month, of_month).get_time() as Millis
}

/// Parses an HTTP date, and returns milliseconds since the Unix epoch.
pub fn parse_http_date(text: &str) -> Option<Millis> {
    let at = Date::parse(text);
    (at >= 0.0).then_some(at as Millis)
}
