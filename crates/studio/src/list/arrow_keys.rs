//! Moves the focus with arrow keys among elements laid out in rows.

use crate::gallery::layout::{Direction, Frame};

/// Returns the element to which an arrow key moves the focus; `None` if there is none in that direction. Left and Right
/// move to the previous and next element, also across the ends of rows. Up and Down move to the nearest element of
/// another row.
pub fn goal(direction: Direction, places: &[Frame], from: usize) -> Option<usize> {
    let sign = match direction {
        Direction::Forward => return (from + 1 < places.len()).then_some(from + 1),
        Direction::Back => return from.checked_sub(1),
        Direction::Down => 1.0,
        Direction::Up => -1.0,
    };
    let (x, y) = middle(places.get(from)?);
    let distances = places.iter().enumerate().filter_map(|(at, place)| {
        let (other_x, other_y) = middle(place);
        let along = sign * (other_y - y);
        // A horizontal distance counts twice.
        (along > 1.0).then(|| (at, along + 2.0 * (other_x - x).abs()))
    });
    let nearest = distances.min_by(|(_, a), (_, b)| a.total_cmp(b));
    nearest.map(|(at, _)| at)
}

fn middle(place: &Frame) -> (f64, f64) {
    let middle = |from: f64, to: f64| (from + to) / 2.0;
    (
        middle(place.left, place.right),
        middle(place.top, place.bottom),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(key: &str, places: &[Frame], from: usize) -> Option<usize> {
        super::goal(Direction::of_key(key)?, places, from)
    }

    /// Arrow keys also have an effect at the end of a row and above a shorter row.
    #[test]
    fn arrow_keys_reach_all_elements() {
        let in_columns = |columns: usize| {
            let place = |at: usize| {
                let (left, top) = (110.0 * (at % columns) as f64, 90.0 * (at / columns) as f64);
                let (right, bottom) = (left + 100.0, top + 80.0);
                Frame {
                    left,
                    top,
                    right,
                    bottom,
                }
            };
            (0..7).map(place).collect::<Vec<_>>()
        };
        let three = in_columns(3);
        for (from, key, expected) in [
            (0, "ArrowRight", Some(1)),
            (2, "ArrowRight", Some(3)),
            (6, "ArrowRight", None),
            (4, "ArrowLeft", Some(3)),
            (3, "ArrowLeft", Some(2)),
            (0, "ArrowLeft", None),
            (1, "ArrowDown", Some(4)),
            (5, "ArrowDown", Some(6)),
            (6, "ArrowDown", None),
            (6, "ArrowUp", Some(3)),
            (0, "ArrowUp", None),
            (0, "Home", None),
        ] {
            assert_eq!(goal(key, &three, from), expected, "{key} from {from}");
        }
        let one = in_columns(1);
        assert_eq!(goal("ArrowRight", &one, 0), goal("ArrowDown", &one, 0));
        assert_eq!(goal("ArrowDown", &[], 0), None);
    }
}
