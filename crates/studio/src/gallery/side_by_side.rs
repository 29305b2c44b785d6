//! Outputs next to each other, those that are compared and those of one task: in how many columns they are largest, and
//! how wide they are drawn.

use atelier_contract::Schema;
use atelier_engine::Task;

use crate::output::expected_output;
use atelier_contract::output::OutputKind;

/// Between two outputs, in `rem`.
pub const GAP: f64 = 0.5;

/// Four in a row have to be so much wider than two and two, which are seen at once.
const WIDER: f64 = 1.05;

/// No side of an output is shorter, in `rem`, as long as there is the width for it: what can be done with it stands on
/// it. They are scrolled through then.
const SHORT: f64 = 12.0;

/// Width by height of what is not drawn in a shape of its own: a sound with its player, and a text. A sound is drawn
/// no wider than so many px.
const SOUND: f64 = 4.0;
const MAX_SOUND_WIDTH: f64 = 640.0;
const TEXT: f64 = 1.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Width by height, above 0.
    pub ratio: f64,
    /// No wider than this, in px: a film is blocky where it is larger than it is.
    pub most: Option<f64>,
}

impl Shape {
    /// Gives the shape of an output by its width and height in pixels once these are known, and until then by its
    /// inputs or the model's defaults.
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
                let said = expected_output::ratio(task.input.values(), schema);
                Self::said(said.as_deref().unwrap_or_default()).ratio
            }
        };
        let most = match (kind, sides) {
            (OutputKind::Audio, _) => Some(MAX_SOUND_WIDTH),
            (OutputKind::Video, Some((width, _))) => Some(f64::from(width)),
            _ => None,
        };
        Self { ratio, most }
    }

    /// Reads the ratio of a picture as style sheets write it; it is square if there is none.
    pub fn said(ratio: &str) -> Self {
        Self {
            ratio: super::ratio_of(ratio).unwrap_or(1.0),
            most: None,
        }
    }

    /// How wide it is drawn in so much room.
    fn drawn(&self, width: f64, height: f64) -> f64 {
        let most = self.most.unwrap_or(f64::INFINITY);
        width.min(height * self.ratio).min(most).max(0.0)
    }
}

/// The room for all of them, in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Room {
    pub width: f64,
    pub height: f64,
    /// The line that each has, above or below it, in `rem`.
    pub line: f64,
    /// One `rem`, in px.
    pub rem: f64,
}

/// How the outputs of one task lie; lengths in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Block {
    /// How many stand side by side.
    pub columns: usize,
    /// How wide a column is: as wide as what is widest in it.
    pub column: f64,
    /// How high an output may be.
    pub height: f64,
    /// How high all of them are.
    pub whole: f64,
}

impl Room {
    /// In how many columns they cover most of it; of two numbers that are as good the larger one, so that what is
    /// said below can stand below each. Four are never three and one: half of the room would be empty.
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

    /// How much of the room they cover in so many columns, in square px.
    fn covered(&self, shapes: &[Shape], columns: usize) -> f64 {
        let height = self.high(shapes.len().max(1), columns);
        let width = self.column(columns);
        let area = |shape: &Shape| shape.drawn(width, height).powi(2) / shape.ratio;
        shapes.iter().map(area).sum()
    }

    /// How wide each of four is drawn, two and two, where they are larger so, with `side` px of this room for what is
    /// said of them next to them, than with so many px `below` them.
    pub fn two_and_two(&self, shapes: &[Shape], below: f64, side: f64) -> Option<f64> {
        let above = Self {
            height: (self.height - below).max(0.0),
            ..*self
        };
        let beside = Self {
            width: (self.width - side).max(0.0),
            ..*self
        };
        let is_larger = || {
            let best = above.covered(shapes, above.columns(shapes));
            beside.covered(shapes, 2) > best
        };
        (shapes.len() == 4 && is_larger()).then(|| {
            let (width, height) = (beside.column(2), beside.high(4, 2));
            let drawn = shapes.iter().map(|shape| shape.drawn(width, height));
            drawn.fold(0.0, f64::max)
        })
    }

    /// Whether three are larger two and one, with what is said of them in the corner that is left, than with so many px
    /// `below` them.
    pub fn with_corner(&self, shapes: &[Shape], below: f64) -> bool {
        let above = Self {
            height: (self.height - below).max(0.0),
            ..*self
        };
        let columns = above.columns(shapes);
        shapes.len() == 3 && self.covered(shapes, 2) > WIDER * above.covered(shapes, columns)
    }

