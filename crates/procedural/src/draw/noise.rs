//! Gradient noise in two and three dimensions.

use super::lerp;
use super::rng::Rng;

/// A smooth noise field, about -1 to 1, with a period of 256.
#[derive(Debug, Clone)]
pub struct Noise {
    order: [u8; 256],
}

impl Noise {
    pub fn new(rng: &mut Rng) -> Self {
        let mut order = std::array::from_fn(|i| i as u8);
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
        Self { order }
    }

    /// Returns the entry of the permutation table at `number` plus `places`.
    fn permute(&self, number: u8, places: i32) -> u8 {
        self.order[usize::from(number.wrapping_add(places as u8))]
    }

    /// Returns the noise at a point, about -1 to 1.
    pub fn at(&self, x: f32, y: f32) -> f32 {
        self.at3(x, y, 0.5)
    }

    pub fn at3(&self, x: f32, y: f32, z: f32) -> f32 {
        let (ix, iy, iz) = (x.floor(), y.floor(), z.floor());
        let (fx, fy, fz) = (x - ix, y - iy, z - iz);
        let (ix, iy, iz) = (ix as i32, iy as i32, iz as i32);
        let fade = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
        let (u, v, w) = (fade(fx), fade(fy), fade(fz));
        // Shared corners are looked up once, because this takes most of the rendering time.
        let [left, right] = [ix, ix.wrapping_add(1)].map(|x| self.permute(0, x));
        let columns = [(left, fx), (right, fx - 1.0)]
            .map(|(number, dx)| [iy, iy.wrapping_add(1)].map(|y| (self.permute(number, y), dx)));
        let plane = |z: i32, dz: f32| {
            let corner =
                |(number, dx): (u8, f32), dy: f32| gradient(self.permute(number, z), dx, dy, dz);
            let [[lower_left, upper_left], [lower_right, upper_right]] = columns;
            lerp(
                lerp(corner(lower_left, fy), corner(lower_right, fy), u),
                lerp(
                    corner(upper_left, fy - 1.0),
                    corner(upper_right, fy - 1.0),
                    u,
                ),
                v,
            )
        };
        lerp(plane(iz, fz), plane(iz.wrapping_add(1), fz - 1.0), w)
    }

    /// Sums several octaves, each with twice the frequency and half the amplitude; about -1 to 1.
    pub fn fbm(&self, x: f32, y: f32, octaves: u32) -> f32 {
        self.fbm3(x, y, 0.5, octaves)
    }

    pub fn fbm3(&self, x: f32, y: f32, z: f32, octaves: u32) -> f32 {
        let (mut sum, mut strength, mut total, mut scale) = (0.0, 1.0, 0.0, 1.0);
        for octave in 0..octaves {
            // Shifted, so that the grids of the octaves do not align.
            let shift = octave as f32 * 17.3;
            sum += strength * self.at3(x * scale + shift, y * scale - shift, z * scale + shift);
            total += strength;
            strength *= 0.5;
            scale *= 2.03;
        }
        sum / total
    }

    /// Returns ridged noise with sharp crests, like mountains; 0 to 1.
    pub fn ridged(&self, x: f32, y: f32, octaves: u32) -> f32 {
        let (mut sum, mut strength, mut total, mut scale, mut crest) = (0.0, 1.0, 0.0, 1.0, 1.0);
        for octave in 0..octaves {
            let shift = octave as f32 * 11.7;
            let n = 1.0 - self.at(x * scale + shift, y * scale - shift).abs() * 1.6;
            let n = n.max(0.0).powi(2);
            sum += n * strength * crest;
            total += strength;
            crest = n.clamp(0.0, 1.0);
            strength *= 0.5;
            scale *= 2.07;
        }
        sum / total
    }
}

fn gradient(hash: u8, x: f32, y: f32, z: f32) -> f32 {
    match hash & 15 {
        0 | 12 => x + y,
        1 | 14 => y - x,
        2 => x - y,
        3 => -x - y,
        4 => x + z,
        5 => z - x,
        6 => x - z,
        7 => -x - z,
        8 => y + z,
        9 | 13 => z - y,
        10 => y - z,
        _ => -y - z,
    }
}
