//! Small files of every format, as real encoders write them.

use std::io::Cursor;

use atelier_metadata::{DigitalSourceType, Entries};
use atelier_procedural::draw::webm::Film;
use image::{DynamicImage, ImageFormat, RgbaImage};

/// A file of each format that can be written.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("png", picture(ImageFormat::Png)),
        ("jpeg", picture(ImageFormat::Jpeg)),
        ("webp", picture(ImageFormat::WebP)),
        ("wav", wav()),
        ("webm", webm()),
    ]
}

pub fn picture(format: ImageFormat) -> Vec<u8> {
    let image = RgbaImage::from_fn(9, 5, |x, y| [x as u8 * 20, y as u8 * 30, 99, 200].into());
    let mut image = DynamicImage::from(image);
    if format == ImageFormat::Jpeg {
        image = image.into_rgb8().into();
    }
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Three samples of eight bits, without the padding of the last chunk.
pub fn wav() -> Vec<u8> {
    let format = [1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x40, 0x1F, 0, 0, 1, 0, 8, 0];
    let body = [b"WAVEfmt \x10\0\0\0", &format[..], b"data\x03\0\0\0abc"].concat();
    [b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat()
}

pub fn webm() -> Vec<u8> {
    let mut film = Film::new(16, 16, 2, 80);
    for shade in 0..5_u8 {
        film.push(&[shade * 50; 16 * 16 * 3]).unwrap();
    }
    film.finish()
}

pub fn entries(parameters: &str, atelier: &str) -> Entries {
    Entries {
        parameters: parameters.to_owned(),
        atelier: atelier.to_owned(),
        digital_source_type: Some(DigitalSourceType::AlgorithmicMedia),
    }
}
