//! Decides how to remove location and camera data from a picture before it is uploaded. JPEG, PNG and WebP are understood;
//! other files are not changed.

use std::ops::Range;

/// What to do with a file before it is uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: there is no such data, or the format is not understood.
    Keep,
    /// Nothing, although there may be such data: the file carries Content Credentials (C2PA), which a change would
    /// invalidate.
    KeepCredentials,
    /// Join these pieces. The image data stays the same, byte for byte.
    Join(Vec<Piece>),
    /// Draw the picture upright and encode it again, because its orientation is in the data to remove. If the browser can't
    /// do that, join these pieces, which contain the orientation and no other data; empty if the format has no such form.
    Redraw(Format, Vec<Piece>),
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the original file.
    Original(Range<usize>),
    New(Vec<u8>),
}

/// A format that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Jpeg,
    Png,
    WebP,
}

impl Format {
    /// Returns the media type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::WebP => "image/webp",
        }
    }
}

/// The message at the field after data was removed.
pub const REMOVED: &str = "Location and camera data were removed. Settings can keep them.";

/// The message at the field if the file has Content Credentials.
pub const CREDENTIALS: &str = "This file has Content Credentials, so it is sent unchanged, with any location and camera data.";

/// The message before a file with Content Credentials is edited.
pub const CREDENTIALS_OF_EDITED: &str =
    "This file carries Content Credentials. An edited copy doesn't.";

/// Returns the message at a field with another sentence about such data; empty if nothing was done to it. A file is
/// prepared again if the user changes the setting before it is sent.
pub fn with_note(note: &str, sentence: &str) -> String {
    let rest = note.replace(REMOVED, "").replace(CREDENTIALS, "");
    format!("{} {sentence}", rest.trim()).trim().to_owned()
}

/// Returns the message if a picture can't be drawn upright.
pub fn cannot_redraw(name: &str) -> String {
    format!(
        "{name} can't be read by this browser, so its location and camera data can't be removed. Save it as PNG and \
         choose that, or allow the data in Settings."
    )
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Decides what to do with a file.
pub fn plan(file: &[u8]) -> Plan {
    let found = if file.starts_with(&[0xff, 0xd8, 0xff]) {
        jpeg(file)
    } else if file.starts_with(PNG) {
        png(file)
    } else if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP") {
        webp(file)
    } else {
        return Plan::Keep;
    };
    match found {
        Found {
            has_credentials: true,
            ..
        } => Plan::KeepCredentials,
        Found {
            has_metadata: false,
            ..
        } => Plan::Keep,
        Found {
            orientation: orientation @ 2..=8,
            format,
            mut pieces,
            ..
        } => {
            match format {
                Format::Jpeg => insert_orientation(&mut pieces, orientation),
                Format::Png | Format::WebP => pieces.clear(),
            }
            Plan::Redraw(format, pieces)
        }
        Found { pieces, .. } => Plan::Join(pieces),
    }
}

/// Inserts Exif data with only the orientation after the start of a JPEG.
fn insert_orientation(pieces: &mut Vec<Piece>, orientation: u16) {
    let Some(Piece::Original(first)) = pieces.first_mut() else {
        return;
    };
    let rest = 2..first.end;
    *first = 0..2;
    // Big-endian, with one entry in the first directory: the orientation, as one 16-bit number.
    let tiff = [
        &b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01"[..],
        &orientation.to_be_bytes(),
        &[0; 6],
    ];
    let content = [b"Exif\0\0", &tiff.concat()[..]].concat();
    let length = (content.len() as u16 + 2).to_be_bytes();
    let segment = [&[0xff, 0xe1][..], &length, &content].concat();
    pieces.insert(1, Piece::New(segment));
    if !rest.is_empty() {
        pieces.insert(2, Piece::Original(rest));
    }
}

/// The parts of a file.
struct Found {
    format: Format,
    has_credentials: bool,
    has_metadata: bool,
    /// The orientation in the Exif data, from 1 to 8; 1 is upright.
    orientation: u16,
    /// The file without metadata.
    pieces: Vec<Piece>,
}

impl Found {
    fn new(format: Format) -> Self {
        Self {
            format,
            has_credentials: false,
            has_metadata: false,
            orientation: 1,
            pieces: Vec::new(),
        }
    }

    /// Keeps bytes of the file.
    fn keep(&mut self, range: Range<usize>) {
        match self.pieces.last_mut() {
            Some(Piece::Original(last)) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.pieces.push(Piece::Original(range)),
        }
    }

