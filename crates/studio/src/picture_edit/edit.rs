//! The edits of a picture: turns, a flip, a crop and a limit of its size.

use super::crop::{Crop, Size};

/// The largest limit of the longest side that can be typed, in pixels.
pub const MAX_LONGEST: u32 = 16_384;

/// The quality of pictures that are not lossless, from 0 to 1.
pub const QUALITY: f64 = 0.92;

/// The edits of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// The size of the original.
    original: Size,
    /// The number of quarter turns, clockwise.
    turns: u8,
    /// Whether the picture is mirrored left to right, after the turns.
    is_flipped: bool,
    /// In pixels of the turned and mirrored picture.
    pub crop: Crop,
    /// The limit of the longest side; `None` keeps the size.
    pub longest: Option<u32>,
}

impl Edit {
    /// Returns no edits.
    pub fn new(original: Size) -> Self {
        Self {
            original,
            turns: 0,
            is_flipped: false,
            crop: Crop::whole(original),
            longest: None,
        }
    }

    pub fn original(self) -> Size {
        self.original
    }

    /// Returns the size of the whole picture after the turns.
    pub fn turned_size(self) -> Size {
        let (width, height) = self.original;
        match self.turns % 2 {
            0 => (width, height),
            _ => (height, width),
        }
    }

    pub fn turn(&mut self, is_clockwise: bool) {
        self.crop = self.crop.turned(is_clockwise, self.turned_size());
        // The flip comes after the turns, and reverses their direction.
        let quarters = if is_clockwise == self.is_flipped {
            3
        } else {
            1
        };
        self.turns = (self.turns + quarters) % 4;
    }

    pub fn flip(&mut self, is_vertical: bool) {
        self.crop = self.crop.flipped(is_vertical, self.turned_size());
        self.is_flipped = !self.is_flipped;
        if is_vertical {
            self.turns = (self.turns + 2) % 4;
        }
    }

    /// Returns the edits without crop and limit: what the preview shows.
    pub fn uncropped(self) -> Self {
        Self {
            crop: Crop::whole(self.turned_size()),
            longest: None,
            ..self
        }
    }

    /// Returns the size of the result. It is never larger than the crop.
    pub fn result(self) -> Size {
        let (width, height) = self.crop.size();
        let longest = width.max(height);
        match self.longest {
            Some(limit) if limit < longest => {
                let scaled = |side: u32| {
                    let scaled = f64::from(side) * f64::from(limit.max(1)) / f64::from(longest);
                    (scaled.round() as u32).max(1)
                };
                (scaled(width), scaled(height))
            }
            _ => (width, height),
        }
    }

    /// Whether the result is the original.
    pub fn is_empty(self) -> bool {
        let is_whole = self.crop == Crop::whole(self.original);
        self.turns == 0 && !self.is_flipped && is_whole && self.result() == self.original
    }

    /// Returns the matrix `[a, b, c, d, e, f]` of a canvas that draws the original so that a part of the turned picture fills
    /// a canvas of this size.
    pub fn matrix(self, part: Crop, canvas: Size) -> [f64; 6] {
        let (width, height) = (f64::from(self.original.0), f64::from(self.original.1));
        // Maps the original to the turned picture.
        let [a, b, c, d, e, f] = match self.turns {
            0 => [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            1 => [0.0, 1.0, -1.0, 0.0, height, 0.0],
            2 => [-1.0, 0.0, 0.0, -1.0, width, height],
            _ => [0.0, -1.0, 1.0, 0.0, 0.0, width],
        };
        let turned_width = f64::from(self.turned_size().0);
        let (a, c, e) = match self.is_flipped {
            true => (-a, -c, turned_width - e),
            false => (a, c, e),
        };
        let across = f64::from(canvas.0) / f64::from(part.width);
        let down = f64::from(canvas.1) / f64::from(part.height);
        [
            a * across,
            b * down,
            c * across,
            d * down,
            (e - f64::from(part.left)) * across,
            (f - f64::from(part.top)) * down,
        ]
    }
}

/// Returns the media type of the result: that of JPEG and WebP files, else PNG, which is lossless and has transparency.
pub fn result_type(mime: &str) -> &'static str {
    match mime {
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/webp" => "image/webp",
        _ => "image/png",
    }
}

/// Returns the name of the result. `mime`: the media type that the browser has written.
pub fn file_name(name: Option<&str>, mime: &str) -> String {
    let name = name.unwrap_or("picture");
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.strip_suffix("-edited").unwrap_or(stem);
    let extension = match mime {
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        _ => "png",
    };
    format!("{stem}-edited.{extension}")
}

