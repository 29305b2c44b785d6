use atelier_engine::stored_output;
use leptos::prelude::*;
use web_sys::Url;

use crate::reactive::boxed::spawn;
use crate::state::contexts::contexts;

/// Room for the address of a kept copy; empty until it is shown. The address is good for as long as
/// the view in which the room is made.
pub fn address_of_copy() -> RwSignal<String> {
    let address = RwSignal::new(String::new());
    on_cleanup(move || {
        if let Some(address) = address.try_get_untracked() {
            // The browser holds the bytes until it is told.
            let _ = Url::revoke_object_url(&address);
        }
    });
    address
}

/// The address from which an output is shown: of one that came as data that of its file, empty until it is found. `on_gone` is
/// called where it is not.
pub fn stored_file(name: &str, url: &str, on_gone: impl FnOnce() + 'static) -> RwSignal<String> {
    let address = address_of_copy();
    if !stored_output::is_reference(url) {
        address.set(url.to_owned());
        return address;
    }
    let (runner, name) = (contexts().runner, name.to_owned());
    spawn(async move {
        let file = runner.copy(&name).await;
        let made = file.and_then(|file| Url::create_object_url_with_blob(&file).ok());
        match made.map(|made| address.try_set(made)) {
            // The view has gone meanwhile.
            Some(Some(unwanted)) => drop(Url::revoke_object_url(&unwanted)),
            Some(None) => {}
            None if address.is_disposed() => {}
            None => on_gone(),
        }
    });
    address
}
