//! The words that the models know, and what each means.
//!
//! This is a list of words, not understanding: it never says that it is more.

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

/// The ground that is painted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    Paper,
    Dark,
}

/// Something that is there or not.
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
    /// Arranged around a centre.
    Mirrored,
    Joyful,
    Sad,
}

/// One thing that a word says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sense {
    /// A colour by its name: lightness, chroma, hue.
    Colour(f32, f32, f32),
    /// The hue, in degrees of Oklch, that a thing brings with it where no colour is named.
    Hue(f32),
    /// The hue of a light of its own, from the zenith down.
    Glow(f32),
    Ground(Ground),
    Time(Time),
    /// The night comes with it, where no other time is named.
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

/// Words of one meaning.
#[derive(Debug)]
pub struct Entry {
    /// A space in a word makes it a phrase, which goes before its parts.
    pub words: &'static [&'static str],
    /// The kind of the words, for people who look for one.
    pub kind: &'static str,
    pub senses: &'static [Sense],
}

pub fn entries() -> impl Iterator<Item = &'static Entry> {
    COLOURS.iter().chain(OTHERS)
}

/// The meaning of a word in lower case, if it has one.
pub fn find(word: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_word_means_two_things() {
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
