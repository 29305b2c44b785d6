//! Computes the scale and position of a zoomed image.

/// The maximum scale, as a multiple of the size at which the image fits the space.
const LARGEST: f64 = 8.0;

/// The zoom factor of a key press or wheel step.
pub const STEP: f64 = 1.25;

/// The minimum scale after a double click, which zooms to the actual size if that is larger.
const CLOSE: f64 = 2.0;

/// The scale and position of an image. By default, the whole image is visible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zoom {
    /// The scale as a multiple of the size at which the image fits the space, from 1 to 8.
    pub scale: f64,
    /// The distance of the image's center from the center of its space, in px.
    pub x: f64,
    pub y: f64,
}

impl Default for Zoom {
    fn default() -> Self {
        Self {
            scale: 1.0,
            x: 0.0,
            y: 0.0,
        }
    }
}

/// Returns the displayed size in percent of the image's actual size: at 100, each pixel of the image is one CSS pixel.
/// `None` if the image's size is unknown. `fit`: see [`Viewport::known_fit`].
pub fn percent(scale: f64, fit: Option<f64>) -> Option<f64> {
    let percent = (scale * fit? * 100.0).round();
    percent.is_finite().then_some(percent.max(1.0))
}

/// A point in the space of the image, in px from its center.
pub type Point = (f64, f64);

/// The space for an image, and the image's size, both in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    pub width: f64,
    pub height: f64,
    /// The width and height of the image.
    pub picture: (f64, f64),
}

impl Viewport {
    /// Returns the scale factor at which the image fits the space, if both sizes are known.
    pub fn known_fit(self) -> Option<f64> {
        let sides = [self.width, self.height, self.picture.0, self.picture.1];
        sides.iter().all(|side| *side > 0.0).then(|| self.fit())
    }

    /// Returns the scale factor at which the image fits the space, or 1 if it is unknown.
    fn fit(self) -> f64 {
        let (width, height) = self.picture;
        let fit = (self.width / width.max(1.0)).min(self.height / height.max(1.0));
        if fit.is_finite() && fit > 0.0 {
            fit
        } else {
            1.0
        }
    }

    /// Returns the maximum offset of the image's center: the edges of an image that is larger than the space must stay
    /// outside the space.
    fn reach(self, scale: f64) -> Point {
        let drawn = self.fit() * scale;
        let reach = |picture: f64, viewport: f64| ((picture * drawn - viewport) / 2.0).max(0.0);
        (
            reach(self.picture.0, self.width),
            reach(self.picture.1, self.height),
        )
    }
}

impl Zoom {
    /// Whether the image is enlarged.
    pub fn is_close(self) -> bool {
        self.scale > 1.0
    }

    /// Zooms by a factor. The point `at` of the image stays fixed as far as possible.
    pub fn by(self, factor: f64, at: Point, viewport: Viewport) -> Self {
        if !factor.is_finite() || factor <= 0.0 {
            return self;
        }
        let scale = (self.scale * factor).clamp(1.0, LARGEST);
        let grown = scale / self.scale;
        Self {
            scale,
            x: at.0 - (at.0 - self.x) * grown,
            y: at.1 - (at.1 - self.y) * grown,
        }
        .within(viewport)
    }

    /// Moves the image by a distance in px.
    pub fn moved(self, by: Point, viewport: Viewport) -> Self {
        Self {
            x: self.x + by.0,
            y: self.y + by.1,
            ..self
        }
        .within(viewport)
    }

    /// Toggles between the whole image and an enlarged view of this point.
    pub fn toggled(self, at: Point, viewport: Viewport) -> Self {
        if self.is_close() {
            return Self::default();
        }
        let actual = 1.0 / viewport.fit();
        self.by(actual.max(CLOSE), at, viewport)
    }

    /// Handles a pinch: two fingers have moved from one position to another.
    pub fn pinched(self, from: [Point; 2], to: [Point; 2], viewport: Viewport) -> Self {
        let middle = |[a, b]: [Point; 2]| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        let apart = |[a, b]: [Point; 2]| (a.0 - b.0).hypot(a.1 - b.1).max(1.0);
        let (before, now) = (middle(from), middle(to));
        self.by(apart(to) / apart(from), before, viewport)
            .moved((now.0 - before.0, now.1 - before.1), viewport)
    }

    /// Converts the offset from px to fractions of the space, to synchronize images in spaces of different sizes.
    pub fn to_fractions(self, viewport: Viewport) -> Self {
        Self {
            x: self.x / viewport.width.max(1.0),
            y: self.y / viewport.height.max(1.0),
            ..self
        }
    }

    /// Converts the offset from fractions of the space to px.
    pub fn to_px(self, viewport: Viewport) -> Self {
        Self {
            x: self.x * viewport.width,
            y: self.y * viewport.height,
            ..self
        }
        .within(viewport)
    }

    /// Returns the fractions of an image to clip at the top, right, bottom and left, so that it stays within its space.
    /// The offset must be in fractions of the space.
    pub fn cut(self) -> [f64; 4] {
        let beyond = (1.0 - 1.0 / self.scale) / 2.0;
        let (across, down) = (self.x / self.scale, self.y / self.scale);
        [
            beyond - down,
            beyond + across,
            beyond + down,
            beyond - across,
        ]
    }

