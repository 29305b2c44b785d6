//! Composition of the notes.

use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::Feature;

/// The instrument that plays a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    Pad,
    Pluck,
    Bell,
    Bass,
}

/// A note of the piece.
#[derive(Debug, Clone, Copy)]
pub struct Note {
    pub voice: Voice,
    /// The start time in seconds.
    pub start: f32,
    /// The duration in seconds.
    pub length: f32,
    /// The MIDI note number; 69 is A at 440 Hz.
    pub pitch: f32,
    /// 0 to 1.
    pub loudness: f32,
    /// -1 left to 1 right.
    pub pan: f32,
}

/// A scale, as semitones above its root.
#[derive(Debug, Clone)]
pub struct Scale {
    steps: &'static [i32],
    root: i32,
    /// The scale steps of the chords' roots.
    progression: [i32; 4],
}

/// The style of the piece.
pub struct Style {
    pub scale: Scale,
    /// Beats per minute.
    pub tempo: f32,
    /// 0 few notes to 1 many.
    pub density: f32,
    pub bass: bool,
    /// -1 dark to 1 light.
    pub bright: f32,
    /// -1 calm to 1 wild.
    pub energy: f32,
}

impl Scale {
    /// Returns the scale with this name; for `auto`, one that matches the mood.
    pub fn of(name: &str, reading: &Reading, rng: &mut Rng) -> Self {
        let name = match name {
            "auto" if reading.has(Feature::Sad) || reading.has(Feature::Rain) => "minor",
            "auto" if reading.has(Feature::Joyful) => ["major", "lydian"][rng.below(2)],
            "auto" if reading.has(Feature::Stars) || reading.has(Feature::Mist) => "lydian",
            "auto" if reading.has(Feature::Snow) => "hirajoshi",
            "auto" if reading.light < -0.2 || reading.has(Feature::Fire) => {
                ["minor", "dorian"][rng.below(2)]
            }
            "auto" => ["major", "dorian", "pentatonic", "minor", "lydian"][rng.below(5)],
            named => named,
        };
        let (steps, progressions): (&[i32], [[i32; 4]; 3]) = match name {
            "minor" => (
                &[0, 2, 3, 5, 7, 8, 10],
                [[0, 5, 2, 6], [0, 3, 5, 4], [0, 5, 3, 6]],
            ),
            "dorian" => (
                &[0, 2, 3, 5, 7, 9, 10],
                [[0, 3, 0, 6], [0, 1, 3, 0], [0, 3, 6, 3]],
            ),
            "lydian" => (
                &[0, 2, 4, 6, 7, 9, 11],
                [[0, 1, 0, 4], [0, 1, 5, 4], [0, 4, 1, 0]],
            ),
            "pentatonic" => (&[0, 2, 4, 7, 9], [[0, 3, 4, 2], [0, 4, 3, 0], [0, 2, 3, 4]]),
            "hirajoshi" => (&[0, 2, 3, 7, 8], [[0, 3, 0, 4], [0, 4, 2, 3], [0, 2, 3, 0]]),
            _ => (
                &[0, 2, 4, 5, 7, 9, 11],
                [[0, 4, 5, 3], [0, 5, 3, 4], [0, 3, 5, 4]],
            ),
        };
        Self {
            steps,
            root: 45 + rng.below(10) as i32,
            progression: progressions[rng.below(3)],
        }
    }

    /// Returns the MIDI note number of a scale step; steps continue into other octaves.
    fn pitch(&self, step: i32) -> f32 {
        let count = self.steps.len() as i32;
        let octave = step.div_euclid(count);
        (self.root + self.steps[step.rem_euclid(count) as usize] + 12 * octave) as f32
    }

    /// Returns the scale steps of a bar's chord: every other step.
    fn chord(&self, bar: usize) -> [i32; 4] {
        let base = self.progression[bar % 4];
        if self.steps.len() == 5 {
            [base, base + 2, base + 3, base + 5]
        } else {
            [base, base + 2, base + 4, base + 6]
        }
    }
}

