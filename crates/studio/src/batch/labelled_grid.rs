//! Computes the sizes of the items of a sweep over two axes. They are as large as the page allows, and each has its own
//! aspect ratio.

use atelier_contract::Schema;
use serde_json::{Map, Value};

use crate::batch::blocks::{Blocks, Heading};
use crate::batch::item_grid::GAP;
use crate::compose::sweep::{GridLabels, Labels};
use crate::output::expected_output;

/// The minimum width of the column with the row names. All lengths are in `rem`.
const MIN_HEAD: f64 = 3.5;
/// Its maximum width.
const MAX_HEAD: f64 = 9.0;
/// Its maximum width on a phone, where two columns of images must fit next to it.
const MAX_NARROW_HEAD: f64 = 5.5;
/// The minimum width of a column.
const MIN_CELL: f64 = 8.0;
/// The minimum width of a column if all columns fit with it.
const LEAST_CELL: f64 = 4.75;
/// The height of a heading with one line.
const HEADING: f64 = 2.25;
/// The additional height of each further line.
const LINE: f64 = 1.25;
/// The minimum width of a page that is not a phone's.
const NARROW: f64 = 32.0;
/// The maximum height of an image, so that a high window shows two rows.
const MAX_HEIGHT: f64 = 22.0;
/// The height of the line with the column names and the line above it with the names of the axes.
const NAMES: f64 = 4.0;
/// The height of the line with the column names in each of several grids.
const NAMES_OF_EACH: f64 = 1.75;
/// Lengths are rounded down to multiples of 1/`PARTS`, so that their sum does not exceed the width of the page.
const PARTS: f64 = 16.0;

/// The computed sizes, in `rem`.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// The width of the column with the row names.
    pub head: f64,
    /// The width and aspect ratio of the images of each column. The width excludes the gap before the column.
    pub columns: Vec<(f64, f64)>,
    /// The height of a row, including the gap below it.
    pub row: f64,
    /// Whether the names of the axes don't fit next to their values.
    pub is_narrow: bool,
    /// The height of a heading, if grids are stacked.
    pub heading: f64,
}

/// Whether some values are too long to be shown next to each other or next to a name.
pub fn is_long(values: &[String]) -> bool {
    const LONG: usize = 24;
    values.iter().any(|value| letters(value) > LONG)
}

/// Chooses which axis becomes the columns: the one that determines the aspect ratios, so that each column is as wide as
/// its images; otherwise, the one with more values, if they all fit. `width`: the width of the page in `rem`.
pub fn oriented(labels: GridLabels, shapes: &[Option<f64>], width: f64) -> GridLabels {
    let transposed = labels.transposed();
    let has_columns = |labels: &GridLabels| column_shapes(labels, shapes).is_some();
    match (has_columns(&labels), has_columns(&transposed)) {
        (true, false) => return labels,
        (false, true) => return transposed,
        _ => {}
    }
    let (rows, columns) = (labels.rows.values.len(), labels.columns.values.len());
    let fits = MAX_HEAD + rows as f64 * (MIN_CELL + GAP) <= width;
    // On a phone, prefer the axis with fewer values if only those fit.
    let has_space = |labels: &GridLabels| {
        let columns = labels.columns.values.len() as f64;
        head(&labels.rows, true) + columns * (LEAST_CELL + GAP) <= width
    };
    let only_transposed_fits = width < NARROW && !has_space(&labels) && has_space(&transposed);
    match rows > columns && fits || only_transposed_fits {
        true => transposed,
        false => labels,
    }
}

/// Computes the sizes. `width`: the width of the page in `rem`. `pane_height`: the height in `rem` in which the grid
/// should fit, or infinity. `shapes`: the aspect ratios of the items, see [`shape`].
pub fn measures(width: f64, pane_height: f64, blocks: &Blocks, shapes: &[Option<f64>]) -> Measures {
    let (labels, headings) = (&blocks.labels, &blocks.headings);
    let is_narrow = width < NARROW;
    let head = head(&labels.rows, is_narrow);
    let is_long = |it: &Heading| exceeds(&it.excerpt, width - width_of(&it.parameter), 1);
    let heading = match headings.iter().any(is_long) {
        true => HEADING + LINE,
        false => HEADING,
    };
    let columns = labels.columns.values.len().max(1);
    let in_columns = column_shapes(labels, shapes);
    let in_columns = in_columns.unwrap_or_else(|| vec![frame(shapes); columns]);
    // All images of a row have the same height.
    let together: f64 = in_columns.iter().sum();
    let free = width - head - GAP * columns as f64;
    // Prefer small columns that all fit over large columns with a scrollbar.
    let height_of = |cell: f64| cell * columns as f64 / together;
    let least = match free >= LEAST_CELL * columns as f64 {
        true => height_of(LEAST_CELL),
        false => height_of(MIN_CELL),
    };
    let most = MAX_HEIGHT.max(least);
    // The widest image must fit next to the row names.
    let widest = in_columns.iter().copied().fold(0.0, f64::max);
    let least = least.min((width - head - GAP).max(MIN_CELL) / widest);
    let rows = labels.rows.values.len().max(1) * headings.len().max(1);
    let named = (heading + NAMES_OF_EACH) * headings.len() as f64;
    let seen = (pane_height - NAMES - named) / rows as f64 - GAP;
    let most = match seen >= height_of(MIN_CELL) {
        true => most.min(seen),
        // The rows don't all fit in the pane.
        false => most,
    };
    let height = (free / together).clamp(least, most);
    let wide = |shape: f64| ((height * shape * PARTS).floor() / PARTS, shape);
    let columns: Vec<_> = in_columns.into_iter().map(wide).collect();
    let highest = columns.iter().map(|(width, shape)| width / shape);
    Measures {
        head,
        row: highest.fold(0.0, f64::max) + GAP,
        columns,
        is_narrow,
        heading,
    }
}

