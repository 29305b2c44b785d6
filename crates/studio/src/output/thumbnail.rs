//! Computes the sizes of thumbnails. They replace large images where outputs are shown small, because they decode fast
//! and need no network.

/// The height of a thumbnail in image pixels. It is sufficient for a large tile on a screen with a device pixel ratio
/// of 2.
const HEIGHT: f64 = 480.0;

/// The maximum width of a thumbnail in image pixels.
const MAX_WIDTH: f64 = 1_280.0;

/// The maximum ratio of a thumbnail's size to that of its image. Larger thumbnails are not worth storing.
const WORTH: f64 = 0.8;

/// The maximum device pixel ratio that makes a visible difference.
const MAX_RATIO: f64 = 2.0;

/// The factor by which an image can be enlarged without looking blurred.
const SOFT: f64 = 1.3;

/// Returns the size of the thumbnail for an image of this size, in pixels. `None` if the image is small, or has no
/// size.
pub fn size(width: u32, height: u32) -> Option<(u32, u32)> {
    let [width, height] = [f64::from(width), f64::from(height)];
    if width < 1.0 || height < 1.0 {
        return None;
    }
    let scale = (HEIGHT / height).min(MAX_WIDTH / width);
    let scaled = |side: f64| (side * scale).round().max(1.0) as u32;
    (scale <= WORTH).then(|| (scaled(width), scaled(height)))
}

/// Whether an image of this height in pixels looks sharp at `shown` px on a screen with this pixel `ratio`.
pub fn is_sharp(height: u32, shown: f64, ratio: f64) -> bool {
    f64::from(height) * SOFT >= shown * ratio.min(MAX_RATIO)
}

#[cfg(test)]
mod tests {
    use super::{is_sharp, size};
    use proptest::prelude::*;

    #[test]
    fn only_large_images_have_a_thumbnail() {
        assert_eq!(size(768, 1024), Some((360, 480)));
        assert_eq!(size(4096, 4096), Some((480, 480)));
        assert_eq!(size(8000, 1000), Some((1280, 160)));
        assert_eq!(size(1024, 682), Some((721, 480)));
        assert_eq!(size(590, 590), None);
        assert_eq!(size(0, 0), None, "an SVG without a size");
        assert_eq!(size(1, 100_000), Some((1, 480)));
    }

    #[test]
    fn a_large_tile_on_a_high_density_screen_is_sharp() {
        assert!(is_sharp(480, 58.0, 3.0));
        assert!(is_sharp(480, 300.0, 2.0));
        assert!(!is_sharp(480, 400.0, 2.0));
        assert!(is_sharp(480, 400.0, 1.0));
        assert!(!is_sharp(160, 200.0, 2.0));
    }

    proptest! {
        #[test]
        fn a_thumbnail_is_smaller_and_has_the_same_shape(width in 1..20_000u32, height in 1..20_000u32) {
            if let Some((small_width, small_height)) = size(width, height) {
                prop_assert!(small_width < width.max(2) && small_height < height.max(2));
                prop_assert!(small_width >= 1 && small_height >= 1);
                let by_width = f64::from(small_width) * f64::from(height);
                let by_height = f64::from(small_height) * f64::from(width);
                // A difference of up to one pixel is allowed, on either side.
                let pixel = f64::from(width.max(height));
                prop_assert!((by_width - by_height).abs() <= pixel);
            }
        }
    }
}