/// Composes a piece that fits into `seconds`. The notes are not sorted.
pub fn compose(style: &Style, seconds: f32, rng: &mut Rng) -> Vec<Note> {
    let beat = 60.0 / style.tempo;
    let bar = beat * 4.0;
    let bars = (seconds / bar).ceil() as usize;
    let octave = style.scale.steps.len() as i32;
    let mut notes = Vec::new();
    let motif = motif(style, rng);
    let mut step = octave;
    for index in 0..bars {
        let start = index as f32 * bar;
        let chord = style.scale.chord(index);
        for (i, tone) in chord.iter().enumerate() {
            notes.push(Note {
                voice: Voice::Pad,
                start: start + i as f32 * 0.03,
                length: bar * 1.05,
                pitch: style.scale.pitch(*tone + if i == 0 { 0 } else { octave }),
                loudness: 0.22,
                pan: (i as f32 / 1.5 - 1.0) * 0.7,
            });
        }
        if style.bass {
            let beats: &[f32] = if style.energy > 0.3 {
                &[0.0, 1.5, 2.0, 3.5]
            } else {
                &[0.0, 2.5]
            };
            for at in beats {
                notes.push(Note {
                    voice: Voice::Bass,
                    start: start + at * beat,
                    length: beat * 1.4,
                    pitch: style.scale.pitch(chord[0]) - 12.0,
                    loudness: 0.42,
                    pan: 0.0,
                });
            }
        }
        // The melody repeats the motif, adapted to the chord of the bar.
        for (at, leap, loudness) in &motif {
            if rng.chance(0.12) {
                continue;
            }
            let wander = if rng.chance(0.25) {
                rng.below(3) as i32 - 1
            } else {
                0
            };
            step = (step + leap + wander).clamp(octave - 2, octave * 2 + 3);
            let strong = at.fract() == 0.0 && (*at as i32) % 2 == 0;
            let tone = if strong {
                nearest(step, &chord, octave)
            } else {
                step
            };
            notes.push(Note {
                voice: if rng.chance(0.2 + 0.15 * style.bright) {
                    Voice::Bell
                } else {
                    Voice::Pluck
                },
                // Small timing variations sound more natural.
                start: start + at * beat + rng.normal() * 0.006,
                length: beat * 1.2,
                pitch: style.scale.pitch(tone)
                    + match style.bright {
                        0.5.. => 12.0,
                        ..-0.2 => -12.0,
                        _ => 0.0,
                    },
                loudness: loudness * rng.range(0.8, 1.1),
                pan: (tone as f32 * 1.7).sin() * 0.55,
            });
        }
    }
    notes.retain(|note| note.start < seconds - 0.15);
    notes
}

/// Returns the notes of a bar: the time in beats, the interval, and the loudness.
fn motif(style: &Style, rng: &mut Rng) -> Vec<(f32, i32, f32)> {
    let grid = if style.energy > 0.4 { 16 } else { 8 };
    (0..grid)
        .filter_map(|i| {
            let at = i as f32 * 4.0 / grid as f32;
            let accent = if at.fract() == 0.0 { 0.25 } else { 0.0 };
            let wanted = style.density * 0.75 + accent + 0.1 * style.energy;
            rng.chance(wanted).then(|| {
                let leap = [-2, -1, -1, 1, 1, 2, 3, -3][rng.below(8)];
                (at, leap, 0.4 + accent)
            })
        })
        .collect()
}

/// Returns the chord tone nearest to a step, in any octave.
fn nearest(step: i32, chord: &[i32; 4], octave: i32) -> i32 {
    (step - octave..=step + octave)
        .filter(|s| chord.iter().any(|tone| (s - tone).rem_euclid(octave) == 0))
        .min_by_key(|s| (s - step).abs())
        .unwrap_or(step)
}
