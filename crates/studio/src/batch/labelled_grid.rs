//! How large the items of a sweep over two axes are shown: as large as the page has room for, each in its own
//! shape, so that what differs can be seen.

use atelier_contract::Schema;
use serde_json::{Map, Value};

use crate::batch::blocks::{Blocks, Heading};
use crate::batch::item_grid::GAP;
use crate::compose::sweep::{GridLabels, Labels};
use crate::output::expected_output;

/// Lengths in `rem`.
const MIN_HEAD: f64 = 3.5;
const MAX_HEAD: f64 = 9.0;
/// On a phone, where it is to leave room for two columns.
const MAX_NARROW_HEAD: f64 = 5.5;
const MIN_CELL: f64 = 8.0;
/// Where all columns have room for that.
const LEAST_CELL: f64 = 4.75;
/// A heading of one line, and each one more.
const HEADING: f64 = 2.25;
const LINE: f64 = 1.25;
/// Below it a page is a phone's.
const NARROW: f64 = 32.0;
/// How high a picture is at most: two rows of them are seen whole where the window is high.
const MAX_HEIGHT: f64 = 22.0;
/// The line with the names of the columns, and the one above it where there are axes to be named.
const NAMES: f64 = 4.0;
/// The line with the names of the columns in each of several grids.
const NAMES_OF_EACH: f64 = 1.75;
/// A length is a whole number of such parts, so that all together are no wider than the page.
const PARTS: f64 = 16.0;

/// Lengths in `rem`.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// How wide the column of the rows' names is.
    pub head: f64,
    /// How wide the pictures of each column are, without the gap before them, and their shape: of width to height.
    pub columns: Vec<(f64, f64)>,
    /// How high a row is, with the gap below it.
    pub row: f64,
    /// What the axes are called has no room next to their values.
    pub is_narrow: bool,
    /// How high a heading is, where grids stand one below the other.
    pub heading: f64,
}

/// Whether some of the values are prompts rather than words: they do not stand well next to each other, or a name.
pub fn is_long(values: &[String]) -> bool {
    const LONG: usize = 24;
    values.iter().any(|value| letters(value) > LONG)
}

/// How the axes lie: what gives the pictures their shape to the right, where each column is as wide as its pictures
/// are; else the one with more values, where all of them fit next to each other. `width`: of the page, in `rem`.
pub fn laid(labels: GridLabels, shapes: &[Option<f64>], width: f64) -> GridLabels {
    let transposed = labels.transposed();
    let has_columns = |labels: &GridLabels| column_shapes(labels, shapes).is_some();
    match (has_columns(&labels), has_columns(&transposed)) {
        (true, false) => return labels,
        (false, true) => return transposed,
        _ => {}
    }
    let (rows, columns) = (labels.rows.values.len(), labels.columns.values.len());
    let fits = MAX_HEAD + rows as f64 * (MIN_CELL + GAP) <= width;
    // On a phone the one with fewer, where only these are seen next to each other.
    let is_seen = |labels: &GridLabels| {
        let columns = labels.columns.values.len() as f64;
        head(&labels.rows, true) + columns * (LEAST_CELL + GAP) <= width
    };
    let fits_alone = width < NARROW && !is_seen(&labels) && is_seen(&transposed);
    match rows > columns && fits || fits_alone {
        true => transposed,
        false => labels,
    }
}

