//! Reads numbers and texts from bytes, and changes ranges of bytes.

use std::ops::Range;

/// Returns the big-endian number at a position.
pub fn u32_be(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?) as usize)
}

/// Returns the little-endian number at a position.
pub fn u32_le(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
}

/// Returns the big-endian number at a position.
pub fn u16_be(bytes: &[u8], at: usize) -> Option<usize> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(two.try_into().ok()?).into())
}

/// Decodes UTF-8, or Latin-1 if the bytes are not UTF-8.
pub fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().copied().map(char::from).collect(),
        str::to_owned,
    )
}

/// Splits at the first NUL.
pub fn split_at_nul(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// Returns the bytes before the first NUL.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    split_at_nul(bytes).map_or(bytes, |(before, _)| before)
}

/// Replacements of ranges of a file.
#[derive(Default)]
pub struct Edits(Vec<(Range<usize>, Vec<u8>)>);

impl Edits {
    /// Replaces a range. Insertions at the same position keep the order of the calls, and
    /// precede a replacement that begins there. Ranges may not overlap.
    pub fn replace(&mut self, range: Range<usize>, with: Vec<u8>) {
        self.0.push((range, with));
    }

    pub fn insert(&mut self, at: usize, bytes: Vec<u8>) {
        self.replace(at..at, bytes);
    }

    pub fn remove(&mut self, range: Range<usize>) {
        self.replace(range, Vec::new());
    }

    /// Returns the difference in size that the edits make.
    pub fn growth(&self) -> i64 {
        let growth =
            |(range, with): &(Range<usize>, Vec<u8>)| with.len() as i64 - range.len() as i64;
        self.0.iter().map(growth).sum()
    }

    /// Returns the changed bytes.
    pub fn apply(mut self, bytes: &[u8]) -> Vec<u8> {
        let size = bytes.len() as i64 + self.growth();
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let mut at = 0;
        for (range, with) in self.0 {
            debug_assert!(at <= range.start, "overlapping edits");
            result.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
            result.extend(with);
            at = at.max(range.end);
        }
        result.extend_from_slice(bytes.get(at..).unwrap_or_default());
        result
    }
}
