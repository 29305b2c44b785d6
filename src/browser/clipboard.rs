use leptos::prelude::window;
use wasm_bindgen_futures::JsFuture;

/// Whether the text is on the clipboard now. The browser may refuse, e.g. on a page that is not
/// served over https or localhost.
pub async fn copy(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}
