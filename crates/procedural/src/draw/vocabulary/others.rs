//! The words of the vocabulary other than color names.

use super::Feature::*;
use super::Sense::{self, AtNight, Dense, Energy, Glow, Hue, Light, Vivid};
use super::{Entry, Feature, Ground, Time};

const fn entry(
    kind: &'static str,
    words: &'static [&'static str],
    senses: &'static [Sense],
) -> Entry {
    Entry {
        words,
        kind,
        senses,
    }
}

const fn has(feature: Feature) -> Sense {
    Sense::Feature(feature)
}

pub const OTHERS: &[Entry] = &[
    // The ground.
    entry(
        "ground",
        &["paper", "parchment", "canvas"],
        &[Sense::Ground(Ground::Paper)],
    ),
    // The time of day.
    entry(
        "time",
        &["dawn", "sunrise", "morning"],
        &[Sense::Time(Time::Dawn)],
    ),
    entry(
        "time",
        &["day", "noon", "midday", "sunny", "daylight"],
        &[Sense::Time(Time::Day)],
    ),
    entry(
        "time",
        &["sunset", "dusk", "evening", "twilight"],
        &[Sense::Time(Time::Sunset)],
    ),
    entry(
        "time",
        &["night", "midnight", "nocturnal"],
        &[Sense::Time(Time::Night), Sense::Ground(Ground::Dark)],
    ),
    entry("season", &["spring"], &[Hue(132.0), Light(0.2)]),
    entry("season", &["summer"], &[Light(0.4), Vivid(0.3)]),
    entry(
        "season",
        &["autumn", "fall"],
        &[Hue(45.0), Hue(75.0), has(Trees), has(Autumn)],
    ),
    entry(
        "season",
        &[
            "winter", "snow", "snowy", "ice", "icy", "frost", "frozen", "arctic", "glacier",
        ],
        &[Hue(235.0), has(Snow), Vivid(-0.4), Light(0.3)],
    ),
    // The place.
    entry(
        "place",
        &[
            "ocean",
            "sea",
            "lake",
            "river",
            "water",
            "coast",
            "bay",
            "fjord",
            "lagoon",
            "pond",
            "shore",
            "beach",
            "underwater",
            "waves",
            "wave",
        ],
        &[Hue(232.0), has(Water)],
    ),
    entry(
        "place",
        &[
            "forest", "wood", "woods", "jungle", "trees", "pines", "taiga",
        ],
        &[Hue(150.0), has(Trees), Dense(0.3)],
    ),
    entry(
        "place",
        &["meadow", "grass", "garden", "leaf", "leaves", "moss"],
        &[Hue(132.0), Light(0.2)],
    ),
    entry(
        "place",
        &["desert", "dunes", "sand", "sahara", "canyon", "mesa"],
        &[Hue(62.0), Hue(45.0), has(Dunes)],
    ),
    // Weather and lights.
    entry(
        "weather",
        &[
            "mist", "misty", "fog", "foggy", "haze", "hazy", "dream", "dreamy", "cloud", "clouds",
            "ghost",
        ],
        &[has(Mist), Vivid(-0.2)],
    ),
    entry(
        "weather",
        &["rain", "rainy", "drizzle", "monsoon"],
        &[has(Rain), has(Mist), Light(-0.3)],
    ),
    entry(
        "weather",
        &["storm", "stormy", "tempest", "thunder", "wind", "windy"],
        &[Energy(0.8), Dense(0.2)],
    ),
    entry(
        "sky",
        &[
            "space",
            "galaxy",
            "cosmos",
            "cosmic",
            "stars",
            "star",
            "starry",
            "nebula",
            "universe",
            "milky way",
            "planet",
        ],
        &[
            has(Stars),
            AtNight,
            Sense::Ground(Ground::Dark),
            Hue(290.0),
            Hue(255.0),
            Vivid(0.3),
        ],
    ),
    entry(
        "sky",
        &["moon", "moonlight", "lunar", "moonlit"],
        &[has(Moon), AtNight],
    ),
    entry(
        "sky",
        &["aurora", "borealis", "northern lights"],
        &[
            has(Stars),
            AtNight,
            Sense::Ground(Ground::Dark),
            Hue(160.0),
            Hue(300.0),
            Glow(280.0),
            Glow(230.0),
            Glow(165.0),
        ],
    ),
    entry(
        "light",
        &[
            "fire", "flame", "flames", "lava", "volcano", "ember", "embers", "burning",
        ],
        &[
            has(Fire),
            Hue(35.0),
            Hue(60.0),
            Glow(30.0),
            Energy(0.5),
            Vivid(0.5),
            Light(-0.2),
        ],
    ),
    entry(
        "light",
        &[
            "neon",
            "cyberpunk",
            "synthwave",
            "electric",
            "vaporwave",
            "laser",
        ],
        &[
            has(Neon),
            Sense::Ground(Ground::Dark),
            Hue(335.0),
            Hue(205.0),
            Glow(300.0),
            Glow(320.0),
            Glow(345.0),
            Glow(205.0),
            Vivid(1.0),
            Light(-0.5),
        ],
    ),
    entry(
        "light",
        &["dark", "gloomy", "moody", "shadow", "shadows", "noir"],
        &[Light(-0.7), Sense::Ground(Ground::Dark)],
    ),
    entry(
        "light",
        &["bright", "light", "luminous", "glowing", "radiant"],
        &[Light(0.6)],
    ),
    entry(
        "light",
        &[
            "vivid",
            "colorful",
            "colourful",
            "vibrant",
            "psychedelic",
            "rainbow",
        ],
        &[Vivid(0.8), Dense(0.1)],
    ),
    entry(
        "light",
        &["pastel", "pale", "muted", "faded", "mono", "monochrome"],
        &[Vivid(-0.8)],
    ),
    // The mood.
    entry(
        "mood",
        &[
            "wild",
            "chaos",
            "chaotic",
            "rage",
            "explosion",
            "frantic",
            "dance",
            "dancing",
        ],
        &[Energy(0.8), Dense(0.2)],
    ),
    entry(
        "mood",
        &[
            "calm",
            "quiet",
            "serene",
            "gentle",
            "soft",
            "peaceful",
            "still",
            "silent",
            "slow",
            "zen",
            "sleep",
            "lullaby",
            "meditation",
        ],
        &[Energy(-0.8), Vivid(-0.1)],
    ),
    entry(
        "mood",
        &[
            "happy",
            "joy",
            "joyful",
            "celebration",
            "playful",
            "hope",
            "hopeful",
            "love",
        ],
        &[has(Joyful), Light(0.3), Energy(0.2)],
    ),
    entry(
        "mood",
        &["sad", "melancholy", "grief", "lonesome", "sorrow", "tears"],
        &[has(Sad), Light(-0.3), Energy(-0.3)],
    ),
    entry(
        "detail",
        &[
            "dense",
            "intricate",
            "crowded",
            "city",
            "many",
            "detailed",
            "crystal",
        ],
        &[Dense(0.7)],
    ),
    entry(
        "detail",
        &[
            "sparse",
            "minimal",
            "minimalist",
            "simple",
            "empty",
            "vast",
            "lonely",
        ],
        &[Dense(-0.7)],
    ),
    entry(
        "form",
        &[
            "mandala",
            "symmetry",
            "symmetric",
            "symmetrical",
            "mirror",
            "kaleidoscope",
            "cathedral",
            "rosette",
            "rose window",
        ],
        &[has(Mirrored)],
    ),
];
