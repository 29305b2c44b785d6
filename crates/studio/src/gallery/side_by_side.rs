//! Lays out outputs side by side, for comparisons and for the outputs of a task. Computes the number of columns for
//! which the outputs are largest, and their widths.

use atelier_contract::Schema;
use atelier_engine::Task;

use crate::output::expected_output;
use atelier_contract::output::OutputKind;

/// The gap between two outputs, in `rem`.
pub const GAP: f64 = 0.5;

/// The minimum factor by which four outputs in a row must be wider than in a 2 × 2 grid to be preferred.
const WIDER: f64 = 1.05;

/// The minimum length of an output's sides in `rem`, so that its buttons fit, if the width allows it. If the height is
/// insufficient, the outputs are scrolled.
const SHORT: f64 = 12.0;

/// The aspect ratio of a sound's player, because a sound has none of its own.
const SOUND: f64 = 4.0;
/// The maximum width of that player in px.
const MAX_SOUND_WIDTH: f64 = 640.0;
/// The aspect ratio of a text.
const TEXT: f64 = 1.5;

/// The shape of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// The aspect ratio (width / height), above 0.
    pub ratio: f64,
    /// The maximum width in px. Videos are not enlarged, because they would be blocky.
    pub max_width: Option<f64>,
}

impl Shape {
    /// Returns the shape of an output. `sides`: its size in pixels; while it is unknown, the shape is derived from the
    /// inputs and the model's defaults.
    pub fn of(
        task: &Task,
        kind: OutputKind,
        sides: Option<(u32, u32)>,
        schema: Option<&Schema>,
    ) -> Self {
        let ratio = match (kind, sides) {
            (OutputKind::Audio, _) => SOUND,
            (OutputKind::Other, _) => TEXT,
            (_, Some((width, height))) => f64::from(width) / f64::from(height),
            (_, None) => {
                let expected = expected_output::ratio(task.input.values(), schema);
                Self::from_ratio(expected.as_deref().unwrap_or_default()).ratio
            }
        };
        let max_width = match (kind, sides) {
            (OutputKind::Audio, _) => Some(MAX_SOUND_WIDTH),
            (OutputKind::Video, Some((width, _))) => Some(f64::from(width)),
            _ => None,
        };
        Self { ratio, max_width }
    }

    /// Parses a CSS aspect ratio; square if it is invalid.
    pub fn from_ratio(ratio: &str) -> Self {
        Self {
            ratio: super::ratio_of(ratio).unwrap_or(1.0),
            max_width: None,
        }
    }

    /// Returns the width at which the output is drawn in a space of this size.
    fn drawn(&self, width: f64, height: f64) -> f64 {
        let most = self.max_width.unwrap_or(f64::INFINITY);
        width.min(height * self.ratio).min(most).max(0.0)
    }
}

/// The space for all outputs, in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Space {
    pub width: f64,
    pub height: f64,
    /// The height of the line above or below each output, in `rem`.
    pub line: f64,
    /// The size of one `rem`, in px.
    pub rem: f64,
}

/// The layout of the outputs of one task; lengths in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Block {
    /// The number of columns.
    pub columns: usize,
    /// The width of a column, which is that of the widest output.
    pub column: f64,
    /// The maximum height of an output.
    pub height: f64,
    /// The total height.
    pub whole: f64,
}

impl Space {
    /// Returns the number of columns for which the outputs cover the largest area. If two numbers are equal, the larger
    /// one is used, so that there is space for text below each output. Four outputs are never laid out in three
    /// columns, because half of the space would be empty.
    pub fn columns(&self, shapes: &[Shape]) -> usize {
        let count = shapes.len().max(1);
        let mut best = (count, self.covered(shapes, count));
        for columns in (1..count).rev().filter(|it| (count, *it) != (4, 3)) {
            let covered = self.covered(shapes, columns);
            if covered > best.1 {
                best = (columns, covered);
            }
        }
        best.0
    }

    /// Returns the area in square px that the outputs cover with this number of columns.
    fn covered(&self, shapes: &[Shape], columns: usize) -> f64 {
        let height = self.max_height(shapes.len().max(1), columns);
        let width = self.column(columns);
        let area = |shape: &Shape| shape.drawn(width, height).powi(2) / shape.ratio;
        shapes.iter().map(area).sum()
    }

