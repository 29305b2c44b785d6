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
