use atelier_engine::Millis;
use atelier_studio::text::calendar::{Day, Local};
use js_sys::Date;
use wasm_bindgen::JsValue;

/// The wall clock, in milliseconds since the Unix epoch. It goes on while the machine sleeps, which
/// `performance.now()` does not in every browser.
pub fn now() -> Millis {
    Date::now() as Millis
}

/// Gives the date and the time of day at a point in time, by the person's time zone as it was then.
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

/// When a day begins where the person is.
pub fn start_of(day: Day) -> Millis {
    let (month, of_month) = (day.month as i32 - 1, day.day as i32);
    Date::new_with_year_month_day(day.year as u32, month, of_month).get_time() as Millis
}

/// An HTTP date in milliseconds since the Unix epoch.
pub fn http_date(text: &str) -> Option<Millis> {
    let at = Date::parse(text);
    (at >= 0.0).then_some(at as Millis)
}