    /// Returns the width of four outputs in a 2 × 2 grid with `side` px for text next to them. `None` if they are
    /// larger with `below` px for text below them.
    pub fn grid_width(&self, shapes: &[Shape], below: f64, side: f64) -> Option<f64> {
        let lower = Self {
            height: (self.height - below).max(0.0),
            ..*self
        };
        let narrower = Self {
            width: (self.width - side).max(0.0),
            ..*self
        };
        let is_larger = || {
            let best = lower.covered(shapes, lower.columns(shapes));
            narrower.covered(shapes, 2) > best
        };
        (shapes.len() == 4 && is_larger()).then(|| {
            let (width, height) = (narrower.column(2), narrower.max_height(4, 2));
            let drawn = shapes.iter().map(|shape| shape.drawn(width, height));
            drawn.fold(0.0, f64::max)
        })
    }

    /// Whether three outputs are larger in a 2 × 2 grid with text in the free corner than with `below` px for text below
    /// them.
    pub fn fits_text_in_corner(&self, shapes: &[Shape], below: f64) -> bool {
        let lower = Self {
            height: (self.height - below).max(0.0),
            ..*self
        };
        let columns = lower.columns(shapes);
        shapes.len() == 3 && self.covered(shapes, 2) > WIDER * lower.covered(shapes, columns)
    }

    /// Lays out the outputs of one task as large as possible. Four outputs are in a 2 × 2 grid, so that all are visible
    /// at once, unless they are larger in a row or column.
    pub fn block(&self, shapes: &[Shape]) -> Block {
        let count = shapes.len();
        let wide = |columns: usize, height: f64| {
            let width = self.column(columns);
            let drawn = shapes.iter().map(|shape| shape.drawn(width, height));
            drawn.fold(0.0, f64::max)
        };
        let ratios = || shapes.iter().map(|shape| shape.ratio);
        let short = SHORT * self.rem;
        let (narrowest, widest) = (ratios().fold(1.0, f64::min), ratios().fold(1.0, f64::max));
        let is_row_larger = || {
            let (row, two) = (
                wide(4, self.max_height(4, 4)),
                wide(2, self.max_height(4, 2)),
            );
            row >= WIDER * two && self.column(4) >= short * widest
        };
        let columns = match self.columns(shapes) {
            4 if count == 4 && !is_row_larger() => 2,
            columns => columns,
        };
        let height = self.max_height(count, columns).max(short / narrowest);
        let column = wide(columns, height);
        let highest = shapes.iter().map(|shape| column / shape.ratio);
        let highest = highest.fold(0.0, f64::max).min(height);
        let rows = count.div_ceil(columns) as f64;
        Block {
            columns,
            column,
            height,
            whole: rows * (highest + (self.line + GAP) * self.rem) - GAP * self.rem,
        }
    }

    /// Returns the unused height per row in px, with this number of columns.
    pub fn unused_height(&self, shapes: &[Shape], columns: usize) -> f64 {
        let (width, height) = (self.column(columns), self.max_height(shapes.len(), columns));
        let highest = shapes
            .iter()
            .map(|shape| shape.drawn(width, height) / shape.ratio);
        let highest = highest.fold(0.0, f64::max);
        let rows = shapes.len().div_ceil(columns) as f64;
        let whole = rows * (highest + (self.line + GAP) * self.rem) - GAP * self.rem;
        (self.height - whole).max(0.0) / rows.max(1.0)
    }

    /// Returns the maximum height of an output in px, with this number of columns.
    fn max_height(&self, count: usize, columns: usize) -> f64 {
        let rows = count.div_ceil(columns);
        (self.part(self.height, rows) - self.line * self.rem).max(0.0)
    }

    /// Returns the width of a column in px.
    pub fn column(&self, columns: usize) -> f64 {
        self.part(self.width, columns)
    }

    fn part(&self, whole: f64, parts: usize) -> f64 {
        let parts = parts.max(1) as f64;
        ((whole + GAP * self.rem) / parts - GAP * self.rem).max(0.0)
    }

