//! What keeps its place on the screen while a list changes around it.

/// Where an item lay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lying<T> {
    pub item: T,
    /// Its place in the list, from 0.
    pub at: usize,
    /// Where its upper edge lay on the screen, in px.
    pub top: f64,
    /// Where its lower edge lay.
    pub bottom: f64,
}

/// What a change did to all that is in sight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shift {
    /// So much further down, in px.
    pub down: f64,
    /// So many more items are before it; fewer if negative.
    pub before: isize,
}

/// Follows the first item below `from` that is still there. `now` gives its place in the list and its top.
pub fn shift<T>(
    lying: impl IntoIterator<Item = Lying<T>>,
    from: f64,
    now: impl Fn(&T) -> Option<(usize, f64)>,
) -> Shift {
    let mut in_sight = lying.into_iter().filter(|lying| lying.bottom > from);
    let shift = in_sight.find_map(|lying| {
        let (at, top) = now(&lying.item)?;
        Some(Shift {
            down: top - lying.top,
            before: at as isize - lying.at as isize,
        })
    });
    shift.unwrap_or_default()
}

/// So far a screen has to be scrolled down to show what lies from `top` to `bottom` on it, below `head`: no further than
/// needed, but into the middle where that is far away.
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
    fn what_is_near_is_reached_with_the_least_movement() {
        let of = |place| reach(place, 100.0, 900.0);
        assert_eq!(of((100.0, 300.0)), 0.0);
        assert_eq!(of((-150.0, 50.0)), -250.0);
        assert_eq!(of((800.0, 1000.0)), 100.0);
        // Its beginning is seen in any case.
        assert_eq!(of((200.0, 2000.0)), 100.0);
        assert_eq!(of((4000.0, 4100.0)), 3600.0);
        assert_eq!(of((-4100.0, -4000.0)), -4500.0);
    }

    fn lying() -> [Lying<&'static str>; 3] {
        let at = |item, at, top| Lying {
            item,
            at,
            top,
            bottom: top + 100.0,
        };
        [at("a", 0, 0.0), at("b", 1, 100.0), at("c", 2, 200.0)]
    }

    #[test]
    fn the_first_in_sight_is_followed() {
        let now = |item: &&str| (*item == "b").then_some((3, 320.0));
        let shifted = Shift {
            down: 220.0,
            before: 2,
        };
        assert_eq!(shift(lying(), 150.0, now), shifted);
        // What is above the screen says nothing of what is on it.
        let now = |item: &&str| (*item == "a").then_some((3, 320.0));
        assert_eq!(shift(lying(), 150.0, now), Shift::default());
    }

    #[test]
    fn what_is_gone_gives_way_to_the_next() {
        let now = |item: &&str| (*item == "c").then_some((1, 100.0));
        let shifted = Shift {
            down: -100.0,
            before: -1,
        };
        assert_eq!(shift(lying(), 50.0, now), shifted);
        assert_eq!(shift(lying(), 50.0, |_| None), Shift::default());
    }
}
