//! How many items of a batch stand beside each other. Lengths are in `rem`.

/// Between two of them.
pub const GAP: f64 = 0.5;
/// How wide a picture is at least, however many there are.
const MIN_CELL: f64 = 8.5;
/// How high a picture may be where there are few.
const MAX_HEIGHT: f64 = 28.0;
/// How wide it may be then.
const MAX_CELL: f64 = 32.0;
/// So many rows are seen at once, and whether the last of them is full.
const SEEN_ROWS: usize = 3;

/// `width`: of the grid; `ratio`: of width to height of every picture. At least 2.
pub fn columns(width: f64, items: usize, ratio: f64) -> usize {
    let fitting = |cell: f64| ((width + GAP) / (cell + GAP)).floor() as usize;
    let large = (MAX_HEIGHT * ratio).clamp(MIN_CELL, MAX_CELL);
    let columns = fitting(MIN_CELL).min(items.max(fitting(large))).max(2);
    let rows = items.div_ceil(columns);
    match rows {
        2..=SEEN_ROWS => items.div_ceil(rows).max(2),
        _ => columns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a row of four that leaves a fifth of a wide page empty.
    #[test]
    fn few_fill_the_page_and_are_no_posters() {
        for (width, items, ratio, expected) in [
            // Four in a row, be it of portraits.
            (87.3, 5, 0.75, 5),
            (87.3, 3, 1.0, 3),
            // One or two are no larger than a window.
            (87.3, 4, 0.75, 4),
            (87.3, 1, 0.75, 4),
            (87.3, 1, 1.5, 2),
            // Many are small, and all of them in sight.
            (82.0, 100, 1.0, 9),
            // No row of nine with one below it.
            (82.0, 10, 1.0, 5),
            (82.0, 19, 1.0, 7),
            (82.0, 27, 1.0, 9),
            (82.0, 28, 1.0, 9),
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
