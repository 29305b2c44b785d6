//! Keeps the scroll position while a list changes around it.

/// The position of an item before a change of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemPosition<T> {
    pub item: T,
    /// Its index in the list.
    pub at: usize,
    /// The position of its upper edge on the screen, in px.
    pub top: f64,
    /// The position of its lower edge on the screen, in px.
    pub bottom: f64,
}

/// The distance by which a change has moved the visible items.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shift {
    /// The distance downwards, in px.
    pub down: f64,
    /// The number of items that were inserted before them; negative if items were removed.
    pub before: isize,
}

/// Computes the shift of the first item whose lower edge is below `from` and that still exists. `now`: returns the new
/// index and top of an item.
pub fn shift<T>(
    positions: impl IntoIterator<Item = ItemPosition<T>>,
    from: f64,
    now: impl Fn(&T) -> Option<(usize, f64)>,
) -> Shift {
    let mut visible = positions
        .into_iter()
        .filter(|position| position.bottom > from);
    let shift = visible.find_map(|position| {
        let (at, top) = now(&position.item)?;
        Some(Shift {
            down: top - position.top,
            before: at as isize - position.at as isize,
        })
    });
    shift.unwrap_or_default()
}

/// Returns the distance to scroll down so that the range from `top` to `bottom` becomes visible between `head` and the
/// end of the screen. It is as short as possible; a range that is far away is scrolled to the center.
pub fn reach((top, bottom): (f64, f64), head: f64, screen: f64) -> f64 {
    if bottom < -screen || top > 2.0 * screen {
        (top + bottom - screen) / 2.0
    } else if top < head {
        top - head
    } else {
        (bottom - screen).max(0.0).min(top - head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ranges_are_reached_with_minimal_scrolling() {
        let of = |place| reach(place, 100.0, 900.0);
        assert_eq!(of((100.0, 300.0)), 0.0);
        assert_eq!(of((-150.0, 50.0)), -250.0);
        assert_eq!(of((800.0, 1000.0)), 100.0);
        // The start of a long range is always visible.
        assert_eq!(of((200.0, 2000.0)), 100.0);
        assert_eq!(of((4000.0, 4100.0)), 3600.0);
        assert_eq!(of((-4100.0, -4000.0)), -4500.0);
    }

    fn positions() -> [ItemPosition<&'static str>; 3] {
        let at = |item, at, top| ItemPosition {
            item,
            at,
            top,
            bottom: top + 100.0,
        };
        [at("a", 0, 0.0), at("b", 1, 100.0), at("c", 2, 200.0)]
    }

    #[test]
    fn follows_the_first_visible_item() {
        let now = |item: &&str| (*item == "b").then_some((3, 320.0));
        let shifted = Shift {
            down: 220.0,
            before: 2,
        };
        assert_eq!(shift(positions(), 150.0, now), shifted);
        // Items above the screen are ignored.
        let now = |item: &&str| (*item == "a").then_some((3, 320.0));
        assert_eq!(shift(positions(), 150.0, now), Shift::default());
    }

    #[test]
    fn follows_the_next_item_if_one_was_removed() {
        let now = |item: &&str| (*item == "c").then_some((1, 100.0));
        let shifted = Shift {
            down: -100.0,
            before: -1,
        };
        assert_eq!(shift(positions(), 50.0, now), shifted);
        assert_eq!(shift(positions(), 50.0, |_| None), Shift::default());
    }
}
