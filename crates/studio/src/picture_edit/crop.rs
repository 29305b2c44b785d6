//! The part of a picture that is kept, in whole pixels.

/// Width and height, in pixels.
pub type Size = (u32, u32);

/// A part of a picture. It is within the picture and at least one pixel wide and high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crop {
    pub left: u32,
    pub top: u32,
    pub width: u32,
    pub height: u32,
}

/// A handle by which a crop is dragged: for each axis, whether it is the edge at the start (-1), at the end (1), or neither
/// (0). `Handle(0, 0)` moves the crop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub i8, pub i8);

impl Handle {
    /// The handles at the edges and corners.
    pub const EDGES: [Self; 8] = [
        Self(-1, -1),
        Self(0, -1),
        Self(1, -1),
        Self(-1, 0),
        Self(1, 0),
        Self(-1, 1),
        Self(0, 1),
        Self(1, 1),
    ];
}

/// A number of a crop that can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Top,
    Width,
    Height,
}

impl Crop {
    /// Returns the whole picture.
    pub fn whole((width, height): Size) -> Self {
        Self {
            left: 0,
            top: 0,
            width,
            height,
        }
    }

    pub fn size(self) -> Size {
        (self.width, self.height)
    }

    /// Returns the largest crop of a ratio (width divided by height) with the center of this one, as far as possible.
    pub fn fitted(self, ratio: f64, picture: Size) -> Self {
        let (width, height) = (f64::from(picture.0), f64::from(picture.1));
        let fitted = width.min(height * ratio);
        let sides = (fitted, fitted / ratio);
        let center = (
            f64::from(self.left) + f64::from(self.width) / 2.0,
            f64::from(self.top) + f64::from(self.height) / 2.0,
        );
        let start = (center.0 - sides.0 / 2.0, center.1 - sides.1 / 2.0);
        rounded(start, sides, picture)
    }

    /// Returns the crop after a handle was dragged by a distance.
    pub fn dragged(
        self,
        handle: Handle,
        by: (f64, f64),
        ratio: Option<f64>,
        picture: Size,
    ) -> Self {
        if !by.0.is_finite() || !by.1.is_finite() {
            return self;
        }
        let across = Axis::of(self.left, self.width, picture.0, handle.0);
        let down = Axis::of(self.top, self.height, picture.1, handle.1);
        if handle == Handle(0, 0) {
            let start = (
                (f64::from(self.left) + by.0).clamp(0.0, f64::from(picture.0 - self.width)),
                (f64::from(self.top) + by.1).clamp(0.0, f64::from(picture.1 - self.height)),
            );
            return rounded(start, (self.width.into(), self.height.into()), picture);
        }
        let mut sides = (across.length(by.0), down.length(by.1));
        if let Some(ratio) = ratio {
            let wanted = match handle {
                Handle(0, _) => sides.1 * ratio,
                Handle(_, 0) => sides.0,
                _ => sides.0.max(sides.1 * ratio),
            };
            let width = wanted.min(across.longest()).min(down.longest() * ratio);
            let width = width.max(1.0).max(ratio);
            sides = (width, width / ratio);
        }
        let start = (across.start(sides.0), down.start(sides.1));
        rounded(start, sides, picture)
    }

    /// Returns the crop with a number that was typed. A ratio changes the other side too.
    pub fn with(self, side: Side, value: u32, ratio: Option<f64>, picture: Size) -> Self {
        let mut crop = self;
        match side {
            Side::Left => crop.left = value.min(picture.0 - self.width),
            Side::Top => crop.top = value.min(picture.1 - self.height),
            Side::Width | Side::Height => {
                let mut sides = match side {
                    Side::Width => (f64::from(value), f64::from(self.height)),
                    _ => (f64::from(self.width), f64::from(value)),
                };
                if let Some(ratio) = ratio {
                    let wanted = if side == Side::Width {
                        sides.0
                    } else {
                        sides.1 * ratio
                    };
                    let longest = f64::from(picture.0).min(f64::from(picture.1) * ratio);
                    let width = wanted.min(longest);
                    sides = (width, width / ratio);
                }
                let start = (f64::from(self.left), f64::from(self.top));
                crop = rounded(start, sides, picture);
            }
        }
        crop
    }

