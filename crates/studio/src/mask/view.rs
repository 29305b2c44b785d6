//! The part of a picture that is shown while a mask is drawn over it, and the pixels of the mask in it.

use super::bitmap::{Area, Bitmap, Point};
use crate::gallery::zoom::{Viewport, Zoom};

/// A view of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    pub viewport: Viewport,
    pub zoom: Zoom,
}

/// A part of a row of the view that is painted: `y`, first x, and the x after the last.
pub type Run = (u32, u32, u32);

impl View {
    /// Returns the number of pixels of the view per pixel of the picture.
    pub fn scale(self) -> f64 {
        let scale = self.viewport.known_fit().unwrap_or(1.0) * self.zoom.scale;
        if scale > 0.0 { scale } else { 1.0 }
    }

    /// Returns the place of the picture's upper left corner in the view.
    pub fn origin(self) -> Point {
        let (width, height) = self.viewport.picture;
        let scale = self.scale();
        (
            self.viewport.width / 2.0 + self.zoom.x - width * scale / 2.0,
            self.viewport.height / 2.0 + self.zoom.y - height * scale / 2.0,
        )
    }

    /// Returns the point of the picture at a point of the view.
    pub fn to_picture(self, at: Point) -> Point {
        let (left, top) = self.origin();
        let scale = self.scale();
        ((at.0 - left) / scale, (at.1 - top) / scale)
    }

    /// Returns the place of a point of the picture in the view.
    pub fn to_view(self, at: Point) -> Point {
        let (left, top) = self.origin();
        let scale = self.scale();
        (left + at.0 * scale, top + at.1 * scale)
    }

    /// Returns the pixels of the view that show an area of the picture, within the view.
    pub fn shown(self, area: Area) -> Area {
        let (left, top) = self.to_view((area.left.into(), area.top.into()));
        let (right, bottom) = self.to_view((area.right.into(), area.bottom.into()));
        let within = |at: f64, limit: f64| at.clamp(0.0, limit.ceil()) as u32;
        let Viewport { width, height, .. } = self.viewport;
        Area {
            left: within(left.floor(), width),
            top: within(top.floor(), height),
            right: within(right.ceil(), width),
            bottom: within(bottom.ceil(), height),
        }
    }

    /// Returns the painted parts of an area of the view. The time depends on that area, not on the size of the picture.
    pub fn runs(self, bitmap: &Bitmap, area: Area) -> Vec<Run> {
        let (width, height) = bitmap.size();
        let pixel = |at: f64, limit: u32| {
            let is_inside = at >= 0.0 && at < f64::from(limit);
            is_inside.then_some(at as u32)
        };
        let columns: Vec<Option<u32>> = (area.left..area.right)
            .map(|x| pixel(self.to_picture((f64::from(x) + 0.5, 0.0)).0, width))
            .collect();
        let mut runs = Vec::new();
        for y in area.top..area.bottom {
            let Some(row) = pixel(self.to_picture((0.0, f64::from(y) + 0.5)).1, height) else {
                continue;
            };
            let row = bitmap.row(row);
            let mut start = None;
            for (x, column) in (area.left..).zip(&columns) {
                let is_set =
                    column.is_some_and(|at| row[(at / 8) as usize] & (0x80 >> (at % 8)) != 0);
                match (is_set, start) {
                    (true, None) => start = Some(x),
                    (false, Some(from)) => {
                        runs.push((y, from, x));
                        start = None;
                    }
                    _ => {}
                }
            }
            runs.extend(start.map(|from| (y, from, area.right)));
        }
        runs
    }

    /// Moves a point of the picture by a distance in the view, within the picture.
    pub fn moved(self, at: Point, by: Point) -> Point {
        let scale = self.scale();
        let (width, height) = self.viewport.picture;
        let within = |at: f64, limit: f64| at.clamp(0.5, (limit - 0.5).max(0.5));
        (
            within(at.0 + by.0 / scale, width),
            within(at.1 + by.1 / scale, height),
        )
    }

    /// Returns the distance by which to move the picture so that a point of it is in the view.
    pub fn distance_into_view(self, at: Point) -> Point {
        const MARGIN: f64 = 24.0;
        let (x, y) = self.to_view(at);
        let distance = |at: f64, length: f64| at.clamp(MARGIN, (length - MARGIN).max(MARGIN)) - at;
        (
            distance(x, self.viewport.width),
            distance(y, self.viewport.height),
        )
    }
}

