//! How many items of a batch stand next to each other. Lengths are in `rem`.

/// Between two of them, in `rem`.
pub const GAP: f64 = 0.5;
/// How wide a picture is at least, however many there are.
const MIN_CELL: f64 = 8.5;
/// A grid narrower than this has no room for larger ones.
const NARROW: f64 = 48.0;
/// How high a picture may be where there are few.
const MAX_HEIGHT: f64 = 28.0;
/// How wide it may be then.
const MAX_CELL: f64 = 32.0;
/// The number of rows that are seen at once, and whether the last of them is full.
const SEEN_ROWS: usize = 3;
/// The height of the grid that is seen at once on most screens, in rem.
const SEEN_HEIGHT: f64 = 45.0;
/// The caption, and the room to the next row.
const BELOW_PICTURE: f64 = 2.25;
/// And where all of them are seen at once for that.
const LEAST_CELL: f64 = 7.0;
/// A length is a whole number of such parts, so that all together are no wider than the pane.
const PARTS: f64 = 16.0;

/// `width`: of the grid; `ratio`: of width to height of every picture. At least 2.
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
    // In more rows they are larger, where all of them are still seen at once.
    let more = (rows + 1..=SEEN_ROWS).rev().find(is_seen);
    match (more, rows) {
        (Some(rows), _) if width >= NARROW => in_rows(rows),
        (_, 2..=SEEN_ROWS) => in_rows(rows),
        _ => columns,
    }
}

/// How many next to each other, and how wide each, where all of them are seen at once in a pane, as large as it lets
/// them be; none where they would be stamps. `height`: of the pane.
pub fn whole(width: f64, height: f64, items: usize, ratio: f64) -> Option<(usize, f64)> {
    let cell = |columns: usize| {
        let wide = (width - GAP * (columns - 1) as f64) / columns as f64;
        let rows = items.div_ceil(columns) as f64;
        wide.min((height / rows - BELOW_PICTURE) * ratio)
    };
    let laid = (1..=items).map(|columns| (columns, cell(columns)));
    let (columns, cell) = laid.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let cell = (cell * PARTS).floor() / PARTS;
    (height.is_finite() && cell >= LEAST_CELL).then_some((columns, cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a pane of which half is empty next to pictures that are small, and against one that is scrolled
    /// for what it has room for.
    #[test]
    fn few_are_seen_at_once_in_a_pane() {
        for (width, height, items, ratio, expected) in [
            (44.0, 34.0, 1, 1.5, Some((1, 44.0))),
            (44.0, 34.0, 2, 1.0, Some((2, 21.75))),
            (44.0, 34.0, 4, 1.5, Some((2, 21.75))),
            (44.0, 34.0, 4, 0.75, Some((3, 11.0625))),
            (90.0, 60.0, 9, 1.5, Some((3, 26.625))),
            // As few as that are no stamps, more would be.
            (30.0, 24.0, 9, 1.5, Some((3, 8.625))),
            (30.0, 24.0, 12, 1.5, Some((4, 7.125))),
            (30.0, 24.0, 16, 1.5, None),
            (44.0, 0.0, 4, 1.5, None),
            // No pane: the page scrolls.
            (44.0, f64::INFINITY, 4, 1.5, None),
            (44.0, 34.0, 0, 1.5, None),
        ] {
            let found = whole(width, height, items, ratio);
            assert_eq!(found, expected, "{width} {height} {items} {ratio}");
        }
    }

    /// Guards against a row of four that leaves a fifth of a wide page empty.
    #[test]
    fn few_fill_the_page_and_are_no_posters() {
        for (width, items, ratio, expected) in [
            // Four in a row, even portraits.
            (87.3, 5, 0.75, 5),
            (87.3, 3, 1.0, 3),
            // One or two are no larger than a window.
            (87.3, 4, 0.75, 4),
            (87.3, 1, 0.75, 4),
            (87.3, 1, 1.5, 2),
            // Many are small, and as many as there is room for are in sight.
            (82.0, 100, 1.0, 9),
            (82.0, 25, 0.66, 9),
            // Nine don't become a row of stamps.
            (87.3, 9, 1.0, 5),
            (145.8, 9, 1.5, 5),
            (145.8, 4, 1.5, 4),
            (145.8, 30, 1.5, 10),
            (82.0, 6, 1.0, 6),
            // Ten don't become a row of nine with one below it.
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
