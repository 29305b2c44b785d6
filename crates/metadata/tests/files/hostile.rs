//! Damaged and hostile files are read within bounds, without a panic.

use crate::common::{entries, files, picture, webm};
use crate::read::samples;
use atelier_metadata::{MAX_ENTRIES, MAX_TEXT_BYTES, read, write};
use image::ImageFormat;
use miniz_oxide::deflate::compress_to_vec_zlib;
use proptest::prelude::*;

/// Inserts a chunk after the header of a PNG. The checksum is wrong, which readers of texts ignore.
fn with_chunks(kind: &[u8; 4], data: &[u8], count: usize) -> Vec<u8> {
    let png = picture(ImageFormat::Png);
    let length = (data.len() as u32).to_be_bytes();
    let chunk = [&length[..], kind, data, &[0; 4]].concat();
    [&png[..33], &chunk.repeat(count), &png[33..]].concat()
}

#[test]
fn bounds_the_size_of_decompressed_texts() {
    let bomb = compress_to_vec_zlib(&vec![b'x'; MAX_TEXT_BYTES + 1], 9);
    let text = [b"prompt\0\0", &bomb[..]].concat();
    for count in [1, 50] {
        let metadata = read(&with_chunks(b"zTXt", &text, count));
        assert!(metadata.is_incomplete);
        assert_eq!(metadata.entries, []);
    }
    let half = compress_to_vec_zlib(&vec![b'x'; MAX_TEXT_BYTES / 2 - 6], 9);
    let text = [b"prompt\0\x01\0\0\0", &half[..]].concat();
    let metadata = read(&with_chunks(b"iTXt", &text, 3));
    assert!(metadata.is_incomplete);
    assert_eq!(metadata.entries.len(), 2);
}

#[test]
fn bounds_the_number_of_entries() {
    let metadata = read(&with_chunks(b"tEXt", b"a\0b", 1000));
    assert_eq!(metadata.entries.len(), MAX_ENTRIES);
    assert!(metadata.is_incomplete);
}

#[test]
fn does_not_expand_entities() {
    let xmp = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
        <r:Description xmlns:d=\"urn:d:\"><d:x>&a;</d:x></r:Description></r:RDF></x:xmpmeta>";
    let text = [b"XML:com.adobe.xmp\0\0\0\0\0", xmp.as_bytes()].concat();
    assert_eq!(read(&with_chunks(b"iTXt", &text, 1)).entries, []);
}

#[test]
fn survives_deep_and_wide_xmp() {
    let rdf = "<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><r:Description>";
    let deep = rdf.to_owned() + &"<a>".repeat(100_000);
    let wide = (0..20_000).fold(rdf.to_owned(), |xml, i| {
        xml + &format!("<a xmlns:n{i}=\"u{i}\">")
    });
    let attributes: String = (0..50_000).map(|i| format!(" a{i}=''")).collect();
    let attributes = format!("{}{attributes}>", rdf.trim_end_matches('>'));
    for xmp in [deep, wide, attributes] {
        let text = [b"XML:com.adobe.xmp\0\0\0\0\0", xmp.as_bytes()].concat();
        let file = with_chunks(b"iTXt", &text, 1);
        assert!(read(&file).entries.len() <= MAX_ENTRIES);
        assert!(write(&file, &entries("a", "b")).is_err());
    }
}

/// Guards against a search among all elements for each of many indexes, which would take hours.
#[test]
fn survives_many_indexes_of_a_video() {
    let file = webm();
    let body = file
        .windows(4)
        .position(|four| four == [0x18, 0x53, 0x80, 0x67]);
    let body = body.unwrap() + 12;
    // Refers to tags at a position where none are.
    let index = b"\x11\x4D\x9B\x74\x95\x4D\xBB\x92\x53\xAB\x84\x12\x54\xC3\x67\x53\xAC\x88\0\0\0\0\0\0\0\x09";
    let indexes = index.repeat(400_000);
    let size = ((file.len() - body + indexes.len()) as u64 | 1 << 56).to_be_bytes();
    let file = [&file[..body - 8], &size, &indexes, &file[body..]].concat();
    let written = write(&file, &entries("a: b", "{}")).unwrap();
    assert_eq!(read(&written).text("atelier"), Some("{}"));
}

/// A file of some format with a few bytes changed, inserted or cut off.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..12);
    let mut originals = samples();
    for (_, file) in files() {
        originals.push(write(&file, &entries("a: b", "{}")).unwrap());
        originals.push(file);
    }
    let originals = prop::sample::select(originals);
    (originals, edits).prop_map(|(mut file, edits)| {
        for (index, byte, kind) in edits {
            let at = index.index(file.len().max(1));
            match kind {
                0 => file.insert(at.min(file.len()), byte),
                1 => file.truncate(at.max(12)),
                _ => {
                    if let Some(old) = file.get_mut(at) {
                        *old = byte;
                    }
                }
            }
        }
        file
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_never_panic(file in damaged()) {
        let _ = read(&file);
        if let Ok(written) = write(&file, &entries("a: b", "{}")) {
            let again = write(&written, &entries("a: b", "{}"));
            prop_assert_eq!(again, Ok(written));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(start in 0..8_usize, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        const STARTS: [&[u8]; 8] = [
            b"",
            b"\x89PNG\r\n\x1a\n",
            b"\xFF\xD8\xFF",
            b"RIFF\xFF\0\0\0WEBP",
            b"RIFF\xFF\0\0\0WAVE",
            b"\x1A\x45\xDF\xA3\x80\x18\x53\x80\x67",
            b"\0\0\0\x08ftyp",
            b"\xFF\xD8\xFF\xE1\x01\0Exif\0\0MM\0\x2A\0\0\0\x08",
        ];
        let file = [STARTS[start], &bytes].concat();
        let _ = read(&file);
        let _ = write(&file, &entries("a: b", "{}"));
    }
}