/// The largest diameter of a brush for a picture, in pixels of the picture.
pub fn largest_brush((width, height): (u32, u32)) -> u32 {
    (width.max(height) / 2).max(16)
}

/// The initial diameter of the brush.
pub fn initial_brush((width, height): (u32, u32)) -> u32 {
    (width.max(height) / 20).max(4)
}

/// Returns the next larger or smaller diameter of a brush.
pub fn next_brush(size: u32, is_larger: bool, largest: u32) -> u32 {
    let step = (size / 5).max(1);
    match is_larger {
        true => (size + step).min(largest),
        false => size.saturating_sub(step).max(1),
    }
}

/// Returns the radius for the pressure of a pen, from 0 to 1.
pub fn radius(size: u32, pressure: Option<f64>) -> f64 {
    let part = pressure.map_or(1.0, |pressure| 0.2 + 0.8 * pressure.clamp(0.0, 1.0));
    f64::from(size) / 2.0 * part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn view(zoom: Zoom) -> View {
        View {
            viewport: Viewport {
                width: 400.0,
                height: 300.0,
                picture: (800.0, 300.0),
            },
            zoom,
        }
    }

    #[test]
    fn the_whole_picture_is_centered() {
        let view = view(Zoom::default());
        assert_eq!((view.scale(), view.origin()), (0.5, (0.0, 75.0)));
        assert_eq!(view.to_picture((200.0, 150.0)), (400.0, 150.0));
        assert_eq!(view.to_picture((0.0, 75.0)), (0.0, 0.0));
    }

    #[test]
    fn runs_are_the_painted_pixels_of_the_view() {
        let mut bitmap = Bitmap::new(800, 300);
        let area = bitmap
            .rectangle((100.0, 50.0), (200.0, 54.0), true)
            .unwrap();
        let view = view(Zoom::default());
        let shown = view.shown(area);
        let expected = Area {
            left: 50,
            top: 100,
            right: 100,
            bottom: 102,
        };
        assert_eq!(shown, expected);
        assert_eq!(view.runs(&bitmap, shown), [(100, 50, 100), (101, 50, 100)]);
        let all = Area {
            left: 0,
            top: 0,
            right: 400,
            bottom: 300,
        };
        assert_eq!(view.runs(&bitmap, all), view.runs(&bitmap, shown));
    }

    #[test]
    fn the_crosshair_stays_within_the_picture() {
        let view = view(Zoom::default());
        assert_eq!(view.moved((1.0, 1.0), (10.0, -10.0)), (21.0, 0.5));
        assert_eq!(view.moved((790.0, 5.0), (100.0, 0.0)), (799.5, 5.0));
        assert_eq!(view.distance_into_view((400.0, 150.0)), (0.0, 0.0));
        assert_eq!(view.distance_into_view((0.0, 150.0)), (24.0, 0.0));
    }

    #[test]
    fn brushes_grow_and_shrink_within_their_bounds() {
        assert_eq!(next_brush(1, false, 100), 1);
        assert_eq!(next_brush(1, true, 100), 2);
        assert_eq!(next_brush(50, true, 100), 60);
        assert_eq!(next_brush(99, true, 100), 100);
        assert_eq!(largest_brush((3, 3)), 16);
        assert_eq!(initial_brush((2000, 100)), 100);
        assert_eq!(radius(10, None), 5.0);
        assert_eq!(radius(10, Some(0.0)), 1.0);
        assert_eq!(radius(10, Some(7.0)), 5.0);
    }

    proptest! {
        #[test]
        fn points_of_view_and_picture_correspond(
            x in 0.0..400.0, y in 0.0..300.0, scale in 1.0..8.0, dx in -300.0..300.0, dy in -300.0..300.0,
        ) {
            let view = view(Zoom { scale, x: dx, y: dy });
            let (back_x, back_y) = view.to_view(view.to_picture((x, y)));
            prop_assert!((back_x - x).abs() < 1e-6 && (back_y - y).abs() < 1e-6);
        }
    }
}
