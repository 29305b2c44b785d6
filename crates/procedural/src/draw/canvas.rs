//! An image in linear light, with PNG and WebP encoding.

use std::io::Cursor;

use image_webp::{ColorType, EncoderParams, EncodingError, WebPEncoder};

use super::color::Rgb;
use super::grain::Grain;

/// An image in linear light.
#[derive(Debug, Clone)]
pub struct Canvas {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Row by row, from the upper left.
    pub pixels: Vec<Rgb>,
}

/// The maximum size of an input image in pixels per side. Outputs of this service are much smaller.
const MAX_SIDE: u32 = 4096;

impl Canvas {
    pub fn new(width: u32, height: u32, color: Rgb) -> Self {
        Self {
            width,
            height,
            pixels: vec![color; width as usize * height as usize],
        }
    }

    /// Calls `paint(x, y)` for the center of every pixel.
    pub fn paint(width: u32, height: u32, mut paint: impl FnMut(f32, f32) -> Rgb) -> Self {
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height {
            for x in 0..width {
                pixels.push(paint(x as f32 + 0.5, y as f32 + 0.5));
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Returns the length of the shorter side in pixels, the unit of other sizes.
    pub fn unit(&self) -> f32 {
        self.width.min(self.height) as f32
    }

    fn index(&self, x: i64, y: i64) -> usize {
        let x = x.clamp(0, i64::from(self.width) - 1) as usize;
        let y = y.clamp(0, i64::from(self.height) - 1) as usize;
        y * self.width as usize + x
    }

    /// Returns a pixel; outside the canvas, the nearest one at the edge.
    pub fn get(&self, x: i64, y: i64) -> Rgb {
        self.pixels[self.index(x, y)]
    }

    /// Samples the color at a point with bilinear interpolation. The edge pixels extend outside.
    pub fn sample(&self, x: f32, y: f32) -> Rgb {
        let (x, y) = (x - 0.5, y - 0.5);
        let (ix, iy) = (x.floor(), y.floor());
        let (fx, fy) = (x - ix, y - iy);
        let (ix, iy) = (ix as i64, iy as i64);
        let top = self.get(ix, iy).mix(self.get(ix + 1, iy), fx);
        let bottom = self.get(ix, iy + 1).mix(self.get(ix + 1, iy + 1), fx);
        top.mix(bottom, fy)
    }

    /// Blends a color over a pixel with `alpha`. Ignores pixels outside the canvas.
    pub fn cover(&mut self, x: i64, y: i64, color: Rgb, alpha: f32) {
        if x >= 0 && y >= 0 && x < i64::from(self.width) && y < i64::from(self.height) {
            let index = self.index(x, y);
            self.pixels[index] = self.pixels[index].mix(color, alpha.clamp(0.0, 1.0));
        }
    }

    /// Draws an antialiased disc.
    pub fn disc(&mut self, x: f32, y: f32, radius: f32, color: Rgb, alpha: f32) {
        let reach = radius.ceil() as i64 + 1;
        let (cx, cy) = (x.floor() as i64, y.floor() as i64);
        for py in cy - reach..=cy + reach {
            for px in cx - reach..=cx + reach {
                let (dx, dy) = (px as f32 + 0.5 - x, py as f32 + 0.5 - y);
                let coverage = (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
                if coverage > 0.0 {
                    self.cover(px, py, color, alpha * coverage);
                }
            }
        }
    }

    /// Applies a box blur with this radius in pixels three times, which approximates a Gaussian blur.
    pub fn blur(&mut self, radius: usize) {
        if radius == 0 {
            return;
        }
        let (w, h) = (self.width as usize, self.height as usize);
        for _ in 0..3 {
            for y in 0..h {
                blur_line(&mut self.pixels, y * w, 1, w, radius);
            }
            for x in 0..w {
                blur_line(&mut self.pixels, x, w, h, radius);
            }
        }
    }

    /// Adds a blurred copy of the pixels that are brighter than `threshold`.
    pub fn bloom(&mut self, threshold: f32, radius: usize, strength: f32) {
        let mut glow = self.clone();
        for pixel in &mut glow.pixels {
            *pixel =
                pixel.scale((pixel.luminance() - threshold).max(0.0) / (pixel.luminance() + 1e-4));
        }
        glow.blur(radius);
        for (pixel, glow) in self.pixels.iter_mut().zip(&glow.pixels) {
            *pixel = pixel.plus(glow.scale(strength));
        }
    }

    /// Returns the image's bytes with grain, which also dithers gradients.
    pub fn bytes(&self, grain: &Grain) -> Vec<u8> {
        let w = self.width as usize;
        let mut bytes = Vec::with_capacity(self.pixels.len() * 3);
        for (i, pixel) in self.pixels.iter().enumerate() {
            bytes.extend(pixel.bytes(grain.at(i % w, i / w)));
        }
        bytes
    }

    /// Encodes the image as a PNG file.
    ///
    /// # Errors
    ///
    /// The canvas has no pixels, or their number does not match its size.
    pub fn png(&self, grain: &Grain) -> Result<Vec<u8>, png::EncodingError> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::Paeth);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.bytes(grain))?;
        writer.finish()?;
        Ok(file)
    }

    /// Encodes the image as lossy WebP, with the highest quality that fits into `max_bytes`. At the lowest quality, it
    /// may be larger.
    ///
    /// # Errors
    ///
    /// The canvas has no pixels, or their number does not match its size.
    pub fn webp(&self, max_bytes: usize) -> Result<Vec<u8>, EncodingError> {
        let rgb: Vec<u8> = self.pixels.iter().flat_map(|p| p.bytes(0.0)).collect();
        let mut file = Vec::new();
        for quality in [85, 70, 55, 40, 25] {
            file.clear();
            let mut params = EncoderParams::default();
            params.use_lossy = true;
            params.lossy_quality = quality;
            let mut encoder = WebPEncoder::new(&mut file);
            encoder.set_params(params);
            encoder.encode(&rgb, self.width, self.height, ColorType::Rgb8)?;
            if file.len() <= max_bytes {
                break;
            }
        }
        Ok(file)
    }

    /// Decodes a PNG file.
    ///
    /// # Errors
    ///
    /// A message if the file is not PNG, is damaged, or has more than 4096 pixels on a side.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let (width, height) = (reader.info().width, reader.info().height);
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err("the image is too large".into());
        }
        let size = reader
            .output_buffer_size()
            .ok_or("the image is too large")?;
        let mut bytes = vec![0; size];
        let frame = reader
            .next_frame(&mut bytes)
            .map_err(|error| error.to_string())?;
        let channels = frame.color_type.samples();
        let pixel = |p: &[u8]| match p {
            [r, g, b, ..] => Rgb::from_bytes([*r, *g, *b]),
            [grey, ..] => Rgb::from_bytes([*grey; 3]),
            [] => Rgb::BLACK,
        };
        Ok(Self {
            width,
            height,
            pixels: bytes[..frame.buffer_size()]
                .chunks_exact(channels)
                .map(pixel)
                .collect(),
        })
    }
}

/// Applies a moving average to one row or column.
fn blur_line(pixels: &mut [Rgb], start: usize, step: usize, length: usize, radius: usize) {
    let line: Vec<Rgb> = (0..length).map(|i| pixels[start + i * step]).collect();
    let at = |i: isize| line[i.clamp(0, length as isize - 1) as usize];
    let r = radius as isize;
    let mut sum = (-r..=r).fold(Rgb::BLACK, |sum, i| sum.plus(at(i)));
    let share = 1.0 / (2 * radius + 1) as f32;
    for i in 0..length {
        pixels[start + i * step] = sum.scale(share).each(|c| c.max(0.0));
        let i = i as isize;
        sum = sum.plus(at(i + r + 1)).plus(at(i - r).scale(-1.0));
    }
}
