use atelier::App;
use leptos::prelude::*;

fn main() {
    atelier::browser::panic::set_hook();
    // What the page shows until now is a sentence for browsers without WebAssembly.
    if let Some(boot) = document().get_element_by_id("boot") {
        boot.remove();
    }
    mount_to_body(App);
}