    /// Returns the maximum width and height of the outputs if they are drawn on top of each other.
    pub fn overlaid(&self, shapes: &[Shape]) -> (f64, f64) {
        let height = self.height - self.line * self.rem;
        let drawn = shapes.iter().map(|shape| {
            let width = shape.drawn(self.width, height);
            (width, width / shape.ratio)
        });
        drawn.fold((0.0, 0.0), |most, drawn| {
            (most.0.max(drawn.0), most.1.max(drawn.1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a window that is half empty below three outputs in a row.
    #[test]
    fn the_text_of_three_outputs_may_be_in_the_free_corner() {
        let of = |ratio: f64| {
            [Shape {
                ratio,
                max_width: None,
            }; 3]
        };
        let desk = space(1408.0, 830.0);
        assert!(desk.fits_text_in_corner(&of(1.5), 100.0));
        assert!(
            !desk.fits_text_in_corner(&of(0.6), 100.0),
            "three high ones"
        );
        assert!(
            !space(2500.0, 830.0).fits_text_in_corner(&of(1.5), 100.0),
            "a row"
        );
        assert!(!desk.fits_text_in_corner(&of(1.5)[..2], 100.0));
    }

    fn space(width: f64, height: f64) -> Space {
        Space {
            width,
            height,
            line: 2.75,
            rem: 16.0,
        }
    }

    #[test]
    fn the_unused_height_is_determined_by_the_highest_output() {
        let wide = space(1208.0, 800.0);
        // Each is 600 wide and 400 high, below its line.
        assert_eq!(
            wide.unused_height(&pictures::<2>(1.5), 2),
            800.0 - 400.0 - 44.0
        );
        assert_eq!(wide.unused_height(&pictures::<2>(0.5), 2), 0.0);
        let mixed = [pictures::<1>(1.5)[0], pictures::<1>(3.0)[0]];
        assert_eq!(
            wide.unused_height(&mixed, 2),
            wide.unused_height(&pictures::<2>(1.5), 2)
        );
    }

    fn pictures<const N: usize>(ratio: f64) -> [Shape; N] {
        [Shape {
            ratio,
            max_width: None,
        }; N]
    }

    /// Guards against small images in a window that is mostly empty.
    #[test]
    fn images_are_as_large_as_possible() {
        // The space in a window of 1440 by 900, and of 2560 by 900.
        let (usual, wide) = (space(1408.0, 600.0), space(2528.0, 600.0));
        assert_eq!(usual.columns(&pictures::<4>(1.0)), 4);
        assert_eq!(usual.columns(&pictures::<3>(1.0)), 3);
        assert_eq!(usual.columns(&pictures::<4>(0.6)), 4);
        assert_eq!(wide.columns(&pictures::<4>(1.0)), 4);
        assert_eq!(wide.columns(&pictures::<4>(16.0 / 9.0)), 4);
        // Wide images are in two columns.
        assert_eq!(usual.columns(&pictures::<4>(3.0)), 2);
        // Four images are never in three columns.
        assert_eq!(usual.columns(&pictures::<4>(1.5)), 2);
        assert_eq!(usual.columns(&pictures::<2>(6.0)), 1);
        assert_eq!(space(700.0, 800.0).columns(&pictures::<4>(1.0)), 2);
        assert_eq!(space(700.0, 800.0).columns(&pictures::<2>(1.5)), 1);
        assert_eq!(usual.columns(&[]), 1);
        assert_eq!(Space::default().columns(&pictures::<3>(1.0)), 3);
    }

    fn task() -> Task {
        crate::testing::task("a", 0)
    }

    /// Small videos and sounds are side by side if they fit at their full size.
    #[test]
    fn a_video_is_not_enlarged() {
        let of = |kind, sides| Shape::of(&task(), kind, sides, None);
        let small = [
            of(OutputKind::Audio, None),
            of(OutputKind::Video, Some((480, 270))),
        ];
        assert_eq!(space(1408.0, 600.0).columns(&small), 2);
        let picture = of(OutputKind::Image, Some((480, 270)));
        assert_eq!(picture.max_width, None);

        let film = Shape {
            ratio: 16.0 / 9.0,
            max_width: Some(480.0),
        };
        assert_eq!(space(1408.0, 800.0).columns(&[film; 2]), 2);
        assert_eq!(space(1408.0, 800.0).overlaid(&[film]), (480.0, 270.0));
        assert_eq!(space(400.0, 800.0).overlaid(&[film]), (400.0, 225.0));
    }

    /// Four images are in a grid unless they are much larger in a row.
    #[test]
    fn four_outputs_of_one_task_are_in_a_grid() {
        // The space next to the form in windows of 2560 by 900, 2560 by 1300 and 1440 by 900.
        let space = |width, height| Space {
            line: 0.0,
            ..space(width, height)
        };
        let (low, large, usual) = (
            space(1740.0, 520.0),
            space(1740.0, 920.0),
            space(850.0, 520.0),
        );
        for (space, ratio, columns) in [
            (low, 1.5, 4),
            (low, 0.75, 4),
            (large, 1.5, 2),
            (large, 1.0, 2),
            (usual, 1.5, 2),
            (usual, 1.0, 2),
            (usual, 0.75, 4),
        ] {
            let block = space.block(&pictures::<4>(ratio));
            assert_eq!(block.columns, columns, "{ratio} in {space:?}");
            assert!(block.column / ratio <= block.height + 1e-9, "{block:?}");
            assert!(block.whole <= space.height + 1e-9, "{block:?}");
        }
        // Tall images in a row are much larger.
        assert_eq!(usual.block(&pictures::<4>(9.0 / 16.0)).columns, 4);
        // The columns are as wide as the images, even if there is more space.
        assert_eq!(large.block(&pictures::<4>(1.0)).column, 456.0);
        assert_eq!(low.block(&pictures::<2>(1.5)).columns, 2);
        assert_eq!(low.block(&pictures::<3>(1.0)).columns, 3);
        assert_eq!(Space::default().block(&[]).columns, 1);
    }

    /// Guards against images that are covered by their buttons in a low window.
    #[test]
    fn outputs_in_a_low_space_are_scrolled() {
        for height in [0.0, 60.0, 220.0, 300.0] {
            for (ratio, columns, sides) in [
                (1.5, 2, (288.0, 192.0)),
                (16.0 / 9.0, 2, (192.0 * 16.0 / 9.0, 192.0)),
            ] {
                let space = space(800.0, height);
                let block = space.block(&pictures::<4>(ratio));
                assert_eq!(block.columns, columns, "{ratio} in {space:?}");
                assert!((block.column - sides.0).abs() < 0.1, "{ratio}: {block:?}");
                assert_eq!(block.height, sides.1, "{ratio}: {block:?}");
                assert!(block.whole > space.height, "{block:?}");
            }
        }
        // In a row, the images have the same size and are all visible.
        assert_eq!(space(800.0, 100.0).block(&pictures::<4>(1.0)).columns, 4);
        // The images are at most as wide as the space.
        assert_eq!(space(300.0, 100.0).block(&pictures::<4>(1.5)).column, 146.0);
    }

    /// Guards against four outputs in a row with half of the window empty below.
    #[test]
    fn four_outputs_are_in_a_grid_next_to_their_text_if_they_are_larger_there() {
        // The space in windows of 1440 by 900, 2560 by 1440 and 2560 by 900.
        let (usual, large, low) = (
            space(1408.0, 832.0),
            space(2528.0, 1372.0),
            space(2528.0, 832.0),
        );
        let squares = pictures::<4>(1.0);
        assert_eq!(usual.grid_width(&squares, 74.0, 480.0), Some(368.0));
        assert_eq!(large.grid_width(&squares, 74.0, 480.0), Some(638.0));
        assert_eq!(low.grid_width(&squares, 74.0, 480.0), None);
        // Wide images are larger in a grid above the text.
        assert_eq!(usual.grid_width(&pictures::<4>(1.5), 74.0, 480.0), None);
        assert_eq!(usual.grid_width(&pictures::<3>(1.0), 74.0, 480.0), None);
        assert_eq!(usual.grid_width(&[], 74.0, 480.0), None);
    }

    #[test]
    fn columns_share_the_width_without_the_gaps() {
        assert_eq!(space(1408.0, 600.0).column(1), 1408.0);
        assert_eq!(space(1408.0, 600.0).column(2), 700.0);
        assert_eq!(
            space(1408.0, 644.0).overlaid(&pictures::<2>(1.0)),
            (600.0, 600.0)
        );
    }
}
