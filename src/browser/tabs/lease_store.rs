//! The lease by which tabs agree on which of them leads, in `localStorage`: every tab sees it, and it is read and written
//! synchronously.
//!
//! It always has the same length, and is overwritten rather than removed: a value of the same length can also be written
//! when `localStorage` is full.

use atelier_engine::lease::{Lease, StoredLease};

use crate::browser::local::LocalStore;

const KEY: &str = "atelier.leader";

/// The key that is removed to make space for the lease: the aspect ratios of models' outputs, which are recorded again.
const EXPENDABLE: &str = "atelier.shapes";

/// The length of the text, in bytes; it is padded with spaces, which [`Lease::parse`] ignores.
const LENGTH: usize = 64;

/// Reads the lease. A released lease counts as missing.
pub fn read() -> StoredLease {
    match LocalStore::Browser.try_read(KEY) {
        None => StoredLease::Unreadable,
        Some(text) => text
            .and_then(|text| Lease::parse(&text))
            .filter(|lease| lease.until > 0)
            .map_or(StoredLease::Missing, StoredLease::Lease),
    }
}

/// Writes the lease. Returns whether the browser stored it, so that other tabs can see it.
pub fn write(lease: &Lease) -> bool {
    let text = format!("{:<LENGTH$}", lease.to_text());
    if LocalStore::Browser.write(KEY, &text) {
        return true;
    }
    // There was no lease to overwrite, and no space is left.
    LocalStore::Browser.remove(EXPENDABLE);
    LocalStore::Browser.write(KEY, &text)
}

/// Releases the lease if `me` holds it.
pub fn release(me: &str) {
    if let StoredLease::Lease(lease) = read()
        && lease.holder == me
    {
        let ended = Lease {
            until: 0,
            locked: false,
            ..lease
        };
        // If storage refuses, the lease expires.
        write(&ended);
    }
}
