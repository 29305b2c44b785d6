//! Detects the encoding of a text file. Spreadsheet programs save tables in the system's code page without declaring
//! it.
//!
//! This module returns a label of the WHATWG Encoding Standard, with which the platform decodes the file, or rejects
//! the file. With a wrong encoding, wrong rows would look valid and be charged.

mod single_byte;
mod two_byte;

use two_byte::TwoByte;

/// An encoding, with its label in the WHATWG Encoding Standard and its common name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    pub label: &'static str,
    pub name: &'static str,
}

impl Encoding {
    const fn new(label: &'static str, name: &'static str) -> Self {
        Self { label, name }
    }

    /// Whether the encoding is certain, because of a byte order mark or because the text is valid. Other encodings are
    /// guessed from the bytes, and the user should check the result.
    pub fn is_certain(self) -> bool {
        matches!(self.label, "utf-8" | "utf-16le" | "utf-16be")
    }
}

const UTF_8: Encoding = Encoding::new("utf-8", "UTF-8");
const UTF_16LE: Encoding = Encoding::new("utf-16le", "UTF-16");
const UTF_16BE: Encoding = Encoding::new("utf-16be", "UTF-16");

/// Detects the encoding of a text file. `languages`: the user's languages, the preferred one first (`zh-CN`, `de`).
/// They decide between encodings for which the bytes are equally plausible.
///
/// # Errors
///
/// A message: the file is not a text, or its encoding is ambiguous.
pub fn encoding_of(bytes: &[u8], languages: &[String]) -> Result<Encoding, String> {
    if let Some(encoding) = by_mark(bytes) {
        return Ok(encoding);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return Err("This is a workbook or an archive, not a text file: save the table as “CSV UTF-8” and choose that file.".into());
    }
    if bytes.contains(&0) {
        return without_mark(bytes).ok_or_else(|| {
            "This is not a text file: it contains NUL bytes. Save the table as “CSV UTF-8” and choose that file."
                .into()
        });
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(_) => return Ok(UTF_8),
        Err(error) => error,
    };
    let mut plausible: Vec<Encoding> = TwoByte::ALL
        .iter()
        .filter(|encoding| encoding.is_plausible(bytes))
        .map(|encoding| encoding.encoding())
        .collect();
    plausible.extend(single_byte::plausible(bytes, languages));
    match plausible.as_slice() {
        [only] => Ok(*only),
        several => {
            let preferred = languages.iter().find_map(|language| {
                let label = default_encoding(language)?;
                several.iter().copied().find(|it| it.label == label)
            });
            preferred.ok_or_else(|| undecided(bytes, error.valid_up_to()))
        }
    }
}

fn by_mark(bytes: &[u8]) -> Option<Encoding> {
    let marks: [(&[u8], Encoding); 3] = [
        (b"\xef\xbb\xbf", UTF_8),
        (b"\xff\xfe", UTF_16LE),
        (b"\xfe\xff", UTF_16BE),
    ];
    let found = marks.into_iter().find(|(mark, _)| bytes.starts_with(mark));
    found.map(|(_, encoding)| encoding)
}

/// Detects UTF-16 without a byte order mark. Column names are ASCII, so every second byte of the first line is 0.
fn without_mark(bytes: &[u8]) -> Option<Encoding> {
    const MAX_BYTES: usize = 64;
    let units: Vec<&[u8]> = bytes.chunks_exact(2).take(MAX_BYTES / 2).collect();
    let first_line = |low: usize| {
        let letters = units
            .iter()
            .take_while(|unit| !b"\r\n".contains(&unit[low]));
        let mut letters = letters.peekable();
        letters.peek().is_some() && letters.all(|unit| unit[1 - low] == 0 && unit[low] != 0)
    };
    match bytes.len() % 2 {
        0 if first_line(0) => Some(UTF_16LE),
        0 if first_line(1) => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns the label of the legacy encoding for a language.
fn default_encoding(language: &str) -> Option<&'static str> {
    let language = language.to_ascii_lowercase();
    let mut parts = language.split(['-', '_']);
    let main = parts.next()?;
    let is_traditional = parts.any(|part| matches!(part, "tw" | "hk" | "mo" | "hant"));
    match main {
        "zh" if is_traditional => Some("big5"),
        "zh" => Some("gb18030"),
        "ja" => Some("shift_jis"),
        "ko" => Some("euc-kr"),
        _ => Some(single_byte::default_encoding(main).label),
    }
}

fn undecided(bytes: &[u8], at: usize) -> String {
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let odd = &bytes[at..bytes.len().min(at + 4)];
    let odd: Vec<String> = odd.iter().map(|byte| format!("{byte:02X}")).collect();
    format!(
        "The file is not UTF-8 (line {line} has the bytes {}), and its encoding can't be detected. Save the table as “CSV UTF-8” and choose it again.",
        odd.join(" ")
    )
}

/// Returns the message if the platform fails to decode the file.
pub fn refusal(encoding: Encoding) -> String {
    format!(
        "The file looks like {} but contains invalid bytes. Save the table as “CSV UTF-8” and choose it again.",
        encoding.name
    )
}

#[cfg(test)]
mod tests;
