//! Reads what other programs write.

use crate::common::{picture, wav, webm};
use atelier_metadata::{Metadata, read};
use image::ImageFormat;
use miniz_oxide::deflate::compress_to_vec_zlib;

/// Big-endian TIFF data with two texts of the camera and a comment, as ComfyUI and AUTOMATIC1111 write them.
fn tiff(code: &[u8; 8], comment: &[u8]) -> Vec<u8> {
    let comment = [code, comment].concat();
    let entry = |tag: u16, kind: u16, count: usize, value: u32| {
        let count = (count as u32).to_be_bytes();
        [
            &tag.to_be_bytes()[..],
            &kind.to_be_bytes(),
            &count,
            &value.to_be_bytes(),
        ]
        .concat()
    };
    // The texts begin after two entries and the next offset, then a directory with one entry.
    let texts = 8 + 2 + 2 * 12 + 4;
    let exif = texts + 12;
    let data = exif + 2 + 12 + 4;
    [
        b"MM\0\x2A\0\0\0\x08\0\x02".to_vec(),
        entry(0x010F, 2, 12, texts as u32),
        entry(0x8769, 4, 1, exif as u32),
        vec![0; 4],
        b"workflow:{}\0".to_vec(),
        b"\0\x01".to_vec(),
        entry(0x9286, 7, comment.len(), data as u32),
        vec![0; 4],
        comment,
    ]
    .concat()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn with_exif(tiff: &[u8]) -> Vec<u8> {
    let jpeg = picture(ImageFormat::Jpeg);
    let length = (8 + tiff.len() as u16).to_be_bytes();
    [
        &jpeg[..2],
        b"\xFF\xE1",
        &length,
        b"Exif\0\0",
        tiff,
        &jpeg[2..],
    ]
    .concat()
}

fn with_chunk(riff: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut file = riff.to_vec();
    file.resize(riff.len().next_multiple_of(2), 0);
    file.extend(chunk);
    let size = file.len() as u32 - 8;
    file[4..8].copy_from_slice(&size.to_le_bytes());
    file
}

fn assert_texts(metadata: &Metadata, texts: &[(&str, &str)]) {
    for (name, text) in texts {
        assert_eq!(metadata.text(name), Some(*text), "{name} of {metadata:?}");
    }
}

#[test]
fn reads_exif() {
    let line = "a fox 狐\nSteps: 20";
    let texts = [("Make", "workflow:{}"), ("UserComment", line)];
    let tiff = tiff(b"UNICODE\0", &utf16(line));
    assert_texts(&read(&with_exif(&tiff)), &texts);
    let mut chunk = b"EXIF".to_vec();
    chunk.extend((tiff.len() as u32).to_le_bytes());
    chunk.extend(&tiff);
    let webp = picture(ImageFormat::WebP);
    assert_texts(&read(&with_chunk(&webp, &chunk)), &texts);
    let png = picture(ImageFormat::Png);
    let length = (tiff.len() as u32).to_be_bytes();
    let png = [&png[..33], &length, b"eXIf", &tiff, &[0; 4], &png[33..]].concat();
    assert_texts(&read(&png), &texts);
}

#[test]
fn reads_comments_in_every_character_code() {
    let little: Vec<u8> = "fox".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let comments: [(&[u8; 8], &[u8]); 3] = [
        (b"ASCII\0\0\0", b"fox\0"),
        (b"UNICODE\0", &little),
        (&[0; 8], b"fox"),
    ];
    for (code, comment) in comments {
        let metadata = read(&with_exif(&tiff(code, comment)));
        assert_texts(&metadata, &[("UserComment", "fox")]);
    }
}

#[test]
fn reads_compressed_and_international_texts_of_a_png() {
    let png = picture(ImageFormat::Png);
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let length = (data.len() as u32).to_be_bytes();
        [&length[..], kind, data, &[0; 4]].concat()
    };
    let compressed = compress_to_vec_zlib("{\"ä\":1}".as_bytes(), 6);
    let file = [
        &png[..33],
        &chunk(b"tEXt", b"parameters\0caf\xE9"),
        &chunk(b"zTXt", &[b"prompt\0\0", &compressed[..]].concat()),
        &chunk(
            b"iTXt",
            &[b"workflow\0\x01\0de\0x\0", &compressed[..]].concat(),
        ),
        &png[33..],
    ];
    let texts = [
        ("parameters", "café"),
        ("prompt", "{\"ä\":1}"),
        ("workflow", "{\"ä\":1}"),
    ];
    assert_texts(&read(&file.concat()), &texts);
}