    /// Returns the same part of the picture after it was turned. `picture`: its size before.
    pub fn turned(self, is_clockwise: bool, picture: Size) -> Self {
        let (left, top) = match is_clockwise {
            true => (picture.1 - self.top - self.height, self.left),
            false => (self.top, picture.0 - self.left - self.width),
        };
        Self {
            left,
            top,
            width: self.height,
            height: self.width,
        }
    }

    /// Returns the same part of the picture after it was mirrored, left to right or top to bottom.
    pub fn flipped(self, is_vertical: bool, picture: Size) -> Self {
        let mut crop = self;
        match is_vertical {
            true => crop.top = picture.1 - self.top - self.height,
            false => crop.left = picture.0 - self.left - self.width,
        }
        crop
    }
}

/// An edge that is dragged, or both edges of an axis.
struct Axis {
    /// The place that stays: an edge, or the center.
    anchor: f64,
    limit: f64,
    before: f64,
    handle: i8,
}

impl Axis {
    fn of(start: u32, length: u32, limit: u32, handle: i8) -> Self {
        let (start, length) = (f64::from(start), f64::from(length));
        let anchor = match handle {
            -1 => start + length,
            1 => start,
            _ => start + length / 2.0,
        };
        Self {
            anchor,
            limit: limit.into(),
            before: length,
            handle,
        }
    }

    /// Returns the length after the edge was dragged.
    fn length(&self, by: f64) -> f64 {
        (self.before + by * f64::from(self.handle)).clamp(1.0, self.longest().max(1.0))
    }

    /// Returns the longest length with this anchor.
    fn longest(&self) -> f64 {
        match self.handle {
            -1 => self.anchor,
            1 => self.limit - self.anchor,
            _ => 2.0 * self.anchor.min(self.limit - self.anchor),
        }
    }

    fn start(&self, length: f64) -> f64 {
        match self.handle {
            -1 => self.anchor - length,
            1 => self.anchor,
            _ => self.anchor - length / 2.0,
        }
    }
}

