//! Decodes images of all accepted formats, with bounds on memory, and converts them to what the built-in models read.

use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use image::metadata::Orientation;
use image::{
    ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Pixel,
    Rgb, RgbImage, Rgba, RgbaImage,
};
use thiserror::Error;

/// The longest side that the built-in models read, in pixels. Larger images are scaled down.
pub const MAX_SIDE: u32 = 1536;

/// The maximum number of pixels of an image.
pub const MAX_PIXELS: u64 = 64_000_000;

/// The maximum memory of the pixels and of the decoder, in bytes: [`MAX_PIXELS`] with four channels of 16 bits.
const MAX_DECODED: u64 = MAX_PIXELS * 8;

/// Decoding one image at a time limits the memory of the process.
static DECODING: Mutex<()> = Mutex::new(());

/// Why an image can't be used.
#[derive(Debug, Error)]
pub enum PictureError {
    #[error(
        "it has {0} × {1} pixels; at most {max} million are accepted",
        max = MAX_PIXELS / 1_000_000
    )]
    TooManyPixels(u32, u32),
    #[error("it is damaged")]
    Damaged,
    #[error(transparent)]
    Decoding(#[from] ImageError),
    #[error(transparent)]
    Reading(#[from] io::Error),
}

/// An image whose dimensions were checked, before its pixels are decoded.
struct Opened<D> {
    decoder: D,
    format: Option<ImageFormat>,
    orientation: Orientation,
    /// Width and height in pixels, as stored.
    size: (u32, u32),
}

/// Decodes an image. Returns its width and height in pixels, with its orientation applied.
///
/// # Errors
///
/// It is damaged, has more than [`MAX_PIXELS`], or can't be read.
pub fn check(reader: impl BufRead + Seek) -> Result<(u32, u32), PictureError> {
    let _one_at_a_time = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let Opened {
        decoder,
        orientation,
        size: (width, height),
        ..
    } = open(reader)?;
    DynamicImage::from_decoder(decoder)?;
    Ok(match is_turned(orientation) {
        true => (height, width),
        false => (width, height),
    })
}

/// Returns the image as PNG with 8-bit RGB: upright, on white, with at most [`MAX_SIDE`] pixels on a side. An image
/// that already has this form is returned unchanged.
///
/// # Errors
///
/// As for [`check`].
pub fn to_plain_png(bytes: Vec<u8>) -> Result<Vec<u8>, PictureError> {
    let converted = convert(&bytes)?;
    Ok(converted.unwrap_or(bytes))
}

/// Returns the converted image; `None` if no conversion is necessary.
fn convert(bytes: &[u8]) -> Result<Option<Vec<u8>>, PictureError> {
    let _one_at_a_time = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = open(Cursor::new(bytes))?;
    let (width, height) = opened.size;
    let is_large = width.max(height) > MAX_SIDE;
    let is_plain = opened.format == Some(ImageFormat::Png)
        && opened.decoder.color_type() == ColorType::Rgb8
        && opened.orientation == Orientation::NoTransforms;
    if is_plain && !is_large {
        return Ok(None);
    }
    let mut image = DynamicImage::from_decoder(opened.decoder)?;
    if is_large {
        image = image.thumbnail(MAX_SIDE, MAX_SIDE);
    }
    image.apply_orientation(opened.orientation);
    let mut png = Cursor::new(Vec::new());
    on_white(&image).write_to(&mut png, ImageFormat::Png)?;
    Ok(Some(png.into_inner()))
}

/// Returns a mask with transparent instead of white areas, as PNG with 8-bit RGBA. Returns `None` if the image already
/// has transparent pixels.
///
/// # Errors
///
/// As for [`check`].
pub fn to_transparent_mask(bytes: &[u8]) -> Result<Option<Vec<u8>>, PictureError> {
    let _one_at_a_time = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = open(Cursor::new(bytes))?;
    let mut image = DynamicImage::from_decoder(opened.decoder)?;
    image.apply_orientation(opened.orientation);
    let mut mask: RgbaImage = image.into_rgba8();
    if mask.pixels().any(|Rgba([.., alpha])| *alpha < u8::MAX) {
        return Ok(None);
    }
    for pixel in mask.pixels_mut() {
        pixel.0[3] = u8::MAX - pixel.to_luma().0[0];
    }
    let mut png = Cursor::new(Vec::new());
    mask.write_to(&mut png, ImageFormat::Png)?;
    Ok(Some(png.into_inner()))
}

fn open<'a, R: BufRead + Seek + 'a>(
    mut reader: R,
) -> Result<Opened<impl ImageDecoder + use<'a, R>>, PictureError> {
    if !has_complete_chunks(&mut reader)? {
        return Err(PictureError::Damaged);
    }
    reader.rewind()?;
    let mut reader = ImageReader::new(reader).with_guessed_format()?;
    let format = reader.format();
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooManyPixels(width, height));
    }
    limits.reserve(decoder.total_bytes())?;
    // Metadata that can't be read has no orientation.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok(Opened {
        decoder,
        format,
        orientation,
        size: (width, height),
    })
}