#[test]
fn reads_the_comment_of_a_jpeg() {
    let jpeg = picture(ImageFormat::Jpeg);
    let file = [&jpeg[..2], b"\xFF\xFE\0\x05fox", &jpeg[2..]].concat();
    assert_texts(&read(&file), &[("Comment", "fox")]);
}

#[test]
fn reads_the_texts_of_a_wav() {
    let list = b"LIST\x14\0\0\0INFOICMT\x07\0\0\0a fox\0\0\0";
    assert_texts(&read(&with_chunk(&wav(), list)), &[("ICMT", "a fox")]);
}

#[test]
fn reads_the_tags_of_a_video_without_sizes() {
    // A recorder writes a segment and clusters of unknown size.
    let file = webm();
    let segment = file
        .windows(4)
        .position(|four| four == [0x18, 0x53, 0x80, 0x67]);
    let body = segment.unwrap() + 12;
    let mut file = [
        &file[..body - 8],
        b"\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        &file[body..],
    ]
    .concat();
    let cluster = file
        .windows(4)
        .rposition(|four| four == [0x1F, 0x43, 0xB6, 0x75]);
    let at = cluster.unwrap() + 4;
    file[at..at + 8].copy_from_slice(b"\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    file.extend(b"\x12\x54\xC3\x67\x94\x73\x73\x91\x67\xC8\x8E\x45\xA3\x86PROMPT\x44\x87\x82{}");
    assert_texts(&read(&file), &[("PROMPT", "{}")]);
}

/// Returns a box of an MP4.
fn part(kind: &[u8], contents: &[u8]) -> Vec<u8> {
    let size = (contents.len() as u32 + 8).to_be_bytes();
    [&size[..], kind, contents].concat()
}

fn mp4() -> Vec<u8> {
    let text = |text: &str| part(b"data", &[b"\0\0\0\x01\0\0\0\0", text.as_bytes()].concat());
    let handler = part(b"hdlr", &[0; 25]);
    let keys = part(
        b"keys",
        &[b"\0\0\0\0\0\0\0\x01", &part(b"mdta", b"prompt")[..]].concat(),
    );
    let items = [
        part(b"\0\0\0\x01", &text("{}")),
        part(b"\xA9cmt", &text("a fox")),
    ];
    let meta = [
        b"\0\0\0\0".to_vec(),
        handler,
        keys,
        part(b"ilst", &items.concat()),
    ];
    let file = [
        part(b"ftyp", b"isom\0\0\0\0"),
        part(b"moov", &part(b"udta", &part(b"meta", &meta.concat()))),
    ];
    file.concat()
}

/// Files with metadata that is only read.
pub fn samples() -> Vec<Vec<u8>> {
    vec![with_exif(&tiff(b"UNICODE\0", &utf16("a fox"))), mp4()]
}

#[test]
fn reads_the_items_of_an_mp4() {
    let texts = [("prompt", "{}"), ("©cmt", "a fox")];
    assert_texts(&read(&mp4()), &texts);
    let c2pa = b"\xD8\xFE\xC3\xD6\x1B\x0E\x48\x3C\x92\x97\x58\x28\x87\x7E\xC4\x81";
    let file = [part(b"ftyp", b"isom\0\0\0\0"), part(b"uuid", c2pa)];
    assert!(read(&file.concat()).has_content_credentials);
}
