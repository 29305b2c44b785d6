//! Computes the number of columns in a grid of a batch's items. Lengths are in `rem`.

/// The gap between two items, in `rem`.
pub const GAP: f64 = 0.5;
/// The minimum width of an image.
const MIN_CELL: f64 = 8.5;
/// The minimum width of a grid for which larger images in more rows are tried.
const NARROW: f64 = 48.0;
/// The maximum height of an image if there are few images.
const MAX_HEIGHT: f64 = 28.0;
/// The maximum width of an image if there are few images.
const MAX_CELL: f64 = 32.0;
/// The maximum number of rows that are all visible at once. Their items are distributed evenly.
const SEEN_ROWS: usize = 3;
/// The height of the grid that is visible on most screens, in `rem`.
const SEEN_HEIGHT: f64 = 45.0;
/// The height of the caption and the gap below it.
const BELOW_PICTURE: f64 = 2.25;
/// The minimum width of an image if all items should be visible at once.
const LEAST_CELL: f64 = 7.0;
/// Lengths are rounded down to multiples of 1/`PARTS`, so that their sum does not exceed the width of the pane.
const PARTS: f64 = 16.0;

/// Returns the number of columns, at least 2. `width`: the width of the grid; `ratio`: the aspect ratio of the images.
pub fn columns(width: f64, items: usize, ratio: f64) -> usize {
    let fitting = |cell: f64| ((width + GAP) / (cell + GAP)).floor() as usize;
    let large = (MAX_HEIGHT * ratio).clamp(MIN_CELL, MAX_CELL);
    let columns = fitting(MIN_CELL).min(items.max(fitting(large))).max(2);
    let rows = items.div_ceil(columns);
    let in_rows = |rows: usize| items.div_ceil(rows).max(2);
    let is_seen = |rows: &usize| {
        let columns = in_rows(*rows);
        let cell = (width - GAP * (columns - 1) as f64) / columns as f64;
        let height = *rows as f64 * (cell / ratio + BELOW_PICTURE);
        columns >= fitting(large) && height <= SEEN_HEIGHT
    };
    // Use more rows with larger images, if all of them are still visible at once.
    let more = (rows + 1..=SEEN_ROWS).rev().find(is_seen);
    match (more, rows) {
        (Some(rows), _) if width >= NARROW => in_rows(rows),
        (_, 2..=SEEN_ROWS) => in_rows(rows),
        _ => columns,
    }
}

/// Returns the number of columns and the width of each, so that all items fit in a pane and are as large as possible;
/// `None` if they would be too small. `width`, `height`: the size of the pane.
pub fn fit_in_pane(width: f64, height: f64, items: usize, ratio: f64) -> Option<(usize, f64)> {
    let cell = |columns: usize| {
        let wide = (width - GAP * (columns - 1) as f64) / columns as f64;
        let rows = items.div_ceil(columns) as f64;
        wide.min((height / rows - BELOW_PICTURE) * ratio)
    };
    let layouts = (1..=items).map(|columns| (columns, cell(columns)));
    let (columns, cell) = layouts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let cell = (cell * PARTS).floor() / PARTS;
    (height.is_finite() && cell >= LEAST_CELL).then_some((columns, cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against small images in a pane that is half empty, and against a scrollbar if all images could fit.
    #[test]
    fn a_few_items_fill_a_pane() {
        for (width, height, items, ratio, expected) in [
            (44.0, 34.0, 1, 1.5, Some((1, 44.0))),
            (44.0, 34.0, 2, 1.0, Some((2, 21.75))),
            (44.0, 34.0, 4, 1.5, Some((2, 21.75))),
            (44.0, 34.0, 4, 0.75, Some((3, 11.0625))),
            (90.0, 60.0, 9, 1.5, Some((3, 26.625))),
            // The images have about the minimum width.
            (30.0, 24.0, 9, 1.5, Some((3, 8.625))),
            (30.0, 24.0, 12, 1.5, Some((4, 7.125))),
            (30.0, 24.0, 16, 1.5, None),
            (44.0, 0.0, 4, 1.5, None),
            // Without a pane, the page scrolls.
            (44.0, f64::INFINITY, 4, 1.5, None),
            (44.0, 34.0, 0, 1.5, None),
        ] {
            let found = fit_in_pane(width, height, items, ratio);
            assert_eq!(found, expected, "{width} {height} {items} {ratio}");
        }
    }

    /// Guards against four images that fill only four fifths of a wide page.
    #[test]
    fn a_few_items_fill_the_page_up_to_a_limit() {
        for (width, items, ratio, expected) in [
            // Four in a row, even portraits.
            (87.3, 5, 0.75, 5),
            (87.3, 3, 1.0, 3),
            // The images are not larger than a window, so a few leave space.
            (87.3, 4, 0.75, 4),
            (87.3, 1, 0.75, 4),
            (87.3, 1, 1.5, 2),
            // Many images are small, so that as many as possible are visible.
            (82.0, 100, 1.0, 9),
            (82.0, 25, 0.66, 9),
            // Nine images are not in one row.
            (87.3, 9, 1.0, 5),
            (145.8, 9, 1.5, 5),
            (145.8, 4, 1.5, 4),
            (145.8, 30, 1.5, 10),
            (82.0, 6, 1.0, 6),
            // Ten images are two rows of five, not nine and one.
            (82.0, 10, 1.0, 5),
            (82.0, 12, 1.0, 6),
            // A tablet.
            (45.0, 9, 1.0, 5),
            (20.0, 3, 1.0, 2),
            // A phone.
            (20.0, 1, 1.0, 2),
            (20.0, 12, 0.5, 2),
            (0.0, 5, 1.0, 2),
        ] {
            let found = columns(width, items, ratio);
            assert_eq!(found, expected, "{width} {items} {ratio}");
        }
    }
}
