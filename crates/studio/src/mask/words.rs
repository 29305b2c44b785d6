//! The texts of the dialog in which a mask is drawn.

use super::bitmap::{Bitmap, Point};
use super::png::White;

/// What a press on the picture does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Brush,
    Eraser,
    Rectangle,
}

impl Tool {
    pub const ALL: [Self; 3] = [Self::Brush, Self::Eraser, Self::Rectangle];

    pub fn label(self) -> &'static str {
        match self {
            Self::Brush => "Brush",
            Self::Eraser => "Eraser",
            Self::Rectangle => "Rectangle",
        }
    }

    /// Says what the tool does.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Brush => "Brush: paints.",
            Self::Eraser => "Eraser: removes paint.",
            Self::Rectangle => "Rectangle: paints between two corners.",
        }
    }
}

/// Explains what to do before a mask can be drawn. `picture`: the parameter that must be filled.
pub fn needs_picture(picture: &str) -> String {
    format!("A mask is drawn over a picture. Fill {picture} first.")
}

/// Explains that the picture is still being uploaded.
pub fn is_uploading(picture: &str) -> String {
    format!("A mask is drawn over a picture. Wait for the upload of {picture}, or cancel it.")
}

/// The message while a picture is uploaded over which the user wants to draw.
pub const OPENS_AFTER_UPLOAD: &str = "The mask can be drawn as soon as the picture is uploaded.";

/// The message if the picture isn't loaded.
pub const NO_PICTURE: &str = "The picture isn't loaded, so no mask can be drawn over it. Wait for it, or cancel and choose \
    another picture.";

/// The message while Space is held over the picture.
pub const DRAG: &str =
    "Drag to move the picture. Arrow keys show the crosshair, at which Space paints.";

/// The message while the file is written.
pub const WRITING: &str = "Writing the mask.";

/// The message if the picture was replaced or edited after the mask was drawn.
pub const OTHER_PICTURE: &str =
    "This mask was drawn over another picture. Draw it again, or remove it.";

/// The message if nothing is painted.
pub const EMPTY: &str =
    "Nothing is painted. Paint what changes, or cancel to leave without a mask.";

/// The message if the file of the mask can't be written.
pub const NOT_WRITTEN: &str =
    "This browser can't write the mask's file. Try again, or use a newer browser.";

/// The keys of the picture.
pub const KEYS: &str = "Arrow keys move the crosshair, with Shift farther; Space paints. [ and ] change the size, + and - zoom. \
    Hold Space and drag to move the picture.";

/// Says which part of the picture is painted: `12 % painted`.
pub fn coverage(bitmap: &Bitmap) -> String {
    let (width, height) = bitmap.size();
    let all = (u64::from(width) * u64::from(height)).max(1);
    let painted = bitmap.count();
    match painted * 100 / all {
        _ if painted == 0 => "Nothing is painted.".to_owned(),
        0 => "Less than 1 % of the picture is painted.".to_owned(),
        100 => "The whole picture is painted.".to_owned(),
        percent => format!("{percent} % of the picture is painted."),
    }
}

/// Describes the position of the crosshair, in whole pixels from the upper left corner.
pub fn position(at: Point) -> String {
    format!("{} across, {} down", at.0.floor(), at.1.floor())
}

/// Describes the diameter of a brush.
pub fn brush(size: u32) -> String {
    format!("{size} px")
}

/// Announces what a key of the brush did.
pub fn brush_changed(size: u32) -> String {
    format!("Brush size {size} px.")
}

/// The choices for the meaning of white.
pub fn white_label(white: White) -> &'static str {
    match white {
        White::Changes => "White marks what changes",
        White::Stays => "White marks what stays",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_rounded_down_but_never_to_nothing() {
        let mut bitmap = Bitmap::new(100, 10);
        assert_eq!(coverage(&bitmap), "Nothing is painted.");
        bitmap.line((5.5, 5.5), (5.5, 5.5), 0.5, true);
        assert_eq!(
            coverage(&bitmap),
            "Less than 1 % of the picture is painted."
        );
        bitmap.rectangle((0.0, 0.0), (50.0, 10.0), true);
        assert_eq!(coverage(&bitmap), "50 % of the picture is painted.");
        bitmap.rectangle((0.0, 0.0), (100.0, 10.0), true);
        assert_eq!(coverage(&bitmap), "The whole picture is painted.");
    }
}
