//! Files are written, read back, and otherwise unchanged.

use crate::common::{entries, files, picture, wav, webm};
use atelier_metadata::{
    ATELIER, DigitalSourceType, Entries, Format, PARAMETERS, WriteError, read, write,
};
use image::ImageFormat;
use proptest::prelude::*;

const TEXT: &str = "a fox, <red> & \"quick\"\r\nNegative prompt: blür 狐\nSteps: 20, Seed: 1";
const JSON: &str = r#"{"version":1,"inputs":{"prompt":"a <fox> & “犬”"}}"#;

/// Returns where `what` begins.
fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[test]
fn reads_what_was_written() {
    for (name, file) in files() {
        let written = write(&file, &entries(TEXT, JSON)).unwrap();
        let metadata = read(&written);
        assert_eq!(metadata.text(PARAMETERS), Some(TEXT), "{name}");
        assert_eq!(metadata.text(ATELIER), Some(JSON), "{name}");
        let source = DigitalSourceType::AlgorithmicMedia.uri();
        assert_eq!(
            metadata.digital_source_type.as_deref(),
            Some(source),
            "{name}"
        );
        assert!(!metadata.has_content_credentials && !metadata.is_incomplete);
        assert_eq!(Format::of(&written), Format::of(&file));
    }
}

#[test]
fn replaces_what_it_has_written() {
    for (name, file) in files() {
        let long = write(&file, &entries(&"x".repeat(999), JSON)).unwrap();
        let again = write(&long, &entries(TEXT, JSON)).unwrap();
        assert!(
            again == write(&file, &entries(TEXT, JSON)).unwrap(),
            "{name}"
        );
        let untyped = Entries {
            digital_source_type: None,
            ..entries(TEXT, JSON)
        };
        let again = write(&long, &untyped).unwrap();
        assert_eq!(read(&again).digital_source_type, None, "{name}");
        assert!(again == write(&file, &untyped).unwrap(), "{name}");
    }
}

#[test]
fn pictures_decode_to_the_same_pixels() {
    for (name, file) in files().into_iter().take(3) {
        let written = write(&file, &entries(TEXT, JSON)).unwrap();
        let [old, new] = [&file, &written].map(|file| image::load_from_memory(file).unwrap());
        assert!(old == new, "{name}");
    }
}

/// Every byte of the old file is in the new one, in order, except for sizes and the flags of a WebP.
#[test]
fn keeps_everything_else_byte_for_byte() {
    let trailing = b"after the end";
    for (name, mut file) in files() {
        file.extend(trailing);
        match name {
            "webm" => {
                // Bytes after the segment that are no element.
                let written = write(&file, &entries(TEXT, JSON)).unwrap();
                assert!(written.ends_with(trailing));
            }
            "png" | "jpeg" => {
                let written = write(&file, &entries(TEXT, JSON)).unwrap();
                let inserted = written.len() - file.len();
                let at = (0..file.len()).find(|i| file[*i] != written[*i]).unwrap();
                // The first inserted bytes may be equal to the old ones.
                let is_same = (0..=at).any(|at| file[at..] == written[at + inserted..]);
                assert!(is_same, "{name}");
            }
            _ => {
                let written = write(&file, &entries(TEXT, JSON)).unwrap();
                assert!(written.ends_with(trailing), "{name}");
                let body = &file[12..file.len() - trailing.len()];
                assert!(find(&written, body).is_some(), "{name}");
            }
        }
    }
}

#[test]
fn leaves_files_with_content_credentials_alone() {
    let png = picture(ImageFormat::Png);
    let chunk = [&png[..33], b"\0\0\0\x04caBXjumb\0\0\0\0", &png[33..]].concat();
    let jpeg = picture(ImageFormat::Jpeg);
    let jumbf = b"\xFF\xEB\x00\x14JP\x00\x01\x00\x00\x00\x01....c2pa";
    let segment = [&jpeg[..2], jumbf, &jpeg[2..]].concat();
    let with_chunk = |mut riff: Vec<u8>| {
        if riff.len() % 2 == 1 {
            riff.push(0);
        }
        riff.extend(b"C2PA\x04\0\0\0jumb");
        let size = riff.len() as u32 - 8;
        riff[4..8].copy_from_slice(&size.to_le_bytes());
        riff
    };
    let xmp = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
        <rdf:Description xmlns:t=\"http://purl.org/dc/terms/\" t:provenance=\"https://example.org/m.c2pa\"/></rdf:RDF></x:xmpmeta>";
    let remote = with_xmp(&jpeg, xmp);
    let files = [
        chunk,
        segment,
        with_chunk(picture(ImageFormat::WebP)),
        with_chunk(wav()),
        remote,
    ];
    for file in files {
        assert!(read(&file).has_content_credentials);
        let written = write(&file, &entries(TEXT, JSON));
        assert_eq!(written, Err(WriteError::ContentCredentials));
    }
}

fn with_xmp(jpeg: &[u8], xmp: &str) -> Vec<u8> {
    let length = (2 + 29 + xmp.len()) as u16;
    let segment = [
        b"\xFF\xE1",
        &length.to_be_bytes()[..],
        b"http://ns.adobe.com/xap/1.0/\0",
        xmp.as_bytes(),
    ];
    [&jpeg[..2], &segment.concat(), &jpeg[2..]].concat()
}

