use atelier_engine::Millis;

/// The wall clock, in milliseconds since the Unix epoch. It goes on while the machine sleeps, which
/// `performance.now()` does not in every browser.
pub fn now() -> Millis {
    js_sys::Date::now() as Millis
}

/// How far local time is ahead of UTC at present, in minutes.
pub fn offset() -> i32 {
    -(js_sys::Date::new_0().get_timezone_offset() as i32)
}

/// An HTTP date in milliseconds since the Unix epoch.
pub fn http_date(text: &str) -> Option<Millis> {
    let at = js_sys::Date::parse(text);
    (at >= 0.0).then_some(at as Millis)
}
