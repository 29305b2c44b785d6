//! The words that the models know, with their meanings.
//!
//! It is a plain list of words, without language understanding, and must not be presented as more.

use super::color::{Lab, lch};

mod colours;
mod others;

use colours::COLOURS;
use others::OTHERS;

/// The part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    Dawn,
    Day,
    Sunset,
    Night,
}

/// The background of a painting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    Paper,
    Dark,
}

/// A property of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    Water,
    Trees,
    Autumn,
    Snow,
    Dunes,
    Mist,
    Rain,
    Stars,
    Moon,
    Fire,
    Neon,
    /// Arranged symmetrically around a center.
    Mirrored,
    Joyful,
    Sad,
}

/// One meaning of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sense {
    /// A named color: lightness, chroma, hue.
    Colour(f32, f32, f32),
    /// The hue of a thing, in degrees of Oklch, used if no color is named.
    Hue(f32),
    /// The hue of a light in the sky, from the zenith down.
    Glow(f32),
    Ground(Ground),
    Time(Time),
    /// Implies night, if no other time is named.
    AtNight,
    Energy(f32),
    Vivid(f32),
    Light(f32),
    Dense(f32),
    Feature(Feature),
}

impl Sense {
    pub fn colour(self) -> Option<Lab> {
        match self {
            Self::Colour(l, chroma, hue) => Some(lch(l, chroma, hue)),
            _ => None,
        }
    }
}

/// Words with the same meaning.
#[derive(Debug)]
pub struct Entry {
    /// A word with a space is a phrase, which takes precedence over its parts.
    pub words: &'static [&'static str],
    /// The category of the words, for the user.
    pub kind: &'static str,
    pub senses: &'static [Sense],
}

/// Returns all entries.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    COLOURS.iter().chain(OTHERS)
}

/// Returns the entry of a lower-case word.
pub fn find(word: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_are_unique_and_lower_case() {
        let mut words = HashSet::new();
        for entry in entries() {
            assert!(!entry.senses.is_empty());
            for word in entry.words {
                assert!(words.insert(*word), "{word}");
                assert_eq!(*word, word.to_lowercase());
            }
        }
    }
}