#[test]
fn adds_to_the_xmp_of_another_program() {
    let xmp = "<?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>\n\
        <r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n\
        <r:Description r:about='uuid:\"1\"' xmlns:d='http://purl.org/dc/elements/1.1/' d:format='image/jpeg'>\n\
        <d:creator><r:Seq><r:li>Ada &amp; Bob</r:li> <r:li>C</r:li></r:Seq></d:creator>\n\
        <i:DigitalSourceType xmlns:i='http://iptc.org/std/Iptc4xmpExt/2008-02-29/'>composite</i:DigitalSourceType>\n\
        </r:Description>\n</r:RDF></x:xmpmeta>   <?xpacket end='w'?>";
    let file = with_xmp(&picture(ImageFormat::Jpeg), xmp);
    let written = write(&file, &entries(TEXT, JSON)).unwrap();
    let metadata = read(&written);
    assert_eq!(metadata.text("xmp:dc:creator"), Some("Ada & Bob\nC"));
    assert_eq!(metadata.text("xmp:dc:format"), Some("image/jpeg"));
    assert_eq!(metadata.text(ATELIER), Some(JSON));
    assert_eq!(metadata.digital_source_type.as_deref(), Some("composite"));
    let composites = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.matches("DigitalSourceType>").count()
    };
    assert_eq!(composites(&written), 1);
    assert!(find(&written, b"rdf:about=\"uuid:&quot;1&quot;\" xmlns:atelier").is_some());
    assert!(written == write(&written, &entries(TEXT, JSON)).unwrap());
    let (old, _) = xmp.split_once("</r:RDF>").unwrap();
    assert!(find(&written, old.as_bytes()).is_some());
}

#[test]
fn parameters_of_another_program_remain() {
    let png = picture(ImageFormat::Png);
    let foreign = b"\0\0\0\x0EtEXtparameters\0foo\0\0\0\0";
    let file = [&png[..33], foreign, &png[33..]].concat();
    let written = write(&file, &entries(TEXT, JSON)).unwrap();
    let texts = |bytes: &[u8]| {
        let entries = read(bytes).entries.into_iter();
        entries
            .filter(|entry| entry.name == PARAMETERS)
            .map(|entry| entry.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&written), ["foo"]);
    let again = write(&written, &entries(TEXT, JSON)).unwrap();
    assert_eq!(texts(&again), ["foo"]);
    assert!(again == written);
}

#[test]
fn refuses_what_it_can_not_write() {
    let write = |bytes: &[u8]| write(bytes, &entries(TEXT, JSON)).unwrap_err();
    assert_eq!(write(b""), WriteError::Unsupported);
    assert_eq!(write(b"GIF89a"), WriteError::Unsupported);
    assert_eq!(
        write(b"\0\0\0\x10ftypisom\0\0\0\0"),
        WriteError::Unsupported
    );
    for (name, file) in files() {
        let cut = &file[..file.len() - 2];
        if name != "jpeg" {
            assert!(matches!(write(cut), WriteError::Malformed(_)), "{name}");
        }
    }
    let jpeg = picture(ImageFormat::Jpeg);
    let long = entries(&"x".repeat(65_000), JSON);
    assert_eq!(
        atelier_metadata::write(&jpeg, &long),
        Err(WriteError::TooLong)
    );
    let damaged = with_xmp(&jpeg, "<rdf:RDF>");
    assert!(matches!(write(&damaged), WriteError::Malformed(_)));
}

#[test]
fn the_tags_of_a_video_are_found_from_its_start() {
    let file = webm();
    let written = write(&file, &entries(TEXT, JSON)).unwrap();
    let segment = find(&written, &[0x18, 0x53, 0x80, 0x67]).unwrap() + 12;
    let index = find(&written, &[0x53, 0xAC, 0x88]).expect("an index");
    assert!(index < find(&written, &[0x1F, 0x43, 0xB6, 0x75]).unwrap());
    let position = u64::from_be_bytes(written[index + 3..index + 11].try_into().unwrap());
    let tags = &written[segment + position as usize..];
    assert!(tags.starts_with(&[0x12, 0x54, 0xC3, 0x67]));
}

/// Any text that XML can represent.
fn texts() -> impl Strategy<Value = String> {
    "[\t\n\r -\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]{0,60}"
}

proptest! {
    #[test]
    fn any_text_is_read_as_it_was_written(parameters in texts(), atelier in texts()) {
        for (name, file) in files() {
            let written = write(&file, &entries(&parameters, &atelier)).unwrap();
            let metadata = read(&written);
            prop_assert_eq!(metadata.text(PARAMETERS), Some(&*parameters), "{}", name);
            prop_assert_eq!(metadata.text(ATELIER), Some(&*atelier), "{}", name);
        }
    }

    #[test]
    fn any_characters_can_be_written(parameters: String, atelier: String) {
        for (_, file) in files() {
            prop_assert!(write(&file, &entries(&parameters, &atelier)).is_ok());
        }
    }
}