/// Returns a crop in whole pixels within the picture.
fn rounded(start: (f64, f64), sides: (f64, f64), picture: Size) -> Crop {
    let side = |length: f64, limit: u32| (length.round().max(1.0) as u32).min(limit.max(1));
    let (width, height) = (side(sides.0, picture.0), side(sides.1, picture.1));
    let place = |start: f64, length: u32, limit: u32| {
        (start.round().max(0.0) as u32).min(limit.saturating_sub(length))
    };
    Crop {
        left: place(start.0, width, picture.0),
        top: place(start.1, height, picture.1),
        width,
        height,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PICTURE: Size = (400, 300);

    fn crop(left: u32, top: u32, width: u32, height: u32) -> Crop {
        Crop {
            left,
            top,
            width,
            height,
        }
    }

    #[test]
    fn dragging_an_edge_moves_only_that_edge() {
        let start = crop(100, 100, 100, 100);
        let drag = |handle, by| start.dragged(handle, by, None, PICTURE);
        assert_eq!(drag(Handle(1, 0), (20.0, 50.0)), crop(100, 100, 120, 100));
        assert_eq!(drag(Handle(-1, -1), (-10.0, 5.0)), crop(90, 105, 110, 95));
        assert_eq!(drag(Handle(0, 0), (900.0, -900.0)), crop(300, 0, 100, 100));
        // The edges do not pass each other.
        assert_eq!(drag(Handle(1, 1), (-900.0, -900.0)), crop(100, 100, 1, 1));
        assert_eq!(drag(Handle(1, 1), (900.0, 900.0)), crop(100, 100, 300, 200));
    }

    #[test]
    fn a_ratio_is_kept_while_dragging() {
        let start = crop(100, 100, 100, 50);
        let drag = |handle, by| start.dragged(handle, by, Some(2.0), PICTURE);
        assert_eq!(drag(Handle(1, 1), (50.0, 0.0)), crop(100, 100, 150, 75));
        // The other axis grows on both sides.
        assert_eq!(drag(Handle(1, 0), (50.0, 0.0)), crop(100, 88, 150, 75));
        // The upper edge limits it.
        assert_eq!(drag(Handle(1, -1), (900.0, -900.0)), crop(100, 0, 300, 150));
    }

    #[test]
    fn a_ratio_is_fitted_around_the_center() {
        assert_eq!(
            Crop::whole(PICTURE).fitted(1.0, PICTURE),
            crop(50, 0, 300, 300)
        );
        assert_eq!(
            crop(0, 0, 10, 10).fitted(1.0, PICTURE),
            crop(0, 0, 300, 300)
        );
        assert_eq!(
            Crop::whole(PICTURE).fitted(4.0, PICTURE),
            crop(0, 100, 400, 100)
        );
    }

    #[test]
    fn typed_numbers_are_limited_to_the_picture() {
        let start = crop(100, 100, 100, 100);
        let with = |side, value, ratio| start.with(side, value, ratio, PICTURE);
        assert_eq!(with(Side::Left, 999, None), crop(300, 100, 100, 100));
        assert_eq!(with(Side::Width, 999, None), crop(0, 100, 400, 100));
        assert_eq!(with(Side::Width, 0, None), crop(100, 100, 1, 100));
        assert_eq!(with(Side::Height, 200, Some(0.5)), crop(100, 100, 100, 200));
        assert_eq!(with(Side::Height, 999, Some(1.0)), crop(100, 0, 300, 300));
    }

    #[test]
    fn turning_and_flipping_keep_the_part() {
        let start = crop(10, 20, 100, 50);
        assert_eq!(start.turned(true, PICTURE), crop(230, 10, 50, 100));
        assert_eq!(start.turned(false, PICTURE), crop(20, 290, 50, 100));
        assert_eq!(start.flipped(false, PICTURE), crop(290, 20, 100, 50));
        assert_eq!(start.flipped(true, PICTURE), crop(10, 230, 100, 50));
    }

    fn picture_and_crop() -> impl Strategy<Value = (Size, Crop)> {
        (1..500u32, 1..500u32).prop_flat_map(|(width, height)| {
            let across = (0..width).prop_flat_map(move |left| (Just(left), 1..=width - left));
            let down = (0..height).prop_flat_map(move |top| (Just(top), 1..=height - top));
            (across, down)
                .prop_map(move |((left, w), (top, h))| ((width, height), crop(left, top, w, h)))
        })
    }

    fn check(crop: Crop, (width, height): Size) -> Result<(), TestCaseError> {
        prop_assert!(crop.width >= 1 && crop.height >= 1, "{:?}", crop);
        prop_assert!(crop.left + crop.width <= width, "{:?}", crop);
        prop_assert!(crop.top + crop.height <= height, "{:?}", crop);
        Ok(())
    }

    proptest! {
        #[test]
        fn every_change_stays_within_the_picture(
            (picture, crop) in picture_and_crop(),
            handle in (-1..=1i8, -1..=1i8),
            by in (-600.0..600.0, -600.0..600.0),
            ratio in proptest::option::of(0.1..10.0),
            value in 0..1000u32,
        ) {
            check(crop.dragged(Handle(handle.0, handle.1), by, ratio, picture), picture)?;
            for side in [Side::Left, Side::Top, Side::Width, Side::Height] {
                check(crop.with(side, value, ratio, picture), picture)?;
            }
            check(crop.fitted(ratio.unwrap_or(1.0), picture), picture)?;
            check(crop.turned(true, picture), (picture.1, picture.0))?;
            check(crop.flipped(true, picture), picture)?;
        }

        #[test]
        fn a_fitted_crop_has_the_ratio(
            (picture, crop) in picture_and_crop(),
            ratio in 0.1..10.0,
        ) {
            let Crop { width, height, .. } = crop.fitted(ratio, picture);
            let (width, height) = (f64::from(width), f64::from(height));
            // Within the rounding of both sides.
            prop_assert!((width - height * ratio).abs() <= 0.5 + 0.5 * ratio + ratio.max(1.0));
        }

        #[test]
        fn four_turns_and_two_flips_change_nothing((picture, crop) in picture_and_crop()) {
            let turned = crop.turned(true, picture);
            prop_assert_eq!(turned.turned(false, (picture.1, picture.0)), crop);
            for is_vertical in [false, true] {
                let flipped = crop.flipped(is_vertical, picture);
                prop_assert_eq!(flipped.flipped(is_vertical, picture), crop);
            }
        }
    }
}
