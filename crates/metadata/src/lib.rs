//! Reads and writes text metadata of media files: how a file was made.
//!
//! | format | read | written |
//! | --- | --- | --- |
//! | PNG | `tEXt`, `zTXt`, `iTXt`, XMP, EXIF | `parameters` and `atelier` as text chunks, the source type as XMP |
//! | JPEG | XMP, EXIF, comments | XMP |
//! | WebP | XMP, EXIF | XMP |
//! | WAV | `LIST INFO`, XMP | `parameters` in `LIST INFO`, the rest as XMP |
//! | WebM, Matroska | tags | tags |
//! | MP4, QuickTime | metadata items, XMP | nothing |
//!
//! Files are changed by inserting, replacing and removing ranges of bytes; everything else remains as it is, including
//! data after the end of an image. General libraries for these containers serialize the whole file anew, and drop such
//! data.
//!
//! Files may be hostile. [`read`] never fails: it returns what it can read within [`MAX_TEXT_BYTES`] and
//! [`MAX_ENTRIES`].

mod bytes;
mod collector;
mod ebml;
mod exif;
mod jpeg;
mod mp4;
mod png;
pub mod recipe;
mod riff;
mod wav;
mod webp;
mod xmp;

pub use collector::{MAX_ENTRIES, MAX_TEXT_BYTES};

use collector::Collector;

/// The name of the entry with the inputs in the line format of AUTOMATIC1111.
pub const PARAMETERS: &str = "parameters";
/// The name of the entry with the recipe as JSON.
pub const ATELIER: &str = "atelier";

/// The text metadata of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Whether the file carries Content Credentials (C2PA), or refers to some. [`write`] refuses such files.
    pub has_content_credentials: bool,
    /// The IPTC digital source type, usually an address below [`DigitalSourceType::VOCABULARY`].
    pub digital_source_type: Option<String>,
    /// Whether entries were left out because of [`MAX_ENTRIES`] or [`MAX_TEXT_BYTES`].
    pub is_incomplete: bool,
}

impl Metadata {
    /// Returns the text of the first entry with this name.
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        entries
            .find(|entry| entry.name == name)
            .map(|entry| &*entry.text)
    }
}

/// One text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// [`PARAMETERS`] and [`ATELIER`] in every format, if [`write`] has written them. Otherwise the keyword of a PNG
    /// text chunk (`prompt`), the prefix and the name of an XMP property (`xmp:dc:creator`), the name of an EXIF tag
    /// (`UserComment`), `Comment` of a JPEG, the identifier of a RIFF text (`ICMT`), or the name of a Matroska tag or
    /// an MP4 metadata item.
    pub name: String,
    pub text: String,
}

/// What [`write`] adds to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    /// The inputs in the line format of AUTOMATIC1111.
    pub parameters: String,
    /// The recipe as JSON.
    pub atelier: String,
    pub digital_source_type: Option<DigitalSourceType>,
}

/// How a file came about, in the words of the IPTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigitalSourceType {
    /// Computed without a model that was trained on samples.
    AlgorithmicMedia,
    /// Made by a model that was trained on samples: generative AI.
    TrainedAlgorithmicMedia,
}

impl DigitalSourceType {
    /// The address of the IPTC's vocabulary.
    pub const VOCABULARY: &str = "http://cv.iptc.org/newscodes/digitalsourcetype/";

    /// Returns the address that identifies the type.
    pub fn uri(self) -> &'static str {
        match self {
            Self::AlgorithmicMedia => {
                "http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"
            }
            Self::TrainedAlgorithmicMedia => {
                "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
            }
        }
    }
}

/// The container of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    Webp,
    Wav,
    /// WebM or another Matroska file.
    Matroska,
    /// MP4, QuickTime, HEIC or another file of ISO boxes. Can only be read.
    Mp4,
}

impl Format {
    /// Returns the format that the first bytes of a file show.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(png::SIGNATURE) {
            Some(Self::Png)
        } else if bytes.starts_with(&[0xFF, 0xD8, 0xFF]) {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"RIFF") {
            match bytes.get(8..12)? {
                b"WEBP" => Some(Self::Webp),
                b"WAVE" => Some(Self::Wav),
                _ => None,
            }
        } else if bytes.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]) {
            Some(Self::Matroska)
        } else if bytes.get(4..8) == Some(b"ftyp") {
            Some(Self::Mp4)
        } else {
            None
        }
    }
}

/// Why [`write`] did not change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A change would invalidate the Content Credentials.
    #[error("the file carries Content Credentials, which a change would invalidate")]
    ContentCredentials,
    #[error("files of this type can't be written")]
    Unsupported,
    /// The file does not end where it says, or its XMP is not XML.
    #[error("the file is damaged or incomplete: {0}")]
    Malformed(&'static str),
    /// A JPEG has space for 65 502 bytes of XMP.
    #[error("the metadata is too long for this type of file")]
    TooLong,
}

/// Returns the text metadata of a file. Empty if the type is unknown or the file is damaged from the start.
pub fn read(bytes: &[u8]) -> Metadata {
    let mut collector = Collector::default();
    match Format::of(bytes) {
        Some(Format::Png) => png::read(bytes, &mut collector),
        Some(Format::Jpeg) => jpeg::read(bytes, &mut collector),
        Some(Format::Webp) => webp::read(bytes, &mut collector),
        Some(Format::Wav) => wav::read(bytes, &mut collector),
        Some(Format::Matroska) => ebml::read(bytes, &mut collector),
        Some(Format::Mp4) => mp4::read(bytes, &mut collector),
        None => {}
    }
    collector.finish()
}

/// Returns the file with these entries in place of those that an earlier call has written. The media data is copied as
/// it is, and so is all other metadata. `parameters` or a digital source type that another program has written
/// remains, and replaces that of `entries`. Characters that XML can't represent become U+FFFD.
///
/// # Errors
///
/// See [`WriteError`].
pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    let format = Format::of(bytes).ok_or(WriteError::Unsupported)?;
    if read(bytes).has_content_credentials {
        return Err(WriteError::ContentCredentials);
    }
    let entries = &Entries {
        parameters: xmp::replace_forbidden(&entries.parameters),
        atelier: xmp::replace_forbidden(&entries.atelier),
        ..*entries
    };
    match format {
        Format::Png => png::write(bytes, entries),
        Format::Jpeg => jpeg::write(bytes, entries),
        Format::Webp => webp::write(bytes, entries),
        Format::Wav => wav::write(bytes, entries),
        Format::Matroska => ebml::write(bytes, entries),
        Format::Mp4 => Err(WriteError::Unsupported),
    }
}
