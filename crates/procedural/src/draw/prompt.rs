//! The prompt parser. Words in the [vocabulary] set the scene, and all words affect the random
//! numbers.

use super::color::{Lab, lch};
use super::vocabulary::{self, Entry, Feature, Ground, Sense, Time};

/// The properties that a prompt asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The hash of all words, known or not.
    pub hash: u64,
    pub time: Option<Time>,
    /// The last ground in the prompt.
    pub ground: Option<Ground>,
    /// The named colors, without duplicates, in the prompt's order.
    pub named: Vec<Lab>,
    /// The hues of the named things, in degrees.
    pub hues: Vec<f32>,
    /// The hues of the named lights, in degrees, from the zenith down.
    pub glows: Vec<f32>,
    /// -1 calm to 1 wild.
    pub energy: f32,
    /// -1 pale to 1 vivid.
    pub vivid: f32,
    /// -1 dark to 1 light.
    pub light: f32,
    /// -1 sparse to 1 dense.
    pub dense: f32,
    features: Vec<Feature>,
    /// The features that the prompt excludes.
    denied: Vec<Feature>,
}

/// The word after one of these is negated, with or without an article between them.
const NEGATIONS: [&str; 3] = ["no", "not", "without"];
const ARTICLES: [&str; 4] = ["a", "an", "any", "the"];

impl Reading {
    /// Parses a prompt.
    pub fn of(prompt: &str) -> Self {
        let mut reading = Self {
            hash: 0xcbf2_9ce4_8422_2325,
            ..Self::default()
        };
        let lower = prompt.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        for word in &words {
            for byte in word.bytes().chain([0]) {
                reading.hash = (reading.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        let mut rest = words.as_slice();
        let mut is_denied = false;
        while let [word, after @ ..] = rest {
            let phrase = after
                .first()
                .and_then(|next| vocabulary::find(&format!("{word} {next}")));
            match phrase.or_else(|| vocabulary::find(word)) {
                Some(entry) if is_denied => reading.deny(entry),
                Some(entry) => reading.apply(entry),
                None => {}
            }
            is_denied = NEGATIONS.contains(word) || (is_denied && ARTICLES.contains(word));
            rest = after
                .get(usize::from(phrase.is_some())..)
                .unwrap_or_default();
        }
        for scale in [
            &mut reading.energy,
            &mut reading.vivid,
            &mut reading.light,
            &mut reading.dense,
        ] {
            *scale = scale.clamp(-1.0, 1.0);
        }
        reading
    }

    fn deny(&mut self, entry: &Entry) {
        let features = entry.senses.iter().filter_map(|sense| match sense {
            Sense::Feature(feature) => Some(*feature),
            _ => None,
        });
        self.denied.extend(features);
    }

    fn apply(&mut self, entry: &Entry) {
        for sense in entry.senses {
            match *sense {
                Sense::Colour(..) => {
                    let new = sense.colour().filter(|c| !self.named.contains(c));
                    self.named.extend(new);
                }
                Sense::Hue(hue) => self.hues.push(hue),
                Sense::Glow(hue) => self.glows.push(hue),
                Sense::Ground(ground) => self.ground = Some(ground),
                Sense::Time(time) => self.time = Some(time),
                Sense::AtNight => self.time = self.time.or(Some(Time::Night)),
                Sense::Energy(by) => self.energy += by,
                Sense::Vivid(by) => self.vivid += by,
                Sense::Light(by) => self.light += by,
                Sense::Dense(by) => self.dense += by,
                Sense::Feature(feature) => self.features.push(feature),
            }
        }
    }

    /// Returns the named colors. For a single one, adds two neighboring hues.
    pub fn colours(&self) -> Vec<Lab> {
        let [only] = self.named.as_slice() else {
            return self.named.clone();
        };
        if only.is_grey() {
            return vec![*only];
        }
        let neighbor = |l: f32, turn: f32| lch(only.l + l, only.chroma(), only.hue() + turn);
        vec![*only, neighbor(-0.07, -13.0), neighbor(0.07, 13.0)]
    }

    /// Returns whether the prompt asks for a feature and does not exclude it.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature) && !self.denies(feature)
    }

    /// Returns whether the prompt excludes a feature.
    pub fn denies(&self, feature: Feature) -> bool {
        self.denied.contains(&feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_set_the_mood_and_all_words_change_the_hash() {
        let sea = Reading::of("Storm over the OCEAN, at night");
        assert!(sea.has(Feature::Water) && sea.energy > 0.5);
        assert_eq!(sea.time, Some(Time::Night));
        assert_ne!(Reading::of("xyzzy").hash, Reading::of("plugh").hash);
        assert_eq!(Reading::of("a  b!").hash, Reading::of("A b").hash);
        assert_eq!(Reading::of("").hues, [0.0; 0]);
    }

    /// Guards against a lake in a desert without water.
    #[test]
    fn negated_features_are_excluded() {
        for prompt in [
            "desert, no water",
            "desert without any water",
            "no water, a lake",
        ] {
            let reading = Reading::of(prompt);
            assert!(!reading.has(Feature::Water), "{prompt}");
            assert!(reading.denies(Feature::Water), "{prompt}");
        }
        assert!(Reading::of("desert with no trees by the water").has(Feature::Water));
        assert!(Reading::of("teal, not blue").named == Reading::of("teal").named);
    }

    /// Guards against treating "rose" as a shape instead of a color.
    #[test]
    fn distinguishes_rose_from_rose_window() {
        let colours = Reading::of("rose and teal");
        assert_eq!(colours.named.len(), 2);
        assert!(!colours.has(Feature::Mirrored));
        let window = Reading::of("Rose window in teal");
        assert_eq!(window.named, Reading::of("teal").named);
        assert!(window.has(Feature::Mirrored));
    }

    #[test]
    fn uses_the_last_named_ground() {
        let ground = |prompt: &str| Reading::of(prompt).ground;
        assert_eq!(ground("cobalt on paper"), Some(Ground::Paper));
        assert_eq!(ground("white on black"), Some(Ground::Dark));
        assert_eq!(ground("black on white"), Some(Ground::Paper));
        assert_eq!(ground("cobalt"), None);
    }
}
