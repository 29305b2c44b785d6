use atelier_engine::stored_output;
use leptos::prelude::*;
use web_sys::Url;

use crate::reactive::boxed::spawn;
use crate::state::contexts::contexts;

/// Returns an empty signal for the object URL of a stored output. The URL is revoked when the current owner is disposed.
pub fn object_url_signal() -> RwSignal<String> {
    let address = RwSignal::new(String::new());
    on_cleanup(move || {
        if let Some(address) = address.try_get_untracked() {
            // The browser keeps the bytes in memory until the URL is revoked.
            let _ = Url::revoke_object_url(&address);
        }
    });
    address
}

/// Returns the URL from which an output is shown.
///
/// For an output that was sent inside a reply, this is an object URL of the stored file, empty until the file is read.
/// `on_gone`: called if the file isn't stored.
pub fn stored_file(name: &str, url: &str, on_gone: impl FnOnce() + 'static) -> RwSignal<String> {
    let address = object_url_signal();
    if !stored_output::is_reference(url) {
        address.set(url.to_owned());
        return address;
    }
    let (runner, name) = (contexts().runner, name.to_owned());
    spawn(async move {
        let file = runner.copy(&name).await;
        let created = file.and_then(|file| Url::create_object_url_with_blob(&file).ok());
        match created.map(|created| address.try_set(created)) {
            // The view was disposed meanwhile.
            Some(Some(unused)) => drop(Url::revoke_object_url(&unused)),
            Some(None) => {}
            None if address.is_disposed() => {}
            None => on_gone(),
        }
    });
    address
}