/// Describes the size of the result.
pub fn result_text((width, height): Size) -> String {
    format!("Result: {width} × {height} px.")
}

/// The message if the picture can't be read.
pub const NOT_READ: &str = "The picture can't be read: its host does not allow it, it is gone, or it is no picture. Choose it as a \
    file instead.";

/// The message if the result can't be written.
pub const NOT_WRITTEN: &str =
    "This browser can't write a picture of this size. Limit the longest side, then try again.";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(matrix: [f64; 6], (x, y): (f64, f64)) -> (f64, f64) {
        let [a, b, c, d, e, f] = matrix;
        (a * x + c * y + e, b * x + d * y + f)
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Turn(bool),
        Flip(bool),
    }

    fn apply(edit: &mut Edit, step: Step) {
        match step {
            Step::Turn(is_clockwise) => edit.turn(is_clockwise),
            Step::Flip(is_vertical) => edit.flip(is_vertical),
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            any::<bool>().prop_map(Step::Turn),
            any::<bool>().prop_map(Step::Flip),
        ];
        proptest::collection::vec(step, 0..10)
    }

    #[test]
    fn a_turn_moves_the_upper_left_corner() {
        let mut edit = Edit::new((40, 30));
        edit.turn(true);
        assert_eq!(edit.turned_size(), (30, 40));
        let matrix = edit.matrix(Crop::whole((30, 40)), (30, 40));
        assert_eq!(at(matrix, (0.0, 0.0)), (30.0, 0.0));
        edit.turn(false);
        assert!(edit.is_empty());
        edit.flip(false);
        let matrix = edit.matrix(Crop::whole((40, 30)), (40, 30));
        assert_eq!(at(matrix, (0.0, 0.0)), (40.0, 0.0));
    }

    #[test]
    fn the_limit_shrinks_and_never_enlarges() {
        let mut edit = Edit::new((4000, 1000));
        edit.longest = Some(1024);
        assert_eq!(edit.result(), (1024, 256));
        assert!(!edit.is_empty());
        edit.longest = Some(8000);
        assert_eq!(edit.result(), (4000, 1000));
        assert!(edit.is_empty());
        let mut thin = Edit::new((4000, 1));
        thin.longest = Some(10);
        assert_eq!(thin.result(), (10, 1));
    }

    #[test]
    fn results_have_the_format_of_the_original_or_are_lossless() {
        assert_eq!(result_type("image/jpeg"), "image/jpeg");
        assert_eq!(result_type("image/gif"), "image/png");
        assert_eq!(file_name(Some("cat.jpeg"), "image/jpeg"), "cat-edited.jpg");
        assert_eq!(
            file_name(Some("cat-edited.webp"), "image/webp"),
            "cat-edited.webp"
        );
        assert_eq!(file_name(None, "image/png"), "picture-edited.png");
    }

    proptest! {
        /// The matrix moves a point as the steps do, one after the other.
        #[test]
        fn steps_move_every_point_of_the_picture(steps in steps(), x in 0.0..40.0, y in 0.0..30.0) {
            let mut edit = Edit::new((40, 30));
            let (mut point, mut size) = ((x, y), (40.0, 30.0));
            for step in steps {
                apply(&mut edit, step);
                point = match step {
                    Step::Turn(true) => (size.1 - point.1, point.0),
                    Step::Turn(false) => (point.1, size.0 - point.0),
                    Step::Flip(false) => (size.0 - point.0, point.1),
                    Step::Flip(true) => (point.0, size.1 - point.1),
                };
                if matches!(step, Step::Turn(_)) {
                    size = (size.1, size.0);
                }
            }
            let turned = edit.turned_size();
            let found = at(edit.matrix(Crop::whole(turned), turned), (x, y));
            prop_assert!((found.0 - point.0).abs() < 1e-9 && (found.1 - point.1).abs() < 1e-9);
        }

        #[test]
        fn the_result_is_within_the_limit(
            width in 1..5000u32, height in 1..5000u32, longest in proptest::option::of(1..9000u32),
        ) {
            let mut edit = Edit::new((width, height));
            edit.longest = longest;
            let result = edit.result();
            prop_assert!(result.0 >= 1 && result.1 >= 1 && result.0 <= width && result.1 <= height);
            prop_assert!(longest.is_none_or(|limit| result.0.max(result.1) <= limit));
        }
    }
}
