//! Synthesis of the notes: oscillators, plucked strings, reverberation.

use std::f32::consts::TAU;
use std::io::Cursor;

use super::score::{Note, Voice};
use crate::draw::rng::Rng;
use crate::draw::smoothstep;

/// A stereo recording.
pub struct Tape {
    rate: u32,
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Tape {
    pub fn new(seconds: f32, rate: u32) -> Self {
        let length = (seconds * rate as f32) as usize;
        Self {
            rate,
            left: vec![0.0; length],
            right: vec![0.0; length],
        }
    }

    /// Adds a note to the recording.
    pub fn play(&mut self, note: &Note, rng: &mut Rng) {
        let frequency = 440.0 * ((note.pitch - 69.0) / 12.0).exp2();
        match note.voice {
            Voice::Pad => self.pad(note, frequency, rng),
            Voice::Pluck => self.pluck(note, frequency, rng),
            Voice::Bell => self.bell(note, frequency),
            Voice::Bass => self.bass(note, frequency),
        }
    }

    /// Adds `wave(seconds since the note began)`, starting at the note's start.
    fn add(&mut self, note: &Note, ring: f32, mut wave: impl FnMut(f32) -> (f32, f32)) {
        let rate = self.rate as f32;
        let from = (note.start.max(0.0) * rate) as usize;
        let to = (from + ((note.length + ring) * rate) as usize).min(self.left.len());
        let angle = (note.pan + 1.0) * std::f32::consts::FRAC_PI_4;
        let (right, left) = angle.sin_cos();
        for i in from..to {
            let (l, r) = wave((i - from) as f32 / rate);
            self.left[i] += l * left * note.loudness;
            self.right[i] += r * right * note.loudness;
        }
    }

    /// Plays a pad: three slightly detuned voices that fade in and out.
    fn pad(&mut self, note: &Note, frequency: f32, rng: &mut Rng) {
        let phase = [rng.unit(), rng.unit(), rng.unit()];
        let (swell, fade) = (note.length * 0.35, note.length * 0.4);
        let length = note.length;
        self.add(note, fade, |t| {
            let envelope = smoothstep(0.0, swell, t) * (1.0 - smoothstep(length, length + fade, t));
            let voice = |i: usize, detune: f32| {
                let x = (t * frequency * detune + phase[i]) * TAU;
                let breath = 0.6 + 0.4 * (t * 0.7 + phase[i] * 6.0).sin();
                x.sin() + 0.32 * breath * (2.0 * x).sin() + 0.12 * breath * (3.0 * x).sin()
            };
            let middle = voice(0, 1.0);
            let (low, high) = (voice(1, 0.9962), voice(2, 1.0041));
            (
                envelope * (middle + low) * 0.22,
                envelope * (middle + high) * 0.22,
            )
        });
    }

    /// Plays a plucked string: a burst of noise in a delay line with a low-pass filter (Karplus-Strong).
    fn pluck(&mut self, note: &Note, frequency: f32, rng: &mut Rng) {
        let rate = self.rate as f32;
        let period = rate / frequency;
        let length = (period.floor() as usize).max(2);
        let mut string: Vec<f32> = (0..length).map(|_| rng.range(-1.0, 1.0)).collect();
        // Smooths the burst, for a softer attack.
        for _ in 0..3 {
            for i in 0..length {
                string[i] = 0.5 * (string[i] + string[(i + length - 1) % length]);
            }
        }
        let tuning = period.fract();
        let (mut at, mut last) = (0, 0.0);
        let held = note.length;
        self.add(note, 1.6, |t| {
            let next = string[(at + 1) % length];
            let now = string[at];
            // Interpolates between two samples, for exact tuning.
            let value = now * (1.0 - tuning) + last * tuning;
            last = now;
            string[at] = 0.9965 * (0.52 * now + 0.48 * next);
            at = (at + 1) % length;
            let envelope = 1.0 - smoothstep(held, held + 1.6, t);
            (value * envelope * 1.1, value * envelope * 1.1)
        });
    }

    fn bell(&mut self, note: &Note, frequency: f32) {
        self.add(note, 2.2, |t| {
            let strike = 1.0 - (-t * 400.0).exp();
            let modulation = (t * frequency * 3.5 * TAU).sin() * 1.6 * (-t * 5.0).exp();
            let tone = (t * frequency * TAU + modulation).sin() * (-t * 2.2).exp();
            let end = 1.0 - smoothstep(2.0, 2.6, t);
            (tone * strike * end * 0.5, tone * strike * end * 0.5)
        });
    }

    fn bass(&mut self, note: &Note, frequency: f32) {
        let length = note.length;
        self.add(note, 0.15, |t| {
            let x = t * frequency * TAU;
            let attack = 1.0 - (-t * 90.0).exp();
            let end = 1.0 - smoothstep(length, length + 0.15, t);
            let tone = x.sin() + 0.35 * (2.0 * x).sin() * (-t * 4.0).exp();
            let value = tone * attack * end * (-t * 0.9).exp() * 0.6;
            (value, value)
        });
    }

    /// Adds the sound of waves or rain: filtered noise.
    pub fn shore(&mut self, rain: bool, rng: &mut Rng) {
        let rate = self.rate as f32;
        let (mut low_l, mut low_r) = (0.0f32, 0.0f32);
        let turn = rng.unit();
        for i in 0..self.left.len() {
            let t = i as f32 / rate;
            let swell = if rain {
                0.75
            } else {
                0.5 - 0.5 * ((t / 5.3 + turn) * TAU).cos()
            };
            let soft = if rain { 0.45 } else { 0.06 + 0.1 * swell };
            low_l += (rng.range(-1.0, 1.0) - low_l) * soft;
            low_r += (rng.range(-1.0, 1.0) - low_r) * soft;
            let strength = if rain { 0.035 } else { 0.03 + 0.15 * swell };
            self.left[i] += low_l * strength;
            self.right[i] += low_r * strength;
        }
    }

    /// Adds reverberation with eight comb filters.
    pub fn room(&mut self, size: f32) {
        if size <= 0.0 {
            return;
        }
        let delays = [1557, 1617, 1491, 1422, 1277, 1356, 1188, 1116];
        let feedback = 0.68 + 0.27 * size;
        let wet = 0.35 * size;
        for (side, channel) in [&mut self.left, &mut self.right].into_iter().enumerate() {
            let dry = channel.clone();
            for delay in delays {
                // Different delays on the two sides widen the stereo image.
                let length = ((delay + side * 23) as f32 * (0.8 + 0.6 * size)) as usize;
                let mut line = vec![0.0; length];
                let (mut at, mut dull) = (0, 0.0);
                for (sample, dry) in channel.iter_mut().zip(&dry) {
                    let echo = line[at];
                    dull += (echo - dull) * 0.55;
                    line[at] = dry * 0.12 + dull * feedback;
                    at = (at + 1) % length;
                    *sample += echo * wet;
                }
            }
        }
    }

    /// Removes inaudibly low frequencies, fades in and out, and normalizes the peak to just below full scale.
    pub fn master(&mut self) {
        for channel in [&mut self.left, &mut self.right] {
            let (mut before, mut out) = (0.0, 0.0);
            for sample in channel.iter_mut() {
                out = *sample - before + 0.997 * out;
                before = *sample;
                *sample = out;
            }
        }
        let length = self.left.len();
        let rate = self.rate as f32;
        let peak = self
            .left
            .iter()
            .chain(&self.right)
            .fold(1e-6f32, |m, s| m.max(s.abs()));
        let gain = 0.89 / peak;
        let fade = (1.5 * rate).min(length as f32 / 3.0);
        for channel in [&mut self.left, &mut self.right] {
            for (i, sample) in channel.iter_mut().enumerate() {
                let rise = smoothstep(0.0, 0.02 * rate, i as f32);
                let fall = smoothstep(0.0, fade, (length - i) as f32);
                *sample *= gain * rise * fall;
            }
        }
    }

    /// Returns the peak of each of `count` sections, 0 to 1.
    pub fn peaks(&self, count: usize) -> Vec<f32> {
        let stretch = self.left.len().div_ceil(count.max(1)).max(1);
        let loudest = |samples: &[f32]| samples.iter().fold(0.0f32, |m, s| m.max(s.abs()));
        self.left
            .chunks(stretch)
            .zip(self.right.chunks(stretch))
            .map(|(left, right)| loudest(left).max(loudest(right)))
            .collect()
    }

    /// Encodes the sound as a 16-bit stereo WAV file.
    ///
    /// # Errors
    ///
    /// The encoder refuses a sample, which does not happen in memory.
    pub fn wav(&self) -> Result<Vec<u8>, hound::Error> {
        let spec = hound::WavSpec {
            channels: 2,
            sample_rate: self.rate,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let mut file = Cursor::new(Vec::new());
        let mut writer = hound::WavWriter::new(&mut file, spec)?;
        for (l, r) in self.left.iter().zip(&self.right) {
            for sample in [l, r] {
                writer.write_sample((sample.clamp(-1.0, 1.0) * 32_767.0) as i16)?;
            }
        }
        writer.finalize()?;
        Ok(file.into_inner())
    }
}
