//! How large the films of a model are: it is not known before one is loaded, but the next one will be as large as the
//! last of its shape was, and so is the place that is kept for it.

use atelier_contract::ModelId;

use crate::browser::local::LocalStore;

/// Width and height in pixels of the last film of this shape.
pub fn last(model: &ModelId, ratio: &str) -> Option<(u32, u32)> {
    let kept = LocalStore::Browser.read(&place(model, ratio))?;
    let (width, height) = kept.split_once('x')?;
    let sides = (width.parse().ok()?, height.parse().ok()?);
    Some(sides).filter(|(width, height)| *width > 0 && *height > 0)
}

/// Where nothing is kept, a film may make its place smaller as it comes.
pub fn keep(model: &ModelId, ratio: &str, (width, height): (u32, u32)) {
    if last(model, ratio) != Some((width, height)) {
        LocalStore::Browser.write(&place(model, ratio), &format!("{width}x{height}"));
    }
}

fn place(model: &ModelId, ratio: &str) -> String {
    format!("atelier.film_sides.{model}.{}", ratio.replace(' ', ""))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn what_is_kept_is_read_as_it_was() {
        const PLACE: &str = "atelier.film_sides.video/silk.16/9";
        let model = ModelId {
            category: "video".into(),
            subcategory: "silk".into(),
        };
        keep(&model, "16 / 9", (480, 270));
        assert_eq!(LocalStore::Browser.read(PLACE).as_deref(), Some("480x270"));
        assert_eq!(last(&model, "16 / 9"), Some((480, 270)));
        assert_eq!(last(&model, "9 / 16"), None);
        for odd in ["", "480", "0x270", "axb", "-1x2"] {
            LocalStore::Browser.write(PLACE, odd);
            assert_eq!(last(&model, "16 / 9"), None, "{odd}");
        }
        LocalStore::Browser.remove(PLACE);
    }
}