    /// Leaves out other metadata. XMP may refer to Content Credentials that are stored elsewhere.
    fn other(&mut self, data: &[u8]) {
        const REFERENCE: &[u8] = b"dcterms:provenance";
        self.has_metadata = true;
        let has_reference = data.windows(REFERENCE.len()).any(|it| it == REFERENCE);
        self.has_credentials |= has_reference;
    }

    /// Leaves out Exif data.
    fn exif(&mut self, data: &[u8]) {
        self.has_metadata = true;
        self.orientation = orientation(data).unwrap_or(self.orientation);
    }
}

fn u16_be(file: &[u8], at: usize) -> Option<usize> {
    let bytes = file.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?).into())
}

fn jpeg(file: &[u8]) -> Found {
    const SOS: u8 = 0xda;
    const EOI: u8 = 0xd9;
    let mut found = Found::new(Format::Jpeg);
    found.keep(0..2);
    let mut at = 2;
    while let Some(segment) = jpeg_segment(file, at) {
        let JpegSegment { marker, data, end } = segment;
        let content = &file[data];
        match marker {
            0xe1 if content.starts_with(b"Exif\0") => {
                found.exif(content.get(6..).unwrap_or_default());
            }
            // JUMBF.
            0xeb if content.starts_with(b"JP") => {
                found.has_credentials = true;
                found.keep(at..end);
            }
            // What decoders need: JFIF, the color profile, and the color transform.
            0xe0 | 0xee => found.keep(at..end),
            0xe2 if content.starts_with(b"ICC_PROFILE\0") => found.keep(at..end),
            // An index of further pictures in the file, with offsets that would no longer fit. They have metadata of their
            // own.
            0xe2 if content.starts_with(b"MPF\0") || content.starts_with(b"urn:iso:") => {}
            // XMP, IPTC, and data of vendors, such as the GPS track of an action camera.
            0xe1..=0xef => found.other(content),
            SOS => {
                let end = jpeg_scan_end(file, end);
                found.keep(at..end);
                at = end;
                continue;
            }
            EOI => {
                // What follows the picture, such as the video of a motion photo, has metadata of its own.
                found.keep(at..end);
                return found;
            }
            _ => found.keep(at..end),
        }
        at = end;
    }
    // The rest can't be read; decoders show what there is.
    found.keep(at..file.len());
    found
}

struct JpegSegment {
    marker: u8,
    data: Range<usize>,
    end: usize,
}

/// Returns the segment at a position; `None` if there is none.
fn jpeg_segment(file: &[u8], at: usize) -> Option<JpegSegment> {
    if *file.get(at)? != 0xff {
        return None;
    }
    // Any number of fill bytes may be in front of a marker.
    let fill = file[at..].iter().take_while(|byte| **byte == 0xff).count();
    let marker_at = at + fill;
    let marker = *file.get(marker_at)?;
    let after = marker_at + 1;
    if matches!(marker, 0x01 | 0xd0..=0xd9) {
        return Some(JpegSegment {
            marker,
            data: after..after,
            end: after,
        });
    }
    let end = after + u16_be(file, after)?;
    let is_whole = end >= after + 2 && end <= file.len();
    is_whole.then_some(JpegSegment {
        marker,
        data: after + 2..end,
        end,
    })
}

/// Returns the position of the first marker after the image data that begins at `start`.
fn jpeg_scan_end(file: &[u8], start: usize) -> usize {
    let rest = file.get(start..).unwrap_or_default();
    let is_end = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7);
    let end = rest.windows(2).position(is_end);
    end.map_or(file.len(), |end| start + end)
}

fn png(file: &[u8]) -> Found {
    let mut found = Found::new(Format::Png);
    found.keep(0..PNG.len());
    let mut at = PNG.len();
    while let Some((name, data, end)) = png_chunk(file, at) {
        let content = &file[data];
        match &name {
            b"eXIf" => found.exif(content),
            b"iTXt" | b"tEXt" | b"zTXt" if is_png_metadata(content) => found.other(content),
            b"caBX" => {
                found.has_credentials = true;
                found.keep(at..end);
            }
            b"IEND" => {
                found.keep(at..end);
                return found;
            }
            _ => found.keep(at..end),
        }
        at = end;
    }
    found.keep(at..file.len());
    found
}

