//! Atelier as an app: it can be installed, and opens without network. A service worker keeps the page
//! itself, in release builds, unless a person does not want it; what services said of their models is kept next to it
//! (`cached_models.rs`).

use gloo_timers::future::TimeoutFuture;

use crate::browser::local::LocalStore;
use crate::browser::storage::replies;
use crate::browser::{head, typing, worker};
use crate::reactive::boxed::spawn;

/// In `localStorage`: [`OFF`], or nothing.
const PLACE: &str = "atelier.offline";
const OFF: &str = "off";

/// What the page has to do comes first, in milliseconds.
pub const LATE_MS: u32 = 3_000;

pub fn begin() {
    spawn(async {
        TimeoutFuture::new(LATE_MS - typing::PAUSE_MS).await;
        // On few processors the worker takes its time from the page.
        typing::pause().await;
        head::link_manifest();
        if is_wanted() {
            start().await;
        }
    });
}

/// A person may switch it on and off.
pub fn is_possible() -> bool {
    head::release().is_some() && worker::is_possible()
}

pub fn is_wanted() -> bool {
    LocalStore::Browser.read(PLACE).as_deref() != Some(OFF)
}

/// Whether it could be done.
pub async fn want(is_wanted: bool) -> bool {
    if is_wanted {
        LocalStore::Browser.remove(PLACE);
        return start().await;
    }
    let is_kept = LocalStore::Browser.write(PLACE, OFF);
    worker::stop().await;
    replies::clear().await;
    is_kept
}

async fn start() -> bool {
    match head::release() {
        Some(release) => worker::start(&release, is_wanted).await,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    async fn a_stored_no_is_read_and_written_as_it_was() {
        LocalStore::Browser.remove("atelier.offline");
        assert!(is_wanted());
        LocalStore::Browser.write("atelier.offline", "off");
        assert!(!is_wanted());
        LocalStore::Browser.write("atelier.offline", "of a later version");
        assert!(is_wanted());
        assert!(want(false).await);
        let stored = LocalStore::Browser.read("atelier.offline");
        assert_eq!(stored.as_deref(), Some("off"));
        // Of a page that is no release there is nothing to keep.
        assert!(!want(true).await);
        assert_eq!(LocalStore::Browser.read("atelier.offline"), None);
    }
}
