//! PNG: text chunks, XMP in `iTXt`, EXIF in `eXIf`.

use std::ops::Range;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::bytes::{Edits, split_at_nul, text, u32_be};
use crate::collector::Collector;
use crate::{ATELIER, Entries, PARAMETERS, WriteError, exif, xmp};

pub const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

const XMP_KEYWORD: &str = "XML:com.adobe.xmp";

/// A chunk of a PNG file.
struct Chunk<'a> {
    kind: &'a [u8],
    data: &'a [u8],
    /// The whole chunk, with length and checksum.
    range: Range<usize>,
}

/// Returns the chunks up to `IEND` or the first incomplete one.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = Chunk<'_>> {
    let mut at = Some(SIGNATURE.len());
    std::iter::from_fn(move || {
        let start = at.take()?;
        let length = u32_be(bytes, start)?;
        let data = start + 8..(start + 8).checked_add(length)?;
        let chunk = Chunk {
            kind: bytes.get(start + 4..start + 8)?,
            data: bytes.get(data.clone())?,
            range: start..data.end + 4,
        };
        let is_last = chunk.kind == b"IEND";
        at = (!is_last && chunk.range.end <= bytes.len()).then_some(chunk.range.end);
        Some(chunk)
    })
}

/// A text chunk, still compressed.
struct Text<'a> {
    keyword: &'a [u8],
    value: &'a [u8],
    is_compressed: bool,
}

impl<'a> Text<'a> {
    fn of(chunk: &Chunk<'a>) -> Option<Self> {
        if !matches!(chunk.kind, b"tEXt" | b"zTXt" | b"iTXt") {
            return None;
        }
        let (keyword, rest) = split_at_nul(chunk.data)?;
        let (value, is_compressed) = match chunk.kind {
            b"tEXt" => (rest, false),
            b"zTXt" => (rest.get(1..)?, true),
            _ => {
                let (_language, after) = split_at_nul(rest.get(2..)?)?;
                let (_translated, value) = split_at_nul(after)?;
                (value, rest[0] == 1)
            }
        };
        Some(Self {
            keyword,
            value,
            is_compressed,
        })
    }

    /// Returns the text. If it takes more than `limit` bytes, or is damaged, the error is the number of bytes that were
    /// decompressed.
    fn decode(&self, limit: usize) -> Result<String, usize> {
        if self.is_compressed {
            let plain = decompress_to_vec_zlib_with_limit(self.value, limit);
            plain
                .map(|plain| text(&plain))
                .map_err(|error| error.output.len())
        } else {
            Ok(text(self.value))
        }
    }
}

pub fn read(bytes: &[u8], collector: &mut Collector) {
    for chunk in chunks(bytes) {
        match chunk.kind {
            b"caBX" => collector.set_content_credentials(),
            b"eXIf" => exif::read(chunk.data, collector),
            _ => {
                if let Some(text) = Text::of(&chunk) {
                    read_text(&text, collector);
                }
            }
        }
    }
}

fn read_text(chunk: &Text<'_>, collector: &mut Collector) {
    let keyword = text(chunk.keyword);
    let is_xmp = keyword == XMP_KEYWORD;
    let text = match chunk.decode(collector.remaining()) {
        Ok(text) => text,
        Err(decompressed) => {
            collector.spend(decompressed);
            collector.set_incomplete();
            return;
        }
    };
    if is_xmp {
        xmp::read(&text, collector);
    } else {
        collector.add(&keyword, text);
    }
}

pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    let chunks: Vec<Chunk<'_>> = chunks(bytes).collect();
    let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else {
        return Err(WriteError::Malformed("it has no chunks"));
    };
    if first.kind != b"IHDR" || last.kind != b"IEND" || last.range.end > bytes.len() {
        return Err(WriteError::Malformed("IHDR or IEND is missing"));
    }
    let texts: Vec<Option<Text<'_>>> = chunks.iter().map(Text::of).collect();
    let has_keyword =
        |i: usize, name: &str| matches!(&texts[i], Some(text) if text.keyword == name.as_bytes());
    // Own chunks are next to each other, which tells them from `parameters` of another program.
    let is_own = |i: usize| {
        has_keyword(i, ATELIER)
            || has_keyword(i, PARAMETERS) && i + 1 < chunks.len() && has_keyword(i + 1, ATELIER)
    };
    let own: Vec<usize> = (0..chunks.len()).filter(|i| is_own(*i)).collect();
    let has_foreign_parameters =
        (0..chunks.len()).any(|i| has_keyword(i, PARAMETERS) && !is_own(i));

    let mut edits = Edits::default();
    let at = own
        .first()
        .map_or(first.range.end, |i| chunks[*i].range.start);
    if !has_foreign_parameters {
        edits.insert(at, text_chunk(PARAMETERS, &entries.parameters));
    }
    edits.insert(at, text_chunk(ATELIER, &entries.atelier));
    for i in own {
        edits.remove(chunks[i].range.clone());
    }

    let packet = (0..chunks.len()).find(|i| has_keyword(*i, XMP_KEYWORD));
    let properties = xmp::source_type(entries);
    match packet {
        None => {
            let packet = xmp::update(None, &properties)?;
            edits.insert(at, packet.map_or_else(Vec::new, |xmp| xmp_chunk(&xmp)));
        }
        Some(i) => {
            let text = texts[i]
                .as_ref()
                .and_then(|text| text.decode(xmp::MAX_BYTES).ok());
            let text = text.ok_or(WriteError::Malformed("its XMP can't be read"))?;
            let packet = xmp::update(Some(&text), &properties)?;
            if packet.as_deref() != Some(&*text) {
                let chunk = packet.map_or_else(Vec::new, |xmp| xmp_chunk(&xmp));
                edits.replace(chunks[i].range.clone(), chunk);
            }
        }
    }
    Ok(edits.apply(bytes))
}

/// Returns `tEXt`, which is the most widely read, if it can represent the text.
fn text_chunk(keyword: &str, text: &str) -> Vec<u8> {
    let keyword = keyword.as_bytes();
    if text.is_ascii() {
        chunk(b"tEXt", &[keyword, b"\0", text.as_bytes()])
    } else {
        chunk(b"iTXt", &[keyword, b"\0\0\0\0\0", text.as_bytes()])
    }
}

fn xmp_chunk(xmp: &str) -> Vec<u8> {
    chunk(
        b"iTXt",
        &[XMP_KEYWORD.as_bytes(), b"\0\0\0\0\0", xmp.as_bytes()],
    )
}

fn chunk(kind: &[u8; 4], data: &[&[u8]]) -> Vec<u8> {
    let length: usize = data.iter().map(|part| part.len()).sum();
    let mut chunk = Vec::with_capacity(length + 12);
    chunk.extend((length as u32).to_be_bytes());
    chunk.extend(kind);
    chunk.extend(data.iter().copied().flatten());
    let checksum = crc32fast::hash(&chunk[4..]);
    chunk.extend(checksum.to_be_bytes());
    chunk
}
