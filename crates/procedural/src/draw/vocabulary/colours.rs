//! The names of colors, with lightness, chroma and hue in Oklch.

use super::Sense::{Colour, Light, Vivid};
use super::{Entry, Ground, Sense};

const fn colour(words: &'static [&'static str], senses: &'static [Sense]) -> Entry {
    Entry {
        words,
        kind: "colour",
        senses,
    }
}

pub const COLOURS: &[Entry] = &[
    colour(&["red", "scarlet"], &[Colour(0.60, 0.21, 27.0)]),
    colour(&["crimson", "ruby", "blood"], &[Colour(0.50, 0.19, 20.0)]),
    colour(&["rose"], &[Colour(0.70, 0.16, 7.0)]),
    colour(&["pink"], &[Colour(0.78, 0.13, 355.0)]),
    colour(&["coral", "salmon"], &[Colour(0.72, 0.16, 34.0)]),
    colour(&["peach"], &[Colour(0.83, 0.09, 52.0)]),
    colour(&["orange"], &[Colour(0.74, 0.17, 56.0)]),
    colour(
        &["copper", "rust", "terracotta"],
        &[Colour(0.60, 0.13, 48.0)],
    ),
    colour(
        &["brown", "bronze", "sepia", "earth"],
        &[Colour(0.48, 0.09, 60.0)],
    ),
    colour(&["amber", "honey"], &[Colour(0.77, 0.16, 72.0)]),
    colour(&["gold", "golden"], &[Colour(0.80, 0.15, 86.0)]),
    colour(&["yellow", "lemon"], &[Colour(0.90, 0.17, 102.0)]),
    colour(&["lime", "chartreuse"], &[Colour(0.84, 0.19, 124.0)]),
    colour(&["olive"], &[Colour(0.56, 0.10, 114.0)]),
    colour(&["green", "emerald"], &[Colour(0.60, 0.16, 148.0)]),
    colour(&["mint"], &[Colour(0.87, 0.09, 163.0)]),
    colour(&["jade"], &[Colour(0.65, 0.12, 163.0)]),
    colour(&["teal"], &[Colour(0.58, 0.10, 192.0)]),
    colour(&["turquoise"], &[Colour(0.76, 0.12, 188.0)]),
    colour(&["cyan", "aqua"], &[Colour(0.82, 0.13, 208.0)]),
    colour(&["azure", "sky blue"], &[Colour(0.74, 0.13, 240.0)]),
    colour(
        &["blue", "sapphire", "cobalt"],
        &[Colour(0.52, 0.19, 260.0)],
    ),
    colour(&["navy"], &[Colour(0.33, 0.12, 264.0)]),
    colour(&["indigo"], &[Colour(0.42, 0.16, 278.0)]),
    colour(&["violet"], &[Colour(0.54, 0.19, 294.0)]),
    colour(&["lavender", "lilac"], &[Colour(0.77, 0.10, 300.0)]),
    colour(&["purple", "amethyst"], &[Colour(0.52, 0.19, 310.0)]),
    colour(&["plum"], &[Colour(0.43, 0.13, 330.0)]),
    colour(&["magenta", "fuchsia"], &[Colour(0.62, 0.23, 335.0)]),
    colour(
        &["grey", "gray", "silver"],
        &[Colour(0.68, 0.008, 250.0), Vivid(-0.5)],
    ),
    colour(
        &["white"],
        &[
            Colour(0.96, 0.006, 90.0),
            Sense::Ground(Ground::Paper),
            Light(0.5),
        ],
    ),
    colour(
        &["ivory", "cream"],
        &[
            Colour(0.94, 0.035, 92.0),
            Sense::Ground(Ground::Paper),
            Light(0.3),
        ],
    ),
    colour(
        &["black"],
        &[
            Colour(0.17, 0.006, 270.0),
            Sense::Ground(Ground::Dark),
            Light(-0.6),
        ],
    ),
];
