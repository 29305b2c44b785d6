//! Writes a mask as a PNG with one 8-bit gray channel, in which every pixel is 0 or 255. The compressor is the caller's.

use super::bitmap::Bitmap;
use crc::{CRC_32_ISO_HDLC, Crc};

static CRC_32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// What white pixels mean. Services differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum White {
    /// White marks what changes: the painted pixels.
    #[default]
    Changes,
    /// White marks what stays.
    Stays,
}

/// Returns the bytes of the file before the image data.
pub fn head(bitmap: &Bitmap) -> Vec<u8> {
    const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
    // 8 bits per channel, gray, deflate, adaptive filters, not interlaced.
    const FORMAT: [u8; 5] = [8, 0, 0, 0, 0];
    let (width, height) = bitmap.size();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &FORMAT].concat();
    [&SIGNATURE[..], &chunk(*b"IHDR", &header)].concat()
}

/// Returns some rows of the image data before compression in the zlib format.
pub fn rows(bitmap: &Bitmap, rows: std::ops::Range<u32>, white: White) -> Vec<u8> {
    let (width, height) = bitmap.size();
    let rows = rows.start..rows.end.min(height);
    let inverted = match white {
        White::Changes => 0,
        White::Stays => 0xff,
    };
    let mut data = Vec::with_capacity((width as usize + 1) * rows.len());
    for y in rows {
        // The filter of the row: none.
        data.push(0);
        let start = data.len();
        for byte in bitmap.row(y) {
            let byte = byte ^ inverted;
            data.extend((0..8).map(|bit| if byte & (0x80 >> bit) != 0 { 255 } else { 0 }));
        }
        data.truncate(start + width as usize);
    }
    data
}

/// Returns a chunk with compressed image data.
pub fn data(compressed: &[u8]) -> Vec<u8> {
    chunk(*b"IDAT", compressed)
}

/// Returns the bytes of the file after the image data.
pub fn end() -> Vec<u8> {
    chunk(*b"IEND", &[])
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut sum = CRC_32.digest();
    sum.update(&name);
    sum.update(data);
    let sum = sum.finalize().to_be_bytes();
    [&length.to_be_bytes()[..], &name, data, &sum].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_is_black_or_white() {
        let mut bitmap = Bitmap::new(10, 2);
        bitmap.line((8.5, 1.5), (8.5, 1.5), 0.5, true);
        let mut expected = vec![0; 22];
        expected[11 + 1 + 8] = 255;
        assert_eq!(rows(&bitmap, 0..2, White::Changes), expected);
        let inverted: Vec<u8> = (expected.iter().enumerate())
            .map(|(at, byte)| if at % 11 == 0 { 0 } else { 255 - byte })
            .collect();
        assert_eq!(rows(&bitmap, 0..2, White::Stays), inverted);
        assert_eq!(rows(&bitmap, 1..9, White::Changes), expected[11..]);
    }

    #[test]
    fn the_chunks_are_those_of_a_gray_png() {
        let head = head(&Bitmap::new(300, 2));
        assert_eq!(head[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(head[8..16], *b"\0\0\0\x0dIHDR");
        assert_eq!(head[16..29], [0, 0, 1, 44, 0, 0, 0, 2, 8, 0, 0, 0, 0]);
        // The checksum of the end is in the specification of the format.
        assert_eq!(end(), b"\0\0\0\0IEND\xae\x42\x60\x82");
        assert_eq!(data(b"ab")[..10], *b"\0\0\0\x02IDATab");
    }
}
