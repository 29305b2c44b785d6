//! How large the items of a sweep over two axes are shown: as large as the page has room for, in their own
//! shape, so that what differs can be seen.

use atelier_contract::Schema;
use serde_json::{Map, Value};

use crate::compose::sweep::GridLabels;
use crate::output;

/// Lengths in `rem`.
const HEAD: f64 = 9.0;
const GAP: f64 = 0.25;
const MIN_CELL: f64 = 8.0;
const MAX_CELL: f64 = 20.0;

/// Lengths in `rem`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// How wide a picture is.
    pub cell: f64,
    /// How high a row is, with the gap below it.
    pub row: f64,
}

/// How the axes lie: the one with more values to the right, where all of them fit beside each other. `width`: of the
/// page, in `rem`.
pub fn laid(labels: GridLabels, width: f64) -> GridLabels {
    let (rows, columns) = (labels.rows.values.len(), labels.columns.values.len());
    let fits = HEAD + rows as f64 * (MIN_CELL + GAP) <= width;
    match rows > columns && fits {
        true => labels.transposed(),
        false => labels,
    }
}

/// `width`: of the page, in `rem`; `ratio`: of width to height of every picture.
pub fn measures(width: f64, columns: usize, ratio: f64) -> Measures {
    let free = (width - HEAD) / columns.max(1) as f64 - GAP;
    let cell = free.clamp(MIN_CELL, MAX_CELL);
    Measures {
        cell,
        row: cell / ratio + GAP,
    }
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
    use crate::compose::sweep::Labels;
    use serde_json::json;

    /// Guards against cells the size of a stamp on a page that is three quarters empty.
    #[test]
    fn pictures_are_as_large_as_the_page_has_room_for() {
        let wide = measures(80.0, 3, 1.5);
        assert_eq!(wide.cell, 20.0);
        assert!((wide.row - (20.0 / 1.5 + 0.25)).abs() < 1e-9);
        assert_eq!(measures(60.0, 4, 1.0).cell, 12.5);
        assert_eq!(measures(20.0, 5, 1.0).cell, 8.0);
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