    fn within(self, viewport: Viewport) -> Self {
        // An image that is not enlarged is centered, even if its size is unknown.
        if !self.is_close() {
            return Self::default();
        }
        let (across, down) = viewport.reach(self.scale);
        Self {
            scale: self.scale,
            x: self.x.clamp(-across, across),
            y: self.y.clamp(-down, down),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A space of 1000 × 500 px for an image of 2000 × 500 px, which fits at half its size.
    const VIEWPORT: Viewport = Viewport {
        width: 1000.0,
        height: 500.0,
        picture: (2000.0, 500.0),
    };

    #[test]
    fn the_point_under_the_pointer_stays_fixed() {
        let closer = Zoom::default().by(4.0, (300.0, 50.0), VIEWPORT);
        assert_eq!((closer.scale, closer.x, closer.y), (4.0, -900.0, -150.0));
        // The point at 300 px from the center stays there: 4 × 300 - 900.
        let back = closer.by(0.25, (300.0, 50.0), VIEWPORT);
        assert_eq!(back, Zoom::default());
    }

    #[test]
    fn no_edge_moves_into_the_space() {
        let closer = Zoom::default().by(2.0, (0.0, 0.0), VIEWPORT);
        let moved = closer.moved((5_000.0, 5_000.0), VIEWPORT);
        // At double size, the image is as high as the space, and 1000 px wider.
        assert_eq!((moved.x, moved.y), (500.0, 0.0));
        assert_eq!(Zoom::default().moved((9.0, 9.0), VIEWPORT), Zoom::default());
    }

    /// The image fits at more than its actual size, so the actual size would be smaller.
    #[test]
    fn a_double_click_never_shrinks_the_image() {
        let small = Viewport {
            picture: (500.0, 250.0),
            ..VIEWPORT
        };
        assert_eq!(Zoom::default().toggled((0.0, 0.0), small).scale, 2.0);
        let large = Viewport {
            picture: (6000.0, 3000.0),
            ..VIEWPORT
        };
        let actual = Zoom::default().toggled((0.0, 0.0), large);
        assert_eq!(actual.scale, 6.0);
        assert_eq!(actual.toggled((0.0, 0.0), large), Zoom::default());
    }

    #[test]
    fn percentages_refer_to_the_actual_size() {
        assert_eq!(percent(1.0, VIEWPORT.known_fit()), Some(50.0));
        assert_eq!(percent(2.0, VIEWPORT.known_fit()), Some(100.0));
        let small = Viewport {
            picture: (64.0, 64.0),
            ..VIEWPORT
        };
        assert_eq!(percent(1.0, small.known_fit()), Some(781.0));
        let huge = Viewport {
            picture: (9e5, 9e5),
            ..VIEWPORT
        };
        assert_eq!(
            percent(1.0, huge.known_fit()),
            Some(1.0),
            "at least 1 percent"
        );
        // The image is not loaded, or is an SVG without a size.
        let unknown = Viewport {
            picture: (0.0, 0.0),
            ..VIEWPORT
        };
        assert_eq!(percent(1.0, unknown.known_fit()), None);
    }

    /// Compared images must show the same part, and must not overlap each other.
    #[test]
    fn spaces_of_any_size_show_the_same_part() {
        let small = Viewport {
            width: 200.0,
            height: 100.0,
            picture: (2000.0, 1000.0),
        };
        let large = Viewport {
            width: 800.0,
            height: 400.0,
            ..small
        };
        let closer = Zoom::default().by(4.0, (50.0, -50.0), small);
        let parts = closer.to_fractions(small);
        let there = parts.to_px(large);
        assert_eq!((there.scale, there.x, there.y), (4.0, -600.0, 600.0));
        assert_eq!(there.to_fractions(large), parts);
        // A quarter of each side is visible, at the top and three eighths to the right of the center.
        assert_eq!(parts.cut(), [0.0, 0.1875, 0.75, 0.5625]);
        assert_eq!(Zoom::default().cut(), [0.0; 4]);
    }

    #[test]
    fn a_pinch_zooms_and_moves() {
        let from = [(-50.0, 0.0), (50.0, 0.0)];
        let apart = [(-100.0, 0.0), (100.0, 0.0)];
        assert_eq!(Zoom::default().pinched(from, apart, VIEWPORT).scale, 2.0);
        let along = [(0.0, 0.0), (200.0, 0.0)];
        let moved = Zoom::default().pinched(from, along, VIEWPORT);
        assert_eq!((moved.scale, moved.x), (2.0, 100.0));
    }

    proptest! {
        #[test]
        fn the_zoom_stays_within_its_limits(
            steps in proptest::collection::vec(
                (0.1..9.0f64, -600.0..600.0f64, -400.0..400.0f64), 0..20),
            width in 0.0..3000.0f64, height in 0.0..2000.0f64,
            picture in (0.0..9000.0f64, 0.0..9000.0f64),
        ) {
            let viewport = Viewport { width, height, picture };
            let mut zoom = Zoom::default();
            for (factor, x, y) in steps {
                zoom = zoom.by(factor, (x, y), viewport).moved((y, x), viewport);
                prop_assert!((1.0..=LARGEST).contains(&zoom.scale));
                let (across, down) = viewport.reach(zoom.scale);
                prop_assert!(zoom.x.abs() <= across && zoom.y.abs() <= down);
                prop_assert!(zoom.is_close() || zoom == Zoom::default());
            }
        }
    }
}