/// Returns the name, the range of the data and the end of a chunk.
fn png_chunk(file: &[u8], at: usize) -> Option<([u8; 4], Range<usize>, usize)> {
    let length = u32::from_be_bytes(file.get(at..at + 4)?.try_into().ok()?) as usize;
    let name = file.get(at + 4..at + 8)?.try_into().ok()?;
    let data = at + 8..(at + 8).checked_add(length)?;
    let end = data.end.checked_add(4)?;
    (end <= file.len()).then_some((name, data, end))
}

/// Whether the content of a text chunk is Exif, XMP or IPTC. Other texts, such as prompts, are kept.
fn is_png_metadata(content: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 6] = [
        b"XML:com.adobe.xmp\0",
        b"Raw profile type exif\0",
        b"Raw profile type APP1\0",
        b"Raw profile type xmp\0",
        b"Raw profile type iptc\0",
        b"Raw profile type 8bim\0",
    ];
    KEYWORDS.iter().any(|keyword| content.starts_with(keyword))
}

fn webp(file: &[u8]) -> Found {
    const EXIF_FLAG: u8 = 0x08;
    const XMP_FLAG: u8 = 0x04;
    let mut found = Found::new(Format::WebP);
    let mut at = 12;
    while let Some((name, data, end)) = webp_chunk(file, at) {
        let content = &file[data.clone()];
        match &name {
            b"EXIF" => found.exif(content.strip_prefix(b"Exif\0\0").unwrap_or(content)),
            b"XMP " => found.other(content),
            b"C2PA" => {
                found.has_credentials = true;
                found.keep(at..end);
            }
            b"VP8X" if !content.is_empty() => {
                found.keep(at..data.start);
                let flags = content[0] & !(EXIF_FLAG | XMP_FLAG);
                found.pieces.push(Piece::New(vec![flags]));
                found.keep(data.start + 1..end);
            }
            _ => found.keep(at..end),
        }
        at = end;
    }
    found.keep(at.min(file.len())..file.len());
    let lengths = found.pieces.iter().map(|piece| match piece {
        Piece::Original(range) => range.len(),
        Piece::New(bytes) => bytes.len(),
    });
    // The length of what follows the length.
    let length = u32::try_from(lengths.sum::<usize>() + 4).unwrap_or(u32::MAX);
    let head = [&b"RIFF"[..], &length.to_le_bytes(), b"WEBP"].concat();
    found.pieces.insert(0, Piece::New(head));
    found
}

/// Returns the name, the range of the data and the end of a chunk.
fn webp_chunk(file: &[u8], at: usize) -> Option<([u8; 4], Range<usize>, usize)> {
    let name = file.get(at..at + 4)?.try_into().ok()?;
    let length = u32::from_le_bytes(file.get(at + 4..at + 8)?.try_into().ok()?) as usize;
    let data = at + 8..(at + 8).checked_add(length)?;
    if data.end > file.len() {
        return None;
    }
    // Chunks have an even length. The last byte may be missing.
    let end = (data.end + length % 2).min(file.len());
    Some((name, data, end))
}