/// `width`: of the page, in `rem`; `room`: the height of the pane, in `rem`, where all of it is to be seen there at once;
/// `shapes`: of the items of the batch, see [`shape`].
pub fn measures(width: f64, room: f64, blocks: &Blocks, shapes: &[Option<f64>]) -> Measures {
    let (labels, headings) = (&blocks.labels, &blocks.headings);
    let is_narrow = width < NARROW;
    let head = head(&labels.rows, is_narrow);
    let is_long = |it: &Heading| is_cut(&it.told, width - width_of(&it.parameter), 1);
    let heading = match headings.iter().any(is_long) {
        true => HEADING + LINE,
        false => HEADING,
    };
    let columns = labels.columns.values.len().max(1);
    let in_columns = column_shapes(labels, shapes);
    let in_columns = in_columns.unwrap_or_else(|| vec![frame(shapes); columns]);
    // All of a row are equally high.
    let together: f64 = in_columns.iter().sum();
    let free = width - head - GAP * columns as f64;
    // All of them next to each other are worth more than large ones of which some have to be scrolled to.
    let height_of = |cell: f64| cell * columns as f64 / together;
    let least = match free >= LEAST_CELL * columns as f64 {
        true => height_of(LEAST_CELL),
        false => height_of(MIN_CELL),
    };
    let most = MAX_HEIGHT.max(least);
    // The widest is seen whole, next to the names of the rows.
    let widest = in_columns.iter().copied().fold(0.0, f64::max);
    let least = least.min((width - head - GAP).max(MIN_CELL) / widest);
    let rows = labels.rows.values.len().max(1) * headings.len().max(1);
    let named = (heading + NAMES_OF_EACH) * headings.len() as f64;
    let seen = (room - NAMES - named) / rows as f64 - GAP;
    let most = match seen >= height_of(MIN_CELL) {
        true => most.min(seen),
        // Not all of them have room there.
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

/// The shape of the pictures of each column; none where those of a column differ in it.
fn column_shapes(labels: &GridLabels, shapes: &[Option<f64>]) -> Option<Vec<f64>> {
    let count = labels.columns.values.len().max(1);
    value_shapes(count, labels.cells.iter().map(|cell| cell % count), shapes)
}

/// The shape of the pictures of each of so many values; none where those of one differ. `places`: which of them
/// each item has.
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

/// Gives the width of the row heads: as much as the longest name takes, up to a limit.
fn head(rows: &Labels, is_narrow: bool) -> f64 {
    const ROOM: f64 = 1.25;
    let longest = rows.values.iter().map(|text| letters(text)).max();
    let longest = longest.unwrap_or(0);
    let longest = match is_narrow {
        true => longest,
        false => longest.max(letters(&rows.parameter)),
    };
    let most = if is_narrow { MAX_NARROW_HEAD } else { MAX_HEAD };
    (longest as f64 * LETTER + ROOM).clamp(MIN_HEAD, most)
}

/// Lines of a column's name at most: it would push the pictures away.
pub const COLUMN_LINES: usize = 3;

/// How many lines the name of a row has room for next to its pictures. `row`: how high these are, in `rem`.
pub fn row_lines(row: f64) -> usize {
    ((row - GAP) / LINE).floor().clamp(1.0, 6.0) as usize
}

/// How many lines a heading of this height has.
pub fn heading_lines(height: f64) -> usize {
    1 + ((height - HEADING) / LINE) as usize
}

/// How wide a name is in one line, with the room behind it, in `rem`.
pub fn width_of(name: &str) -> f64 {
    (letters(name) + 2) as f64 * LETTER
}

/// Whether a name has more words than these lines have room for. `width`: of the lines, in `rem`.
pub fn is_cut(name: &str, width: f64, lines: usize) -> bool {
    letters(name) as f64 * LETTER > width * lines as f64
}

/// In `rem`.
const LETTER: f64 = 0.5;

fn letters(text: &str) -> usize {
    let wide = text.chars().filter(|letter| !letter.is_ascii()).count();
    text.chars().count() + wide
}

/// The shape of an item by its inputs, of width to height, where they say it. What is extreme would leave a line of it.
pub fn shape(values: &Map<String, Value>, schema: Option<&Schema>) -> Option<f64> {
    let shape = expected_output::ratio(values, schema)?;
    let (width, height) = shape.split_once(" / ")?;
    let ratio = width.parse::<f64>().ok()? / height.parse::<f64>().ok()?;
    Some(ratio.clamp(0.4, 2.5))
}

/// The shape of the room that each of these items gets where all get the same: theirs, or one in which the widest and
/// the highest of them are equally small. Square where none says its own.
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

/// The shape of an item, of width to height: as its inputs say it, until its picture measures something else.
pub fn seen(said: Option<f64>, sides: Option<(u32, u32)>) -> Option<f64> {
    /// Pixels are whole, and a small picture has few.
    const NEAR: f64 = 0.02;
    let measured = sides.map(|(width, height)| f64::from(width) / f64::from(height.max(1)));
    match (said, measured) {
        (Some(said), Some(measured)) if (measured / said - 1.0).abs() < NEAR => Some(said),
        (said, measured) => measured.or(said),
    }
}

/// How much of the width and of the height of its room a picture takes.
pub fn share(shape: Option<f64>, frame: f64) -> (f64, f64) {
    let shape = shape.unwrap_or(frame);
    ((shape / frame).min(1.0), (frame / shape).min(1.0))
}

#[cfg(test)]
mod tests;
