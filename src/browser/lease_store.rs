//! Storage of the lease by which tabs agree on which of them leads. It is in `localStorage`, or, where that is
//! full, in a cookie: every tab sees both, and both are read and written synchronously.

use atelier_engine::lease::{self, Found, Lease};
use js_sys::Reflect;
use leptos::prelude::{document, window};

use super::clock;
use super::local::LocalStore;

const KEY: &str = "atelier.leader";

/// How long a browser keeps the cookie, in seconds: longer than a lease, of which a tab is to see that
/// it has ended.
const COOKIE_AGE_S: u32 = 60;

/// Gives the lease that the tab `me` has to go by.
pub fn read(me: &str) -> Found {
    let Some(text) = LocalStore::Browser.try_read(KEY) else {
        return Found::Refused;
    };
    let leases = lease_in(text).into_iter().chain(cookie());
    lease::governing(leases, me, clock::now()).map_or(Found::Nothing, Found::Lease)
}

/// Whether other tabs can see it.
pub fn write(lease: &Lease) -> bool {
    if LocalStore::Browser.write(KEY, &lease.to_text()) {
        return true;
    }
    set_cookie(&lease.to_text(), COOKIE_AGE_S);
    cookie().as_ref() == Some(lease)
}

/// Takes back what `me` has written.
pub fn remove(me: &str) {
    let is_own = |lease: &Lease| lease.holder == me;
    if lease_in(LocalStore::Browser.read(KEY)).is_some_and(|lease| is_own(&lease)) {
        LocalStore::Browser.remove(KEY);
    }
    if cookie().is_some_and(|lease| is_own(&lease)) {
        set_cookie("", 0);
    }
}

fn lease_in(text: Option<String>) -> Option<Lease> {
    Lease::parse(&text?)
}

/// Ports of one host share their cookies.
fn cookie_name() -> String {
    let port = window().location().port().unwrap_or_default();
    format!("{KEY}.{port}")
}

fn cookie() -> Option<Lease> {
    let all = Reflect::get(&document(), &"cookie".into())
        .ok()?
        .as_string()?;
    let name = cookie_name();
    let mut cookies = all.split("; ").filter_map(|cookie| cookie.split_once('='));
    let (_, text) = cookies.find(|(key, _)| *key == name)?;
    Lease::parse(&text.replace('/', " "))
}

fn set_cookie(text: &str, age_s: u32) {
    let (name, text) = (cookie_name(), text.replace(' ', "/"));
    let cookie = format!("{name}={text}; Max-Age={age_s}; Path=/; SameSite=Strict");
    // If the browser refuses cookies, the lease is not there when it is read again.
    let _ = Reflect::set(&document(), &"cookie".into(), &cookie.into());
}
