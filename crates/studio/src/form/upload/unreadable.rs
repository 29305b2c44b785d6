//! Recognizes pictures that browsers can't read, by their first bytes.

/// The number of bytes that are needed.
pub const HEAD: usize = 64;

/// A format that browsers can't read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable {
    pub name: &'static str,
    /// The media type, by which services list it.
    mime: &'static str,
}

/// Returns the format of a file, if browsers can't read it.
pub fn unreadable(head: &[u8]) -> Option<Unreadable> {
    const STARTS: [(&[u8], &str, &str); 10] = [
        (b"II*\0", "TIFF or camera raw", "image/tiff"),
        (b"MM\0*", "TIFF or camera raw", "image/tiff"),
        (b"II+\0", "TIFF", "image/tiff"),
        (b"IIRO", "camera raw", "image/x-olympus-orf"),
        (b"IIU\0", "camera raw", "image/x-panasonic-rw2"),
        (b"FUJIFILMCCD-RAW", "camera raw", "image/x-fuji-raf"),
        (b"8BPS", "Photoshop", "image/vnd.adobe.photoshop"),
        (b"\0\0\0\x0cjP  ", "JPEG 2000", "image/jp2"),
        (b"\x76\x2f\x31\x01", "OpenEXR", "image/x-exr"),
        (b"gimp xcf", "GIMP", "image/x-xcf"),
    ];
    let found = STARTS.iter().find(|(start, ..)| head.starts_with(start));
    let (name, mime) = match found {
        Some((_, name, mime)) => (name, mime),
        None => of_brands(head)?,
    };
    Some(Unreadable { name, mime })
}

/// Returns the format of a file in the container of MP4 and HEIC.
fn of_brands(head: &[u8]) -> Option<(&'static &'static str, &'static &'static str)> {
    if head.get(4..8)? != b"ftyp" {
        return None;
    }
    let length = u32::from_be_bytes(head.get(..4)?.try_into().ok()?) as usize;
    let brands = head.get(8..length.min(head.len()))?;
    let has = |brand: &[u8; 4]| brands.chunks(4).any(|it| it == brand);
    // Browsers read AVIF, which has some of the same brands.
    if has(b"avif") || has(b"avis") {
        return None;
    }
    match brands.get(..4)? {
        b"crx " => Some((&"camera raw", &"image/x-canon-cr3")),
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => {
            Some((&"HEIC", &"image/heic"))
        }
        _ => None,
    }
}

impl Unreadable {
    /// Returns why such a file can't be used, and what to do; `None` if the service lists its type. `types`: the types that
    /// the service accepts; empty if they are unknown.
    pub fn refusal(self, file: &str, types: &[String]) -> Option<String> {
        let is_listed = types.iter().any(|it| it == self.mime);
        let name = self.name;
        (!is_listed).then(|| {
            format!(
                "{file} is a picture in the format {name}, which browsers can't read. Export it as JPEG or PNG, then \
                 choose that file."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(head: &[u8]) -> Option<&'static str> {
        unreadable(head).map(|it| it.name)
    }

    #[test]
    fn formats_are_recognized_by_their_bytes() {
        assert_eq!(name(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Some("HEIC"));
        assert_eq!(name(b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic"), Some("HEIC"));
        assert_eq!(
            name(b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom"),
            Some("camera raw")
        );
        assert_eq!(name(b"II*\0\x08\0\0\0"), Some("TIFF or camera raw"));
        assert_eq!(name(b"8BPS\0\x01"), Some("Photoshop"));
    }

    #[test]
    fn pictures_that_browsers_read_are_not_refused() {
        for head in [
            &b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf"[..],
            b"\0\0\0\x1cftypmif1\0\0\0\0avifmif1miaf",
            b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom",
            b"\xff\xd8\xff\xe0",
            b"\x89PNG\r\n\x1a\n",
            b"RIFF\0\0\0\0WEBP",
            b"",
            b"\0\0\0\0ftyp",
        ] {
            assert_eq!(name(head), None);
        }
    }

    #[test]
    fn the_refusal_says_what_to_do_unless_the_service_lists_the_type() {
        let heic = unreadable(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap();
        let message = "holiday.jpg is a picture in the format HEIC, which browsers can't read. Export it as JPEG or \
            PNG, then choose that file.";
        assert_eq!(heic.refusal("holiday.jpg", &[]).as_deref(), Some(message));
        assert_eq!(
            heic.refusal("holiday.jpg", &["image/heic".to_owned()]),
            None
        );
    }
}
