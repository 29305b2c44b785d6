//! Colors: linear light for painting, Oklab for mixing and choosing.

use super::lerp;

/// Linear-light sRGB; 0 to 1, above 1 for highlights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rgb {
    pub r: f32,
    pub g: f32,
    pub b: f32,
}

/// Oklab, a perceptually uniform color space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lab {
    /// Lightness, 0 to 1.
    pub l: f32,
    /// Green (negative) to red, about -0.4 to 0.4.
    pub a: f32,
    /// Blue (negative) to yellow, about -0.4 to 0.4.
    pub b: f32,
}

/// Creates a color by lightness (0 to 1), chroma (0 to about 0.3) and hue (degrees).
pub fn lch(l: f32, chroma: f32, hue: f32) -> Lab {
    let (sin, cos) = hue.to_radians().sin_cos();
    Lab {
        l,
        a: chroma * cos,
        b: chroma * sin,
    }
}

impl Rgb {
    pub const BLACK: Rgb = Rgb {
        r: 0.0,
        g: 0.0,
        b: 0.0,
    };

    pub fn each(self, f: impl Fn(f32) -> f32) -> Self {
        Self {
            r: f(self.r),
            g: f(self.g),
            b: f(self.b),
        }
    }

    pub fn scale(self, by: f32) -> Self {
        self.each(|c| c * by)
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            r: self.r + other.r,
            g: self.g + other.g,
            b: self.b + other.b,
        }
    }

    pub fn times(self, other: Self) -> Self {
        Self {
            r: self.r * other.r,
            g: self.g * other.g,
            b: self.b * other.b,
        }
    }

    /// Mixes two colors in linear light, like additive light.
    pub fn mix(self, other: Self, t: f32) -> Self {
        Self {
            r: lerp(self.r, other.r, t),
            g: lerp(self.g, other.g, t),
            b: lerp(self.b, other.b, t),
        }
    }

    pub fn luminance(self) -> f32 {
        0.2126 * self.r + 0.7152 * self.g + 0.0722 * self.b
    }

    pub fn lab(self) -> Lab {
        let Rgb { r, g, b } = self.each(|c| c.max(0.0));
        let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
        let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
        let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
        Lab {
            l: 0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
            a: 1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
            b: 0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        }
    }

    /// Returns sRGB bytes, each shifted by `noise` (in byte steps) before rounding. Values above white are compressed
    /// smoothly.
    pub fn bytes(self, noise: f32) -> [u8; 3] {
        let byte = |c: f32| {
            let c = if c > 0.8 {
                0.8 + 0.2 * (1.0 - (-(c - 0.8) / 0.2).exp())
            } else {
                c.max(0.0)
            };
            let encoded = if c <= 0.003_130_8 {
                12.92 * c
            } else {
                1.055 * c.powf(1.0 / 2.4) - 0.055
            };
            (encoded * 255.0 + noise + 0.5).clamp(0.0, 255.0) as u8
        };
        [byte(self.r), byte(self.g), byte(self.b)]
    }

    /// Creates a color from sRGB bytes.
    pub fn from_bytes([r, g, b]: [u8; 3]) -> Self {
        let linear = |byte: u8| {
            let c = f32::from(byte) / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        Self {
            r: linear(r),
            g: linear(g),
            b: linear(b),
        }
    }
}

impl Lab {
    /// Converts to linear light. Reduces the chroma until the color is in the sRGB gamut.
    pub fn rgb(self) -> Rgb {
        let mut lab = self;
        for _ in 0..12 {
            let Rgb { r, g, b } = lab.unclipped();
            if r.min(g).min(b) >= -0.002 {
                break;
            }
            lab.a *= 0.9;
            lab.b *= 0.9;
        }
        lab.unclipped().each(|c| c.max(0.0))
    }

    fn unclipped(self) -> Rgb {
        let Lab { l, a, b } = self;
        let cube = |c: f32| c * c * c;
        let long = cube(l + 0.396_337_78 * a + 0.215_803_76 * b);
        let medium = cube(l - 0.105_561_346 * a - 0.063_854_17 * b);
        let short = cube(l - 0.089_484_18 * a - 1.291_485_5 * b);
        Rgb {
            r: 4.076_741_7 * long - 3.307_711_6 * medium + 0.230_969_94 * short,
            g: -1.268_438 * long + 2.609_757_4 * medium - 0.341_319_38 * short,
            b: -0.004_196_086_3 * long - 0.703_418_6 * medium + 1.707_614_7 * short,
        }
    }

    /// Mixes two colors perceptually.
    pub fn mix(self, other: Self, t: f32) -> Self {
        Self {
            l: lerp(self.l, other.l, t),
            a: lerp(self.a, other.a, t),
            b: lerp(self.b, other.b, t),
        }
    }

    pub fn with_lightness(self, l: f32) -> Self {
        Self { l, ..self }
    }

    /// Multiplies the chroma.
    pub fn saturate(self, by: f32) -> Self {
        Self {
            a: self.a * by,
            b: self.b * by,
            ..self
        }
    }

    pub fn chroma(self) -> f32 {
        self.a.hypot(self.b)
    }

    /// Returns the hue in degrees, from 0 to 360.
    pub fn hue(self) -> f32 {
        self.b.atan2(self.a).to_degrees().rem_euclid(360.0)
    }

    /// Returns whether the chroma is too low to have a visible hue.
    pub fn is_grey(self) -> bool {
        self.chroma() < 0.04
    }
}

/// Interpolates between colors: the first one at 0, the last one at 1.
pub fn gradient(stops: &[Lab], t: f32) -> Lab {
    match stops {
        [] => lch(0.5, 0.0, 0.0),
        [only] => *only,
        _ => {
            let t = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
            let i = (t as usize).min(stops.len() - 2);
            stops[i].mix(stops[i + 1], t - i as f32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_round_trip_through_oklab() {
        for bytes in [[0, 0, 0], [255, 255, 255], [200, 40, 90], [3, 120, 240]] {
            let rgb = Rgb::from_bytes(bytes);
            let back = rgb.lab().rgb();
            assert!(
                (rgb.r - back.r).abs() + (rgb.g - back.g).abs() + (rgb.b - back.b).abs() < 0.01
            );
        }
        assert_eq!(Rgb::from_bytes([100, 150, 200]).bytes(0.0), [100, 150, 200]);
    }
}
