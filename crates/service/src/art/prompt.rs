//! How a prompt is read: known words set the mood, and every word moves the dice.
//!
//! This is a list of words, not understanding: it never says that it is more.

/// The part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    Dawn,
    Day,
    Sunset,
    Night,
}

/// What a prompt asks for, as far as the word list goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Of all words, known or not.
    pub hash: u64,
    pub time: Option<Time>,
    /// Hues to choose inks from, in degrees: of the colours named, and of the things.
    pub hues: Vec<f32>,
    /// Hues of the colours named alone.
    pub named: Vec<f32>,
    /// -1 calm to 1 wild.
    pub energy: f32,
    /// -1 pale to 1 vivid.
    pub vivid: f32,
    /// -1 dark to 1 light.
    pub light: f32,
    /// -1 sparse to 1 dense.
    pub dense: f32,
    pub water: bool,
    pub trees: bool,
    pub snow: bool,
    pub dunes: bool,
    pub mist: bool,
    pub stars: bool,
    pub moon: bool,
    pub fire: bool,
    pub rain: bool,
    pub neon: bool,
    pub mirrored: bool,
    pub joyful: bool,
    pub sad: bool,
}

impl Reading {
    pub fn of(prompt: &str) -> Self {
        let mut reading = Self {
            hash: 0xcbf2_9ce4_8422_2325,
            time: None,
            hues: Vec::new(),
            named: Vec::new(),
            energy: 0.0,
            vivid: 0.0,
            light: 0.0,
            dense: 0.0,
            water: false,
            trees: false,
            snow: false,
            dunes: false,
            mist: false,
            stars: false,
            moon: false,
            fire: false,
            rain: false,
            neon: false,
            mirrored: false,
            joyful: false,
            sad: false,
        };
        let lower = prompt.to_lowercase();
        for word in lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            for byte in word.bytes().chain([0]) {
                reading.hash = (reading.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            reading.hear(word);
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

    fn hear(&mut self, word: &str) {
        if let Some(hue) = hue_of(word) {
            self.hues.push(hue);
            self.named.push(hue);
            return;
        }
        match word {
            "dawn" | "sunrise" | "morning" => self.time = Some(Time::Dawn),
            "day" | "noon" | "midday" | "sunny" | "daylight" => self.time = Some(Time::Day),
            "sunset" | "dusk" | "evening" | "twilight" => self.time = Some(Time::Sunset),
            "night" | "midnight" | "nocturnal" => self.time = Some(Time::Night),

            "ocean" | "sea" | "lake" | "river" | "water" | "coast" | "bay" | "fjord" | "lagoon"
            | "pond" | "shore" | "beach" | "underwater" | "waves" | "wave" => {
                self.water = true;
                self.hues.push(232.0);
            }
            "forest" | "wood" | "woods" | "jungle" | "trees" | "pines" | "taiga" => {
                self.trees = true;
                self.hues.push(150.0);
                self.dense += 0.3;
            }
            "meadow" | "grass" | "garden" | "spring" | "leaf" | "leaves" | "moss" => {
                self.hues.push(132.0);
                self.light += 0.2;
            }
            "autumn" | "fall" => {
                self.hues.extend([45.0, 75.0]);
                self.trees = true;
            }
            "summer" => {
                self.light += 0.4;
                self.vivid += 0.3;
            }
            "winter" | "snow" | "snowy" | "ice" | "icy" | "frost" | "frozen" | "arctic"
            | "glacier" => {
                self.snow = true;
                self.hues.push(235.0);
                self.vivid -= 0.4;
                self.light += 0.3;
            }
            "desert" | "dunes" | "sand" | "sahara" | "canyon" | "mesa" => {
                self.dunes = true;
                self.hues.extend([62.0, 45.0]);
            }
            "mist" | "misty" | "fog" | "foggy" | "haze" | "hazy" | "dream" | "dreamy" | "cloud"
            | "clouds" | "ghost" => {
                self.mist = true;
                self.vivid -= 0.2;
            }
            "space" | "galaxy" | "cosmos" | "cosmic" | "stars" | "star" | "starry" | "nebula"
            | "universe" | "milky" | "planet" => {
                self.stars = true;
                self.time = self.time.or(Some(Time::Night));
                self.hues.extend([290.0, 255.0]);
                self.vivid += 0.3;
            }
            "moon" | "moonlight" | "lunar" | "moonlit" => {
                self.moon = true;
                self.time = self.time.or(Some(Time::Night));
            }
            "aurora" | "borealis" | "northern" => {
                self.stars = true;
                self.time = self.time.or(Some(Time::Night));
                self.hues.extend([160.0, 300.0]);
                self.named.extend([280.0, 230.0, 165.0]);
            }
            "fire" | "flame" | "flames" | "lava" | "volcano" | "ember" | "embers" | "burning" => {
                self.fire = true;
                self.hues.extend([35.0, 60.0]);
                self.named.push(30.0);
                self.energy += 0.5;
                self.vivid += 0.5;
                self.light -= 0.2;
            }
            "rain" | "rainy" | "drizzle" | "monsoon" => {
                self.rain = true;
                self.mist = true;
                self.light -= 0.3;
            }
            "neon" | "cyberpunk" | "synthwave" | "electric" | "vaporwave" | "laser" => {
                self.neon = true;
                self.hues.extend([335.0, 205.0]);
                self.named.extend([300.0, 320.0, 345.0, 205.0]);
                self.vivid += 1.0;
                self.light -= 0.5;
            }

            "storm" | "stormy" | "wild" | "chaos" | "chaotic" | "rage" | "tempest" | "thunder"
            | "explosion" | "frantic" | "wind" | "windy" | "dance" | "dancing" => {
                self.energy += 0.8;
                self.dense += 0.2;
            }
            "calm" | "quiet" | "serene" | "gentle" | "soft" | "peaceful" | "still" | "silent"
            | "slow" | "zen" | "sleep" | "lullaby" | "meditation" => {
                self.energy -= 0.8;
                self.vivid -= 0.1;
            }
            "dark" | "gloomy" | "moody" | "shadow" | "shadows" | "black" | "noir" => {
                self.light -= 0.7;
            }
            "bright" | "light" | "luminous" | "white" | "glowing" | "radiant" => {
                self.light += 0.6;
            }
            "vivid" | "colorful" | "colourful" | "vibrant" | "psychedelic" | "rainbow" => {
                self.vivid += 0.8;
                self.dense += 0.1;
            }
            "pastel" | "pale" | "muted" | "faded" | "grey" | "gray" | "silver" | "mono"
            | "monochrome" => self.vivid -= 0.8,
            "dense" | "intricate" | "crowded" | "city" | "many" | "detailed" | "crystal" => {
                self.dense += 0.7;
            }
            "sparse" | "minimal" | "minimalist" | "simple" | "empty" | "vast" | "lonely" => {
                self.dense -= 0.7;
                self.energy -= 0.1;
            }
            "mandala" | "symmetry" | "symmetric" | "symmetrical" | "mirror" | "kaleidoscope"
            | "rose" | "cathedral" => self.mirrored = true,
            "happy" | "joy" | "joyful" | "celebration" | "playful" | "hope" | "love" => {
                self.joyful = true;
                self.light += 0.3;
                self.energy += 0.2;
            }
            "sad" | "melancholy" | "grief" | "lonesome" | "sorrow" | "tears" => {
                self.sad = true;
                self.light -= 0.3;
                self.energy -= 0.3;
            }
            _ => {}
        }
    }
}

/// The hue of a colour's name, in degrees of Oklch.
fn hue_of(word: &str) -> Option<f32> {
    Some(match word {
        "red" | "crimson" | "scarlet" | "ruby" | "blood" => 25.0,
        "coral" | "salmon" | "peach" => 40.0,
        "orange" | "copper" | "rust" | "terracotta" => 55.0,
        "brown" | "bronze" | "sepia" | "earth" | "wooden" => 65.0,
        "amber" | "honey" => 75.0,
        "gold" | "golden" => 85.0,
        "yellow" | "lemon" => 105.0,
        "lime" | "chartreuse" => 125.0,
        "green" | "emerald" | "olive" => 148.0,
        "mint" | "jade" => 165.0,
        "teal" | "turquoise" => 190.0,
        "cyan" | "aqua" => 205.0,
        "azure" | "sky" => 235.0,
        "blue" | "sapphire" | "cobalt" => 258.0,
        "indigo" | "navy" => 275.0,
        "violet" | "lavender" | "lilac" => 295.0,
        "purple" | "amethyst" | "plum" => 310.0,
        "magenta" | "fuchsia" => 330.0,
        "pink" => 355.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_set_the_mood_and_unknown_ones_still_count() {
        let sea = Reading::of("Storm over the OCEAN, at night");
        assert!(sea.water && sea.energy > 0.5);
        assert_eq!(sea.time, Some(Time::Night));
        assert_ne!(Reading::of("xyzzy").hash, Reading::of("plugh").hash);
        assert_eq!(Reading::of("a  b!").hash, Reading::of("A b").hash);
        assert_eq!(Reading::of("").hues, [0.0; 0]);
    }
}