/// Returns whether all chunks of a WebP file are as long as they claim; `true` for other formats. The decoder allocates
/// the claimed length of a metadata chunk, up to 4 GB.
fn has_complete_chunks(reader: &mut (impl Read + Seek)) -> io::Result<bool> {
    let length = reader.seek(SeekFrom::End(0))?;
    reader.rewind()?;
    let mut head = [0; 12];
    if reader.read_exact(&mut head).is_err() || &head[..4] != b"RIFF" || &head[8..] != b"WEBP" {
        return Ok(true);
    }
    let mut position = head.len() as u64;
    while position + 8 <= length {
        reader.seek(SeekFrom::Start(position))?;
        let mut chunk = [0; 8];
        reader.read_exact(&mut chunk)?;
        let size = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        // Chunks have an even length.
        position += 8 + u64::from(size) + u64::from(size % 2);
    }
    // Some programs omit the last padding byte.
    Ok(position <= length + 1)
}

fn is_turned(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
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
        let image = DynamicImage::new_luma8(5, 4);
        for format in [
            ImageFormat::Jpeg,
            ImageFormat::WebP,
            ImageFormat::Png,
            ImageFormat::Gif,
        ] {
            let image = match format {
                ImageFormat::Gif => DynamicImage::from(image.to_rgba8()),
                _ => image.clone(),
            };
            let png = to_plain_png(encoded(&image, format)).unwrap();
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

    /// Guards against a small file that takes gigabytes when it is decoded: a GIF whose frame is a single pixel.
    #[test]
    fn images_with_too_many_pixels_are_refused_before_they_are_decoded() {
        let mut gif = encoded(&DynamicImage::from(RgbaImage::new(1, 1)), ImageFormat::Gif);
        gif[6..10].copy_from_slice(&[0xff; 4]);
        for result in [
            check(Cursor::new(&gif)).map(|_| ()),
            to_plain_png(gif.clone()).map(|_| ()),
        ] {
            assert!(
                matches!(result, Err(PictureError::TooManyPixels(65_535, 65_535))),
                "{result:?}"
            );
        }
    }

    /// Guards against a metadata chunk that claims 4 GB, which the decoder would allocate.
    #[test]
    fn a_webp_with_a_chunk_that_exceeds_the_file_is_refused() {
        let mut webp = encoded(&DynamicImage::new_rgb8(4, 4), ImageFormat::WebP);
        assert!(check(Cursor::new(&webp)).is_ok());
        webp.extend(b"EXIF\xf0\xff\xff\xff");
        let result = check(Cursor::new(&webp));
        assert!(matches!(result, Err(PictureError::Damaged)), "{result:?}");
    }

    #[test]
    fn white_areas_of_a_mask_become_transparent() {
        let png = |image: DynamicImage| {
            let mut png = Cursor::new(Vec::new());
            image.write_to(&mut png, ImageFormat::Png).unwrap();
            png.into_inner()
        };
        let mask = RgbImage::from_fn(2, 1, |x, _| Rgb([if x == 0 { 255 } else { 0 }; 3]));
        let converted = to_transparent_mask(&png(mask.into())).unwrap().unwrap();
        let converted = image::load_from_memory(&converted).unwrap().into_rgba8();
        assert_eq!(converted.get_pixel(0, 0).0, [255, 255, 255, 0]);
        assert_eq!(converted.get_pixel(1, 0).0, [0, 0, 0, 255]);
        let transparent = RgbaImage::from_pixel(1, 1, Rgba([255, 255, 255, 0]));
        assert_eq!(to_transparent_mask(&png(transparent.into())).unwrap(), None);
        assert!(to_transparent_mask(b"no picture").is_err());
    }
}
