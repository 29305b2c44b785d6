//! Collects entries within bounds.

use crate::{Entry, Metadata};

/// The largest number of entries that are read.
pub const MAX_ENTRIES: usize = 256;
/// The largest size of all texts that are read, in bytes, after decompression.
pub const MAX_TEXT_BYTES: usize = 8 << 20;

/// Collects the metadata of a file. Counts what it costs, so that a hostile file takes bounded time and memory.
#[derive(Default)]
pub struct Collector {
    metadata: Metadata,
    /// The bytes that were read so far, also of texts that turned out unusable.
    used: usize,
}

impl Collector {
    /// Adds an entry, unless the bounds are reached.
    pub fn add(&mut self, name: &str, text: String) {
        let fits = self.spend(name.len() + text.len());
        if fits && self.metadata.entries.len() < MAX_ENTRIES {
            let name = name.to_owned();
            self.metadata.entries.push(Entry { name, text });
        } else {
            self.set_incomplete();
        }
    }

    /// Returns how many bytes may still be read.
    pub fn remaining(&self) -> usize {
        MAX_TEXT_BYTES - self.used
    }

    /// Counts bytes that are read. Returns `false` if they exceed the bound; nothing more can be read then, so that many
    /// large texts take no longer than one.
    pub fn spend(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.remaining();
        if fits {
            self.used += bytes;
        } else {
            self.used = MAX_TEXT_BYTES;
            self.set_incomplete();
        }
        fits
    }

    /// Reports that something was left out.
    pub fn set_incomplete(&mut self) {
        self.metadata.is_incomplete = true;
    }

    pub fn set_content_credentials(&mut self) {
        self.metadata.has_content_credentials = true;
    }

    pub fn set_source_type(&mut self, uri: &str) {
        let known = &mut self.metadata.digital_source_type;
        known.get_or_insert_with(|| uri.trim().to_owned());
    }

    pub fn finish(self) -> Metadata {
        self.metadata
    }
}
