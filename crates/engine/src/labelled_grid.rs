//! How large the items of a sweep over two axes are shown: as large as the page has room for, in their own
//! shape, so that what differs can be seen.

use atelier_contract::Schema;
use serde_json::{Map, Value};

use crate::compose::sweep::{GridLabels, Labels};
use crate::item_grid::GAP;
use crate::output;

/// Lengths in `rem`.
const MIN_HEAD: f64 = 3.5;
const MAX_HEAD: f64 = 9.0;
const MIN_CELL: f64 = 8.0;
/// How high a picture is at most: two rows of them are seen whole where the window is high.
const MAX_HEIGHT: f64 = 22.0;
/// A length is a whole number of such parts, so that all together are no wider than the page.
const PARTS: f64 = 16.0;

/// Lengths in `rem`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// How wide the column of the rows' names is.
    pub head: f64,
    /// How wide a picture is, without the gap before it.
    pub cell: f64,
    /// How high a row is, with the gap below it.
    pub row: f64,
}

/// How the axes lie: the one with more values to the right, where all of them fit beside each other. `width`: of the
/// page, in `rem`.
pub fn laid(labels: GridLabels, width: f64) -> GridLabels {
    let (rows, columns) = (labels.rows.values.len(), labels.columns.values.len());
    let fits = MAX_HEAD + rows as f64 * (MIN_CELL + GAP) <= width;
    match rows > columns && fits {
        true => labels.transposed(),
        false => labels,
    }
}

/// `width`: of the page, in `rem`; `ratio`: of width to height of every picture.
pub fn measures(width: f64, labels: &GridLabels, ratio: f64) -> Measures {
    let head = head(&labels.rows);
    let columns = labels.columns.values.len().max(1);
    let free = (width - head) / columns as f64 - GAP;
    let most = (MAX_HEIGHT * ratio).max(MIN_CELL);
    let cell = (free.clamp(MIN_CELL, most) * PARTS).floor() / PARTS;
    Measures {
        head,
        cell,
        row: cell / ratio + GAP,
    }
}

/// As much as the longest name takes, which has an end.
fn head(rows: &Labels) -> f64 {
    const ROOM: f64 = 1.25;
    const LETTER: f64 = 0.5;
    let letters = |text: &String| {
        let wide = text.chars().filter(|letter| !letter.is_ascii()).count();
        text.chars().count() + wide
    };
    let longest = rows.values.iter().map(letters).max().unwrap_or(0);
    let longest = longest.max(letters(&rows.parameter));
    (longest as f64 * LETTER + ROOM).clamp(MIN_HEAD, MAX_HEAD)
}

/// The shape of all items of a batch, by their inputs; square where they differ in it, or do not say. What is extreme
/// would leave a line of each.
pub fn ratio<'a>(
    inputs: impl IntoIterator<Item = &'a Map<String, Value>>,
    schema: Option<&Schema>,
) -> f64 {
    let mut shapes = inputs.into_iter().map(|values| {
        let shape = output::ratio(values, schema)?;
        let (width, height) = shape.split_once(" / ")?;
        Some((width.parse::<f64>().ok()?, height.parse::<f64>().ok()?))
    });
    let first = shapes.next().flatten();
    let is_common = shapes.all(|shape| shape == first);
    let ratio = first
        .filter(|_| is_common)
        .map(|(width, height)| width / height);
    ratio.map_or(1.0, |ratio| ratio.clamp(0.4, 2.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Guards against cells the size of a stamp on a page that is three quarters empty.
    #[test]
    fn pictures_are_as_large_as_the_page_has_room_for() {
        let labels = |columns: usize| GridLabels {
            rows: Labels {
                parameter: "water".into(),
                values: vec!["still".into()],
            },
            columns: Labels {
                parameter: "time".into(),
                values: vec![String::new(); columns],
            },
            cells: vec![0],
        };
        for (width, columns, ratio, expected) in [
            // All of the page.
            (80.0, 3, 1.5, 24.875),
            (60.0, 4, 1.0, 13.5625),
            // Seen whole.
            (160.0, 2, 1.0, 22.0),
            // More than the page has room for.
            (20.0, 5, 1.0, 8.0),
        ] {
            let found = measures(width, &labels(columns), ratio);
            assert_eq!((found.head, found.cell), (3.75, expected));
            assert!((found.row - (expected / ratio + 0.5)).abs() < 1e-9);
        }
        let mut long = labels(1);
        long.rows
            .values
            .push("a very long prompt that is a label".into());
        assert_eq!(measures(80.0, &long, 1.0).head, 9.0);
    }

    /// Guards against a column of pictures with a page of nothing beside it.
    #[test]
    fn the_longer_axis_runs_to_the_right_where_it_fits() {
        let axis = |count: usize| Labels {
            parameter: count.to_string(),
            values: (0..count).map(|n| n.to_string()).collect(),
        };
        for (rows, columns, width, expected) in [
            (4, 2, 80.0, 4),
            (2, 4, 80.0, 4),
            (3, 3, 80.0, 3),
            // A phone, and more values than any page has room for.
            (4, 2, 20.0, 2),
            (30, 2, 80.0, 2),
        ] {
            let labels = GridLabels {
                rows: axis(rows),
                columns: axis(columns),
                cells: vec![0],
            };
            let found = laid(labels, width).columns.values.len();
            assert_eq!(found, expected, "{rows} × {columns} in {width}");
        }
    }

    #[test]
    fn the_shape_is_that_of_all() {
        let of = |shape: &str| json!({"aspect_ratio": shape}).as_object().unwrap().clone();
        assert_eq!(ratio(&[of("3:2"), of("3:2")], None), 1.5);
        assert_eq!(ratio(&[of("3:2"), of("2:3")], None), 1.0);
        assert_eq!(ratio(&[Map::new()], None), 1.0);
        assert_eq!(ratio(&[], None), 1.0);
        assert_eq!(ratio(&[of("100:1")], None), 2.5);
    }
}
