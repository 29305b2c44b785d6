//! WAV: texts in `LIST INFO`, XMP in `_PMX`.

use crate::bytes::{Edits, text, until_nul};
use crate::collector::Collector;
use crate::riff::{self, BODY, Chunk};
use crate::{Entries, PARAMETERS, WriteError, xmp};

/// The name of the program in own lists, which tells them from those of other programs.
const PROGRAM: &str = "Atelier";
const SOFTWARE: &[u8; 4] = b"ISFT";
const COMMENT: &[u8; 4] = b"ICMT";
const XMP: &[u8; 4] = b"_PMX";

/// Returns the texts of a chunk that is a `LIST INFO`.
fn texts<'a>(chunk: &Chunk<'a>) -> Option<impl Iterator<Item = Chunk<'a>>> {
    let is_info = chunk.id == b"LIST" && chunk.data.starts_with(b"INFO");
    is_info.then(|| riff::chunks(chunk.data, 4..chunk.data.len()))
}

fn is_own(chunk: &Chunk<'_>) -> bool {
    let is_program =
        |text: Chunk<'_>| text.id == SOFTWARE && until_nul(text.data) == PROGRAM.as_bytes();
    texts(chunk).is_some_and(|mut texts| texts.any(is_program))
}

pub fn read(bytes: &[u8], collector: &mut Collector) {
    for chunk in riff::chunks(bytes, BODY..riff::end(bytes)) {
        match chunk.id {
            b"_PMX" => xmp::read(&text(chunk.data), collector),
            b"C2PA" => collector.set_content_credentials(),
            _ => {
                let is_own = is_own(&chunk);
                for Chunk { id, data, .. } in texts(&chunk).into_iter().flatten() {
                    match id {
                        b"ISFT" if is_own => {}
                        b"ICMT" if is_own => collector.add(PARAMETERS, text(until_nul(data))),
                        _ => collector.add(&text(id), text(until_nul(data))),
                    }
                }
            }
        }
    }
}

pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    let chunks = riff::all_chunks(bytes)?;
    let terminated = |text: &str| [text.as_bytes(), b"\0"].concat();
    let list = [
        b"INFO".to_vec(),
        riff::chunk(SOFTWARE, &terminated(PROGRAM)),
        riff::chunk(COMMENT, &terminated(&entries.parameters)),
    ];
    let mut edits = Edits::default();
    let old = chunks.iter().find(|chunk| is_own(chunk));
    riff::put(&mut edits, bytes, old, riff::chunk(b"LIST", &list.concat()));

    let old = chunks.iter().find(|chunk| chunk.id == XMP);
    let packet = old.map(|chunk| std::str::from_utf8(chunk.data));
    let packet = packet.transpose();
    let packet = packet.map_err(|_| WriteError::Malformed("its XMP can't be read"))?;
    let new = xmp::update(packet, &xmp::recipe(entries))?.unwrap_or_default();
    riff::put(&mut edits, bytes, old, riff::chunk(XMP, new.as_bytes()));
    riff::apply(edits, bytes)
}
