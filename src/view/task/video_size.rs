//! The size of a model's latest video for each aspect ratio. The layout reserves this much space for the next one,
//! because the size of a video is unknown until it is loaded.

use atelier_contract::ModelId;

use crate::browser::local::LocalStore;

/// Returns the width and height in pixels of the latest video with this aspect ratio.
pub fn last_size(model: &ModelId, ratio: &str) -> Option<(u32, u32)> {
    let stored = LocalStore::Browser.read(&storage_key(model, ratio))?;
    let (width, height) = stored.split_once('x')?;
    let sides = (width.parse().ok()?, height.parse().ok()?);
    Some(sides).filter(|(width, height)| *width > 0 && *height > 0)
}

/// Stores the size of a loaded video. Without a stored size, the layout may shift when the next video is loaded.
pub fn store_size(model: &ModelId, ratio: &str, (width, height): (u32, u32)) {
    if last_size(model, ratio) != Some((width, height)) {
        LocalStore::Browser.write(&storage_key(model, ratio), &format!("{width}x{height}"));
    }
}

fn storage_key(model: &ModelId, ratio: &str) -> String {
    format!("atelier.film_sides.{model}.{}", ratio.replace(' ', ""))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_size_is_read_back_and_invalid_values_are_ignored() {
        const KEY: &str = "atelier.film_sides.video/silk.16/9";
        let model = ModelId {
            category: "video".into(),
            subcategory: "silk".into(),
        };
        store_size(&model, "16 / 9", (480, 270));
        assert_eq!(LocalStore::Browser.read(KEY).as_deref(), Some("480x270"));
        assert_eq!(last_size(&model, "16 / 9"), Some((480, 270)));
        assert_eq!(last_size(&model, "9 / 16"), None);
        for invalid in ["", "480", "0x270", "axb", "-1x2"] {
            LocalStore::Browser.write(KEY, invalid);
            assert_eq!(last_size(&model, "16 / 9"), None, "{invalid}");
        }
        LocalStore::Browser.remove(KEY);
    }
}