    /// Those of one task, as large as they can be. Four are two and two unless they are larger in a row or one below the
    /// other: a block is seen at once.
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
            let (row, two) = (wide(4, self.high(4, 4)), wide(2, self.high(4, 2)));
            row >= WIDER * two && self.column(4) >= short * widest
        };
        let columns = match self.columns(shapes) {
            4 if count == 4 && !is_row_larger() => 2,
            columns => columns,
        };
        let height = self.high(count, columns).max(short / narrowest);
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

    /// How much of the room's height is left below the last row, in so many columns: each row has its share of what they
    /// do not need.
    pub fn left(&self, shapes: &[Shape], columns: usize) -> f64 {
        let (width, height) = (self.column(columns), self.high(shapes.len(), columns));
        let highest = shapes
            .iter()
            .map(|shape| shape.drawn(width, height) / shape.ratio);
        let highest = highest.fold(0.0, f64::max);
        let rows = shapes.len().div_ceil(columns) as f64;
        let whole = rows * (highest + (self.line + GAP) * self.rem) - GAP * self.rem;
        (self.height - whole).max(0.0) / rows.max(1.0)
    }

    /// How high one of so many may be in so many columns.
    fn high(&self, count: usize, columns: usize) -> f64 {
        let rows = count.div_ceil(columns);
        (self.part(self.height, rows) - self.line * self.rem).max(0.0)
    }

    /// How wide one of so many columns is.
    pub fn column(&self, columns: usize) -> f64 {
        self.part(self.width, columns)
    }

    fn part(&self, whole: f64, parts: usize) -> f64 {
        let parts = parts.max(1) as f64;
        ((whole + GAP * self.rem) / parts - GAP * self.rem).max(0.0)
    }

    /// How wide the widest and how high the highest of them is drawn where they lie one over the other.
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

    /// Guards against a window that is half empty below three in a row.
    #[test]
    fn what_is_said_of_three_may_stand_in_the_corner() {
        let of = |ratio: f64| [Shape { ratio, most: None }; 3];
        let desk = room(1408.0, 830.0);
        assert!(desk.with_corner(&of(1.5), 100.0));
        assert!(!desk.with_corner(&of(0.6), 100.0), "three high ones");
        assert!(!room(2500.0, 830.0).with_corner(&of(1.5), 100.0), "a row");
        assert!(!desk.with_corner(&of(1.5)[..2], 100.0));
    }

    fn room(width: f64, height: f64) -> Room {
        Room {
            width,
            height,
            line: 2.75,
            rem: 16.0,
        }
    }

    #[test]
    fn what_is_left_below_is_what_the_highest_does_not_need() {
        let wide = room(1208.0, 800.0);
        // Each is 600 wide and 400 high, below its line.
        assert_eq!(wide.left(&pictures::<2>(1.5), 2), 800.0 - 400.0 - 44.0);
        assert_eq!(wide.left(&pictures::<2>(0.5), 2), 0.0);
        let mixed = [pictures::<1>(1.5)[0], pictures::<1>(3.0)[0]];
        assert_eq!(wide.left(&mixed, 2), wide.left(&pictures::<2>(1.5), 2));
    }

    fn pictures<const N: usize>(ratio: f64) -> [Shape; N] {
        [Shape { ratio, most: None }; N]
    }

    /// Guards against stamps in a window that is three quarters empty.
    #[test]
    fn pictures_are_as_large_as_they_can_be() {
        // What a window of 1440 by 900 leaves, and one of 2560 by 900.
        let (usual, wide) = (room(1408.0, 600.0), room(2528.0, 600.0));
        assert_eq!(usual.columns(&pictures::<4>(1.0)), 4);
        assert_eq!(usual.columns(&pictures::<3>(1.0)), 3);
        assert_eq!(usual.columns(&pictures::<4>(0.6)), 4);
        assert_eq!(wide.columns(&pictures::<4>(1.0)), 4);
        assert_eq!(wide.columns(&pictures::<4>(16.0 / 9.0)), 4);
        // Wide ones in rows, high windows too.
        assert_eq!(usual.columns(&pictures::<4>(3.0)), 2);
        // Guards against three and one, with half of the room empty.
        assert_eq!(usual.columns(&pictures::<4>(1.5)), 2);
        assert_eq!(usual.columns(&pictures::<2>(6.0)), 1);
        assert_eq!(room(700.0, 800.0).columns(&pictures::<4>(1.0)), 2);
        assert_eq!(room(700.0, 800.0).columns(&pictures::<2>(1.5)), 1);
        assert_eq!(usual.columns(&[]), 1);
        assert_eq!(Room::default().columns(&pictures::<3>(1.0)), 3);
    }

    fn task() -> Task {
        crate::testing::task("a", 0)
    }

    /// Guards against small films, and sounds, in rows where they fit next to each other as large as they are drawn.
    #[test]
    fn a_film_is_no_larger_than_it_is() {
        let of = |kind, sides| Shape::of(&task(), kind, sides, None);
        let small = [
            of(OutputKind::Audio, None),
            of(OutputKind::Video, Some((480, 270))),
        ];
        assert_eq!(room(1408.0, 600.0).columns(&small), 2);
        let picture = of(OutputKind::Image, Some((480, 270)));
        assert_eq!(picture.most, None);

        let film = Shape {
            ratio: 16.0 / 9.0,
            most: Some(480.0),
        };
        assert_eq!(room(1408.0, 800.0).columns(&[film; 2]), 2);
        assert_eq!(room(1408.0, 800.0).overlaid(&[film]), (480.0, 270.0));
        assert_eq!(room(400.0, 800.0).overlaid(&[film]), (400.0, 225.0));
    }

    /// Guards against four stamps in one row of a pane that is half empty, and against two and two of which each is half
    /// as wide as it would be in a row.
    #[test]
    fn four_of_one_task_are_two_and_two() {
        // What a window of 2560 by 900 leaves next to the form, one of 2560 by 1300, and one of 1440 by 900.
        let room = |width, height| Room {
            line: 0.0,
            ..room(width, height)
        };
        let (low, large, usual) = (room(1740.0, 520.0), room(1740.0, 920.0), room(850.0, 520.0));
        for (room, ratio, columns) in [
            (low, 1.5, 4),
            (low, 0.75, 4),
            (large, 1.5, 2),
            (large, 1.0, 2),
            (usual, 1.5, 2),
            (usual, 1.0, 2),
            (usual, 0.75, 4),
        ] {
            let block = room.block(&pictures::<4>(ratio));
            assert_eq!(block.columns, columns, "{ratio} in {room:?}");
            assert!(block.column / ratio <= block.height + 1e-9, "{block:?}");
            assert!(block.whole <= room.height + 1e-9, "{block:?}");
        }
        // Tall ones in a row are so much larger.
        assert_eq!(usual.block(&pictures::<4>(9.0 / 16.0)).columns, 4);
        // Close together, whatever room is next to them.
        assert_eq!(large.block(&pictures::<4>(1.0)).column, 456.0);
        assert_eq!(low.block(&pictures::<2>(1.5)).columns, 2);
        assert_eq!(low.block(&pictures::<3>(1.0)).columns, 3);
        assert_eq!(Room::default().block(&[]).columns, 1);
    }

    /// Guards against stamps that their own buttons cover, in a window that is low, or as what else is said takes the room.
    #[test]
    fn where_the_room_is_low_they_are_scrolled_through() {
        for height in [0.0, 60.0, 220.0, 300.0] {
            for (ratio, columns, sides) in [
                (1.5, 2, (288.0, 192.0)),
                (16.0 / 9.0, 2, (192.0 * 16.0 / 9.0, 192.0)),
            ] {
                let room = room(800.0, height);
                let block = room.block(&pictures::<4>(ratio));
                assert_eq!(block.columns, columns, "{ratio} in {room:?}");
                assert!((block.column - sides.0).abs() < 0.1, "{ratio}: {block:?}");
                assert_eq!(block.height, sides.1, "{ratio}: {block:?}");
                assert!(block.whole > room.height, "{block:?}");
            }
        }
        // In a row they are as large, and in sight.
        assert_eq!(room(800.0, 100.0).block(&pictures::<4>(1.0)).columns, 4);
        // No wider than there is room for.
        assert_eq!(room(300.0, 100.0).block(&pictures::<4>(1.5)).column, 146.0);
    }

    /// Guards against four in a row above a black half of the window.
    #[test]
    fn four_are_two_and_two_beside_what_is_said_of_them_where_that_is_larger() {
        // What windows of 1440 by 900, 2560 by 1440 and 2560 by 900 have for all of it.
        let (usual, large, low) = (
            room(1408.0, 832.0),
            room(2528.0, 1372.0),
            room(2528.0, 832.0),
        );
        let squares = pictures::<4>(1.0);
        assert_eq!(usual.two_and_two(&squares, 74.0, 480.0), Some(368.0));
        assert_eq!(large.two_and_two(&squares, 74.0, 480.0), Some(638.0));
        assert_eq!(low.two_and_two(&squares, 74.0, 480.0), None);
        // Wide ones are larger two and two above it.
        assert_eq!(usual.two_and_two(&pictures::<4>(1.5), 74.0, 480.0), None);
        assert_eq!(usual.two_and_two(&pictures::<3>(1.0), 74.0, 480.0), None);
        assert_eq!(usual.two_and_two(&[], 74.0, 480.0), None);
    }

    #[test]
    fn a_column_is_what_the_gaps_leave() {
        assert_eq!(room(1408.0, 600.0).column(1), 1408.0);
        assert_eq!(room(1408.0, 600.0).column(2), 700.0);
        assert_eq!(
            room(1408.0, 644.0).overlaid(&pictures::<2>(1.0)),
            (600.0, 600.0)
        );
    }
}
