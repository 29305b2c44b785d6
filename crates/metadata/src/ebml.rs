//! WebM and other Matroska files: tags in an element at the end of the segment.
//!
//! Only the outline of a file is read here: identifiers, sizes and positions. Crates for Matroska parse elements into
//! typed trees, and serialize a tree with other positions than the file had.

use std::collections::HashSet;
use std::ops::Range;

use crate::bytes::{Edits, text, until_nul};
use crate::collector::Collector;
use crate::{ATELIER, DigitalSourceType, Entries, PARAMETERS, WriteError};

const SEGMENT: u32 = 0x1853_8067;
const SEEK_HEAD: u32 = 0x114D_9B74;
const SEEK: u32 = 0x4DBB;
const SEEK_ID: u32 = 0x53AB;
const SEEK_POSITION: u32 = 0x53AC;
const CLUSTER: u32 = 0x1F43_B675;
const VOID: u32 = 0xEC;
const TAGS: u32 = 0x1254_C367;
const TAG: u32 = 0x7373;
const TARGETS: u32 = 0x63C0;
const SIMPLE_TAG: u32 = 0x67C8;
const TAG_NAME: u32 = 0x45A3;
const TAG_STRING: u32 = 0x4487;

/// The names of own tags. By convention, names of tags are in capitals.
const OWN: [(&str, &str); 2] = [("PARAMETERS", PARAMETERS), ("ATELIER", ATELIER)];
const SOURCE_TYPE: &str = "DIGITAL_SOURCE_TYPE";

/// An element of a file.
struct Element {
    id: u32,
    /// The whole element.
    range: Range<usize>,
    /// Where its contents begin.
    body: usize,
    /// Whether the size is unknown, which a recorder writes that can't return to the start of the file.
    is_unsized: bool,
}

impl Element {
    fn contents(&self) -> Range<usize> {
        self.body..self.range.end
    }
}

/// Reads the header of the element at `at`. An element without a size extends to `end`.
fn element(bytes: &[u8], at: usize, end: usize) -> Option<Element> {
    let bytes = bytes.get(..end)?;
    let first = *bytes.get(at)?;
    let id_width = first.leading_zeros() as usize + 1;
    if id_width > 4 {
        return None;
    }
    let id = number(bytes.get(at..at + id_width)?);
    let at_size = at + id_width;
    let first = *bytes.get(at_size)?;
    let width = first.leading_zeros() as usize + 1;
    if width > 8 {
        return None;
    }
    let mask = (1_u64 << (7 * width)) - 1;
    let size = number(bytes.get(at_size..at_size + width)?) & mask;
    let body = at_size + width;
    let is_unsized = size == mask;
    let stop = if is_unsized {
        end
    } else {
        body.checked_add(usize::try_from(size).ok()?)?
    };
    (stop <= end).then_some(Element {
        id: u32::try_from(id).ok()?,
        range: at..stop,
        body,
        is_unsized,
    })
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the elements in a range, up to the first damaged one. Clusters without a size are replaced by their contents.
fn elements(bytes: &[u8], range: Range<usize>) -> impl Iterator<Item = Element> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let found = element(bytes, at, range.end)?;
        if found.is_unsized && found.id != CLUSTER {
            return None;
        }
        at = if found.is_unsized {
            found.body
        } else {
            found.range.end
        };
        Some(found)
    })
}

fn segment(bytes: &[u8]) -> Option<Element> {
    let header = element(bytes, 0, bytes.len())?;
    let mut at = header.range.end;
    loop {
        let found = element(bytes, at, bytes.len())
            // The size of an incomplete file is larger than the file.
            .or_else(|| cut_segment(bytes, at))?;
        if found.id == SEGMENT {
            return Some(found);
        }
        at = found.range.end;
    }
}

/// Returns the segment of a file that ends before its segment does.
fn cut_segment(bytes: &[u8], at: usize) -> Option<Element> {
    let id = bytes.get(at..at + 4)?;
    let width = bytes.get(at + 4)?.leading_zeros() as usize + 1;
    let body = at + 4 + width;
    (id == SEGMENT.to_be_bytes() && body <= bytes.len()).then_some(Element {
        id: SEGMENT,
        range: at..bytes.len(),
        body,
        is_unsized: true,
    })
}

/// Calls `visit` with the name and the text of each tag.
fn tags(bytes: &[u8], tags: &Element, visit: &mut dyn FnMut(&[u8], &[u8])) {
    let tags = elements(bytes, tags.contents()).filter(|tag| tag.id == TAG);
    for tag in tags {
        let simple = elements(bytes, tag.contents()).filter(|tag| tag.id == SIMPLE_TAG);
        for simple in simple {
            let (mut name, mut value) = (None, None);
            for part in elements(bytes, simple.contents()) {
                match part.id {
                    TAG_NAME => name = Some(until_nul(&bytes[part.contents()])),
                    TAG_STRING => value = Some(until_nul(&bytes[part.contents()])),
                    _ => {}
                }
            }
            if let (Some(name), Some(value)) = (name, value) {
                visit(name, value);
            }
        }
    }
}

fn is_own(bytes: &[u8], element: &Element) -> bool {
    let mut is_own = false;
    if element.id == TAGS {
        tags(bytes, element, &mut |name, _| is_own |= name == b"ATELIER");
    }
    is_own
}

pub fn read(bytes: &[u8], collector: &mut Collector) {
    let Some(segment) = segment(bytes) else {
        return;
    };
    for element in elements(bytes, segment.contents()).filter(|element| element.id == TAGS) {
        let is_own = is_own(bytes, &element);
        tags(bytes, &element, &mut |name, value| {
            let name = text(name);
            let own = OWN.iter().find(|(own, _)| is_own && *own == name);
            let value = text(value);
            if name == SOURCE_TYPE {
                collector.set_source_type(&value);
            }
            collector.add(own.map_or(&name, |(_, entry)| entry), value);
        });
    }
}

pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    const DAMAGED: WriteError = WriteError::Malformed("its elements have a wrong length");
    let segment = segment(bytes).ok_or(DAMAGED)?;
    let top: Vec<Element> = elements(bytes, segment.contents()).collect();
    let end = segment.range.end;
    let reached = top.last().map_or(segment.body, |last| {
        if last.is_unsized {
            last.body
        } else {
            last.range.end
        }
    });
    // The size of a segment without one is that of the file.
    let has_size = bytes.get(segment.range.start + 4..segment.body);
    let is_unsized = has_size.is_some_and(|size| {
        number(size) & ((1_u64 << (7 * size.len())) - 1) == (1_u64 << (7 * size.len())) - 1
    });
    if reached != end || segment.is_unsized && !is_unsized {
        return Err(DAMAGED);
    }

    let mut edits = Edits::default();
    let mut position = (end - segment.body) as u64;
    let own: Vec<&Element> = top
        .iter()
        .filter(|element| is_own(bytes, element))
        .collect();
    let old_positions = own
        .iter()
        .map(|element| (element.range.start - segment.body) as u64)
        .collect();
    for own in own {
        if own.range.end == end {
            position -= own.range.len() as u64;
            edits.remove(own.range.clone());
        } else {
            // Removing it would move what follows.
            edits.replace(own.range.clone(), void(own.range.len()));
        }
    }
    edits.insert(end, tags_element(entries));
    put_seek_head(bytes, &top, &old_positions, position, &mut edits);

    if !segment.is_unsized {
        let size = (end - segment.body) as i64 + edits.growth();
        let size = u64::try_from(size).map_err(|_| WriteError::TooLong)?;
        let at = segment.range.start + 4..segment.body;
        let width = if size < (1 << (7 * at.len())) - 1 {
            at.len()
        } else {
            8
        };
        edits.replace(at, sized(size, width));
    }
    Ok(edits.apply(bytes))
}

/// Refers to the tags from the start of the file, because players do not search for them: in an own index that is there
/// already and refers to one of the old positions, or in the place of padding. Nothing else may be moved.
fn put_seek_head(
    bytes: &[u8],
    top: &[Element],
    old_positions: &HashSet<u64>,
    position: u64,
    edits: &mut Edits,
) {
    let index = seek_head(position);
    let start = top.iter().take_while(|element| element.id != CLUSTER);
    for found in start {
        let old = &bytes[found.range.clone()];
        let is_own = found.id == SEEK_HEAD
            && old.len() == index.len()
            && old[..index.len() - 8] == index[..index.len() - 8]
            && old_positions.contains(&number(&old[index.len() - 8..]));
        if is_own {
            edits.replace(found.range.clone(), index);
            return;
        }
    }
    let start = top.iter().take_while(|element| element.id != CLUSTER);
    let fits = |rest: usize| rest == 0 || rest >= 2;
    let is_padding = |found: &&Element| {
        found.id == VOID && found.range.len().checked_sub(index.len()).is_some_and(fits)
    };
    if let Some(padding) = start.filter(is_padding).last() {
        let rest = void(padding.range.len() - index.len());
        edits.replace(padding.range.clone(), [index, rest].concat());
    }
}

/// Returns the tags of the whole file.
fn tags_element(entries: &Entries) -> Vec<u8> {
    let tag = |name: &str, value: &str| {
        master(
            SIMPLE_TAG,
            &[
                master(TAG_NAME, &[name.as_bytes().to_vec()]),
                master(TAG_STRING, &[value.as_bytes().to_vec()]),
            ],
        )
    };
    let mut parts = vec![
        master(TARGETS, &[]),
        tag(OWN[0].0, &entries.parameters),
        tag(OWN[1].0, &entries.atelier),
    ];
    let source = entries.digital_source_type.map(DigitalSourceType::uri);
    parts.extend(source.map(|uri| tag(SOURCE_TYPE, uri)));
    master(TAGS, &[master(TAG, &parts)])
}

/// Returns an index of one element: the tags, at this position in the segment. Its last eight bytes are the position.
fn seek_head(position: u64) -> Vec<u8> {
    let entry = [
        master(SEEK_ID, &[TAGS.to_be_bytes().to_vec()]),
        master(SEEK_POSITION, &[position.to_be_bytes().to_vec()]),
    ];
    master(SEEK_HEAD, &[master(SEEK, &entry)])
}

/// Returns padding of this size, which is not 1.
fn void(size: usize) -> Vec<u8> {
    if size == 0 {
        return Vec::new();
    }
    let width = if size < 100 { 1 } else { 8 };
    let size = size - 1 - width;
    let mut bytes = vec![VOID as u8];
    bytes.extend(sized(size as u64, width));
    bytes.resize(bytes.len() + size, 0);
    bytes
}

/// Returns an element.
fn master(id: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    let id = id.to_be_bytes();
    let first = id.iter().position(|byte| *byte != 0).unwrap_or(3);
    let size: usize = parts.iter().map(Vec::len).sum();
    let width = if size < 127 { 1 } else { 8 };
    let mut bytes = id[first..].to_vec();
    bytes.extend(sized(size as u64, width));
    bytes.extend(parts.iter().flatten());
    bytes
}

/// Encodes a size in `width` bytes.
fn sized(size: u64, width: usize) -> Vec<u8> {
    let marked = size | 1 << (7 * width);
    marked.to_be_bytes()[8 - width..].to_vec()
}
