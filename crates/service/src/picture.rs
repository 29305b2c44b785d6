//! Converts images of any accepted format to what the built-in models read.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{
    ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, Limits, Rgb,
    RgbImage, Rgba,
};

/// The longest side that the built-in models read, in pixels. Larger images are scaled down.
pub const MAX_SIDE: u32 = 1536;

/// The maximum memory of a decoder, in bytes.
const MAX_DECODED: u64 = 512 << 20;

/// Returns the image as PNG with 8-bit RGB: upright, on white, with at most [`MAX_SIDE`] pixels on a side. An image that
/// is so already is returned unchanged.
///
/// # Errors
///
/// The format is not supported, the file is damaged, or it takes too much memory.
pub fn to_plain_png(bytes: Vec<u8>) -> ImageResult<Vec<u8>> {
    let plain = plain_image(&bytes)?;
    Ok(plain.unwrap_or(bytes))
}

/// Returns the converted image; `None` if no conversion is necessary.
fn plain_image(bytes: &[u8]) -> ImageResult<Option<Vec<u8>>> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let is_png = reader.format() == Some(ImageFormat::Png);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    // Metadata that can't be read has no orientation.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let (width, height) = decoder.dimensions();
    let is_large = width.max(height) > MAX_SIDE;
    let is_plain = decoder.color_type() == ColorType::Rgb8;
    if is_png && is_plain && !is_large && orientation == Orientation::NoTransforms {
        return Ok(None);
    }
    let mut image = DynamicImage::from_decoder(decoder)?;
    if is_large {
        image = image.thumbnail(MAX_SIDE, MAX_SIDE);
    }
    image.apply_orientation(orientation);
    let mut png = Cursor::new(Vec::new());
    on_white(&image).write_to(&mut png, ImageFormat::Png)?;
    Ok(Some(png.into_inner()))
}

fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let image = image.to_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *image.get_pixel(x, y);
        let over_white = |channel: u8| {
            let mixed = u16::from(channel) * u16::from(alpha) + 255 * u16::from(255 - alpha);
            (mixed / 255) as u8
        };
        Rgb([red, green, blue].map(over_white))
    })
}

#[cfg(test)]
mod tests {
    use image::RgbaImage;

    use super::*;

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn plain_pngs_are_unchanged() {
        let png = encoded(&DynamicImage::new_rgb8(5, 4), ImageFormat::Png);
        assert_eq!(to_plain_png(png.clone()).unwrap(), png);
    }

    #[test]
    fn other_images_become_plain_pngs() {
        let gray = DynamicImage::new_luma8(5, 4);
        for format in [ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Png] {
            let png = to_plain_png(encoded(&gray, format)).unwrap();
            let image = image::load_from_memory_with_format(&png, ImageFormat::Png).unwrap();
            assert_eq!(image.color(), ColorType::Rgb8, "{format:?}");
            assert_eq!((image.width(), image.height()), (5, 4), "{format:?}");
        }
        assert!(to_plain_png(b"no image".to_vec()).is_err());
    }

    #[test]
    fn large_images_are_scaled_down() {
        let wide = encoded(&DynamicImage::new_rgb8(3072, 20), ImageFormat::Png);
        let image = image::load_from_memory(&to_plain_png(wide).unwrap()).unwrap();
        assert_eq!((image.width(), image.height()), (1536, 10));
    }

    #[test]
    fn transparent_pixels_are_white() {
        let mut image = RgbaImage::new(2, 1);
        image.put_pixel(0, 0, Rgba([0, 0, 0, 0]));
        image.put_pixel(1, 0, Rgba([200, 0, 0, 255]));
        let png = to_plain_png(encoded(&image.into(), ImageFormat::Png)).unwrap();
        let image = image::load_from_memory(&png).unwrap().to_rgb8();
        assert_eq!(*image.get_pixel(0, 0), Rgb([255, 255, 255]));
        assert_eq!(*image.get_pixel(1, 0), Rgb([200, 0, 0]));
    }
}