/// Returns the orientation in Exif data, from 1 to 8.
fn orientation(exif: &[u8]) -> Option<u16> {
    const TAG: usize = 0x0112;
    let is_little = match exif.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let number = |at: usize, length: usize| {
        let bytes = exif.get(at..at.checked_add(length)?)?;
        let add = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
        Some(match is_little {
            true => bytes.iter().rev().fold(0, add),
            false => bytes.iter().fold(0, add),
        })
    };
    let directory = number(4, 4)?;
    let count = number(directory, 2)?;
    let entries = (0..count).map(|entry| directory + 2 + entry * 12);
    let mut found = entries.filter(|at| number(*at, 2) == Some(TAG));
    let value = number(found.next()?.checked_add(8)?, 2)?;
    (1..=8).contains(&value).then_some(value as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exif(orientation: u8) -> Vec<u8> {
        let entry = [
            0x01,
            0x12,
            0,
            3,
            0,
            0,
            0,
            1,
            0,
            orientation,
            0,
            0, // Orientation
        ];
        [&b"MM\0*\0\0\0\x08\0\x01"[..], &entry, &[0; 4], b"GPS 52.5"].concat()
    }

    fn jpeg_part(marker: u8, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u16 + 2).to_be_bytes();
        [&[0xff, marker][..], &length, content].concat()
    }

    /// The end of a JPEG: a table, and image data with a stuffed byte and a restart marker.
    fn jpeg_rest() -> Vec<u8> {
        let data = [1, 2, 0xff, 0, 3, 0xff, 0xd3, 4, 0xff, 0xd9];
        [
            &jpeg_part(0xdb, &[7; 65])[..],
            &jpeg_part(0xda, &[1; 8]),
            &data,
        ]
        .concat()
    }

    fn jpeg_with(parts: &[Vec<u8>]) -> Vec<u8> {
        let jfif = jpeg_part(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
        [&[0xff, 0xd8][..], &jfif, &parts.concat(), &jpeg_rest()].concat()
    }

    fn exif_part(orientation: u8) -> Vec<u8> {
        jpeg_part(0xe1, &[b"Exif\0\0", &exif(orientation)[..]].concat())
    }

    fn png_part(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_be_bytes();
        [&length[..], name, content, b"sum!"].concat()
    }

    fn png_with(parts: &[Vec<u8>]) -> Vec<u8> {
        let (start, end) = (png_part(b"IHDR", &[1; 13]), png_part(b"IEND", b""));
        [
            PNG,
            &start,
            &parts.concat(),
            &png_part(b"IDAT", b"data"),
            &end,
        ]
        .concat()
    }

    fn webp_part(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_le_bytes();
        let padding = vec![0; content.len() % 2];
        [&name[..], &length, content, &padding].concat()
    }

    fn webp_with(parts: &[Vec<u8>]) -> Vec<u8> {
        let content = parts.concat();
        let length = (content.len() as u32 + 4).to_le_bytes();
        [b"RIFF", &length[..], b"WEBP", &content].concat()
    }

    fn joined(file: &[u8]) -> Option<Vec<u8>> {
        let Plan::Join(pieces) = plan(file) else {
            return None;
        };
        Some(join(file, pieces))
    }

    fn join(file: &[u8], pieces: Vec<Piece>) -> Vec<u8> {
        let bytes = pieces.into_iter().map(|piece| match piece {
            Piece::Original(range) => file[range].to_vec(),
            Piece::New(bytes) => bytes,
        });
        bytes.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_note_about_removed_data_replaces_an_earlier_one() {
        let note = "Only one of 2 files is used: a.png.";
        let removed = with_note(note, REMOVED);
        assert_eq!(removed, format!("{note} {REMOVED}"));
        assert_eq!(with_note(&removed, REMOVED), removed);
        assert_eq!(
            with_note(&removed, CREDENTIALS),
            format!("{note} {CREDENTIALS}")
        );
        assert_eq!(with_note(&removed, ""), note);
        assert_eq!(with_note("", REMOVED), REMOVED);
    }

    #[test]
    fn files_without_metadata_are_kept() {
        let icc = jpeg_part(0xe2, b"ICC_PROFILE\0\x01\x01data");
        let text = png_part(b"tEXt", b"parameters\0a brass lamp");
        for file in [
            jpeg_with(&[icc]),
            png_with(&[text]),
            webp_with(&[webp_part(b"VP8 ", b"abc")]),
            b"GIF89a".to_vec(),
            Vec::new(),
        ] {
            assert_eq!(plan(&file), Plan::Keep);
        }
    }

    #[test]
    fn jpegs_lose_exif_xmp_and_iptc_and_keep_the_rest() {
        let icc = jpeg_part(0xe2, b"ICC_PROFILE\0\x01\x01data");
        let adobe = jpeg_part(0xee, b"Adobe\0\x64\0\0\0\0\x01");
        let file = jpeg_with(&[
            exif_part(1),
            jpeg_part(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x/>"),
            icc.clone(),
            jpeg_part(0xed, b"Photoshop 3.0\08BIM"),
            adobe.clone(),
        ]);
        assert_eq!(joined(&file), Some(jpeg_with(&[icc, adobe])));
    }

    /// Guards against the location in the Exif data of a motion photo's video, or of a second picture.
    #[test]
    fn what_follows_a_jpeg_is_removed_with_its_metadata() {
        let index = jpeg_part(0xe2, b"MPF\0II*\0");
        let second = jpeg_with(&[exif_part(1)]);
        let file = [
            jpeg_with(&[exif_part(1), index]),
            second,
            b"ftypmp42".to_vec(),
        ]
        .concat();
        assert_eq!(joined(&file), Some(jpeg_with(&[])));
        let plain = [jpeg_with(&[]), b"ftypmp42".to_vec()].concat();
        assert_eq!(plan(&plain), Plan::Keep);
    }

    #[test]
    fn pngs_lose_exif_and_xmp_and_keep_texts() {
        let text = png_part(b"tEXt", b"parameters\0a brass lamp");
        let file = png_with(&[
            png_part(b"eXIf", &exif(1)),
            text.clone(),
            png_part(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>"),
            png_part(b"zTXt", b"Raw profile type exif\0\0data"),
        ]);
        assert_eq!(joined(&file), Some(png_with(&[text])));
    }

    #[test]
    fn webps_lose_exif_and_xmp_with_their_flags() {
        let extended = |flags| webp_part(b"VP8X", &[flags, 0, 0, 0, 9, 0, 0, 9, 0, 0]);
        let (icc, picture) = (webp_part(b"ICCP", b"icc"), webp_part(b"VP8 ", b"data"));
        let file = webp_with(&[
            extended(0x2c),
            icc.clone(),
            picture.clone(),
            webp_part(b"EXIF", &exif(1)),
            webp_part(b"XMP ", b"<x/>!"),
        ]);
        assert_eq!(
            joined(&file),
            Some(webp_with(&[extended(0x20), icc, picture]))
        );
    }

    #[test]
    fn pictures_that_are_not_upright_are_drawn_again() {
        let png = png_with(&[png_part(b"eXIf", &exif(3))]);
        assert_eq!(plan(&png), Plan::Redraw(Format::Png, Vec::new()));
        let webp = webp_with(&[webp_part(b"EXIF", &[b"Exif\0\0", &exif(8)[..]].concat())]);
        assert_eq!(plan(&webp), Plan::Redraw(Format::WebP, Vec::new()));
        for unknown in [0, 1, 9] {
            assert!(joined(&jpeg_with(&[exif_part(unknown)])).is_some());
        }
    }

    /// Guards against photos that can't be sent because they are too large for a canvas.
    #[test]
    fn a_jpeg_that_can_not_be_drawn_keeps_only_its_orientation() {
        let file = jpeg_with(&[exif_part(6)]);
        let Plan::Redraw(Format::Jpeg, pieces) = plan(&file) else {
            panic!("{:?}", plan(&file));
        };
        let joined = join(&file, pieces);
        assert!(!joined.windows(3).any(|it| it == b"GPS"));
        let Plan::Redraw(Format::Jpeg, again) = plan(&joined) else {
            panic!("{:?}", plan(&joined));
        };
        assert_eq!(join(&joined, again), joined);
        let clean = jpeg_with(&[]);
        assert_eq!(joined[joined.len() - (clean.len() - 2)..], clean[2..]);
    }

    #[test]
    fn data_of_vendors_is_removed() {
        let gps = jpeg_part(0xe6, b"GoPro\0GPS5");
        assert_eq!(joined(&jpeg_with(&[gps])), Some(jpeg_with(&[])));
    }

    /// Guards against invalidated signatures.
    #[test]
    fn files_with_content_credentials_are_never_changed() {
        for file in [
            jpeg_with(&[exif_part(6), jpeg_part(0xeb, b"JP\0\x01\0\0\0\x01jumb")]),
            png_with(&[png_part(b"caBX", b"jumb"), png_part(b"eXIf", &exif(6))]),
            webp_with(&[webp_part(b"EXIF", &exif(1)), webp_part(b"C2PA", b"jumb")]),
            webp_with(&[webp_part(b"XMP ", b"<x dcterms:provenance='https://a'/>")]),
        ] {
            assert_eq!(plan(&file), Plan::KeepCredentials);
        }
    }

    #[test]
    fn truncated_files_lose_the_metadata_that_was_found() {
        let file = jpeg_with(&[exif_part(1)]);
        let end = file.len() - 20;
        let clean = jpeg_with(&[]);
        assert_eq!(
            joined(&file[..end]),
            Some(clean[..clean.len() - 20].to_vec())
        );
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_plan_within_the_file(
            start in 0..4usize,
            rest in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xff), Just(0xe1), Just(0)], 0..200),
        ) {
            let start = [&[0xff, 0xd8, 0xff][..], PNG, b"RIFF\0\0\0\0WEBP", b""][start];
            let file = [start, &rest].concat();
            if let Some(joined) = joined(&file) {
                prop_assert!(joined.len() <= file.len() + 12);
                prop_assert_eq!(plan(&joined), Plan::Keep);
            }
        }
    }
}
