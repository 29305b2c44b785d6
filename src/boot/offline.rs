//! Atelier as an app that can be installed and opens without a network. In release builds, a service worker caches the page
//! unless the user switches offline use off; `cached_models.rs` caches the replies of services about their models.

use gloo_timers::future::TimeoutFuture;

use crate::browser::local::LocalStore;
use crate::browser::storage::replies;
use crate::browser::{head, typing, worker};
use crate::reactive::boxed::spawn;

/// The key in `localStorage` of the user's choice. The value is [`OFF`]; there is no value if offline use is on.
const KEY: &str = "atelier.offline";
const OFF: &str = "off";

/// The delay of work that is not urgent, in milliseconds.
pub const NON_URGENT_DELAY_MS: u32 = 3_000;

/// Links the manifest, and registers the service worker if offline use is on, when the user pauses typing.
pub fn begin() {
    spawn(async {
        TimeoutFuture::new(NON_URGENT_DELAY_MS - typing::PAUSE_MS).await;
        // With few processors, the worker slows down the page.
        typing::pause().await;
        head::link_manifest();
        if is_wanted() {
            start().await;
        }
    });
}

/// Returns whether the user can switch offline use on and off.
pub fn is_possible() -> bool {
    head::release().is_some() && worker::is_possible()
}

/// Returns whether offline use is switched on, which is the default.
pub fn is_wanted() -> bool {
    LocalStore::Browser.read(KEY).as_deref() != Some(OFF)
}

/// Switches offline use on or off. Returns whether that worked.
pub async fn set_wanted(is_wanted: bool) -> bool {
    if is_wanted {
        LocalStore::Browser.remove(KEY);
        return start().await;
    }
    let is_kept = LocalStore::Browser.write(KEY, OFF);
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
    async fn stored_choice_is_read_and_written() {
        LocalStore::Browser.remove("atelier.offline");
        assert!(is_wanted());
        LocalStore::Browser.write("atelier.offline", "off");
        assert!(!is_wanted());
        LocalStore::Browser.write("atelier.offline", "of a later version");
        assert!(is_wanted());
        assert!(set_wanted(false).await);
        let stored = LocalStore::Browser.read("atelier.offline");
        assert_eq!(stored.as_deref(), Some("off"));
        // A page that is not a release has nothing to cache.
        assert!(!set_wanted(true).await);
        assert_eq!(LocalStore::Browser.read("atelier.offline"), None);
    }
}