/// Returns the aspect ratio of each column; `None` if the items of a column differ.
fn column_shapes(labels: &GridLabels, shapes: &[Option<f64>]) -> Option<Vec<f64>> {
    let count = labels.columns.values.len().max(1);
    value_shapes(count, labels.cells.iter().map(|cell| cell % count), shapes)
}

/// Returns the aspect ratio of the items of each value; `None` if the items of a value differ. `places`: the index of
/// each item's value.
pub fn value_shapes(
    count: usize,
    places: impl Iterator<Item = usize>,
    shapes: &[Option<f64>],
) -> Option<Vec<f64>> {
    let mut found = vec![None; count];
    for (place, shape) in places.zip(shapes) {
        let Some(shape) = shape else { continue };
        let of_value: &mut Option<f64> = &mut found[place];
        if of_value.is_some_and(|other| other != *shape) {
            return None;
        }
        *of_value = Some(*shape);
    }
    let unknown = frame(shapes);
    Some(found.into_iter().map(|it| it.unwrap_or(unknown)).collect())
}

/// Returns the width of the column with the row names: that of the longest name, up to a limit.
fn head(rows: &Labels, is_narrow: bool) -> f64 {
    const PADDING: f64 = 1.25;
    let longest = rows.values.iter().map(|text| letters(text)).max();
    let longest = longest.unwrap_or(0);
    let longest = match is_narrow {
        true => longest,
        false => longest.max(letters(&rows.parameter)),
    };
    let most = if is_narrow { MAX_NARROW_HEAD } else { MAX_HEAD };
    (longest as f64 * LETTER + PADDING).clamp(MIN_HEAD, most)
}

/// The maximum number of lines of a column name. More would move the images too far down.
pub const COLUMN_LINES: usize = 3;

/// Returns how many lines of a row name fit next to images of height `row`, in `rem`.
pub fn row_lines(row: f64) -> usize {
    ((row - GAP) / LINE).floor().clamp(1.0, 6.0) as usize
}

/// Returns how many lines a heading of this height has.
pub fn heading_lines(height: f64) -> usize {
    1 + ((height - HEADING) / LINE) as usize
}

/// Returns the width of a name on one line, including the space after it, in `rem`.
pub fn width_of(name: &str) -> f64 {
    (letters(name) + 2) as f64 * LETTER
}

/// Whether a name needs more than `lines` lines of this `width` in `rem`.
pub fn exceeds(name: &str, width: f64, lines: usize) -> bool {
    letters(name) as f64 * LETTER > width * lines as f64
}

/// The average width of a letter, in `rem`.
const LETTER: f64 = 0.5;

fn letters(text: &str) -> usize {
    let wide = text.chars().filter(|letter| !letter.is_ascii()).count();
    text.chars().count() + wide
}

/// Returns the aspect ratio of an item from its inputs, if they specify one. It is clamped, because images with extreme
/// ratios would be as thin as a line.
pub fn shape(values: &Map<String, Value>, schema: Option<&Schema>) -> Option<f64> {
    let shape = expected_output::ratio(values, schema)?;
    let (width, height) = shape.split_once(" / ")?;
    let ratio = width.parse::<f64>().ok()? / height.parse::<f64>().ok()?;
    Some(ratio.clamp(0.4, 2.5))
}

/// Returns a common aspect ratio for the frames of these items: the geometric mean of the widest and the narrowest
/// ratio. Square if no ratio is known.
pub fn frame(shapes: &[Option<f64>]) -> f64 {
    let mut known = shapes.iter().flatten();
    let Some(first) = known.next() else {
        return 1.0;
    };
    let (least, most) = known.fold((*first, *first), |(least, most), shape| {
        (least.min(*shape), most.max(*shape))
    });
    match least == most {
        true => least,
        false => (least * most).sqrt(),
    }
}

/// Returns the aspect ratio of an item: the expected one, unless the sides of its image have another ratio.
pub fn actual_shape(expected: Option<f64>, sides: Option<(u32, u32)>) -> Option<f64> {
    /// The tolerance: the sides are integers, so their ratio is inexact.
    const NEAR: f64 = 0.02;
    let measured = sides.map(|(width, height)| f64::from(width) / f64::from(height.max(1)));
    match (expected, measured) {
        (Some(expected), Some(measured)) if (measured / expected - 1.0).abs() < NEAR => {
            Some(expected)
        }
        (expected, measured) => measured.or(expected),
    }
}

/// Returns the fractions of the frame's width and height that an image fills.
pub fn share(shape: Option<f64>, frame: f64) -> (f64, f64) {
    let shape = shape.unwrap_or(frame);
    ((shape / frame).min(1.0), (frame / shape).min(1.0))
}

#[cfg(test)]
mod tests;
