use leptos::prelude::*;
use web_sys::Url;

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
