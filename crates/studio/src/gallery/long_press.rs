//! Recognizes a long press with a finger, which selects a tile. The click that follows and the browser's menu are
//! suppressed.

/// The duration of a long press in ms. It is shorter than the delay after which browsers open a menu.
pub const HOLD_MS: u32 = 450;

/// The maximum distance in px that a finger may move. One that moves further scrolls.
const MAX_DISTANCE: f64 = 10.0;

/// The position of a pointer, in px of the window.
pub type Place = (f64, f64);

/// The fingers on a container of tiles.
#[derive(Debug, Default)]
pub struct LongPress {
    /// The output under the finger, if there is only one finger and it has not moved, and the position of its press.
    held: Option<(String, Place)>,
    /// Whether the last press has selected an output.
    has_selected: bool,
    /// Whether the last press was with a finger.
    is_touch: bool,
}

impl LongPress {
    /// Handles `pointerdown`. Returns whether the caller must call [`LongPress::hold`] after [`HOLD_MS`]. `output`: the
    /// output of the tile under the pointer. `is_alone`: whether no other finger is down.
    pub fn down(
        &mut self,
        output: Option<String>,
        is_touch: bool,
        is_alone: bool,
        at: Place,
    ) -> bool {
        self.has_selected = false;
        self.is_touch = is_touch;
        self.held = output
            .filter(|_| is_touch && is_alone)
            .map(|output| (output, at));
        self.held.is_some()
    }

    /// Handles `pointermove`.
    pub fn moved(&mut self, to: Place) {
        let is_far = |from: Place| (to.0 - from.0).hypot(to.1 - from.1) > MAX_DISTANCE;
        if self.held.as_ref().is_some_and(|(_, from)| is_far(*from)) {
            self.held = None;
        }
    }

    /// Handles `pointerup`, and `pointercancel` if the browser scrolls.
    pub fn end(&mut self) {
        self.held = None;
    }

    /// Handles the end of [`HOLD_MS`]. Returns the output to select, if the finger has neither moved nor been lifted.
    pub fn hold(&mut self) -> Option<String> {
        let (output, _) = self.held.take()?;
        self.has_selected = true;
        Some(output)
    }

    /// Whether to ignore a click because its press has selected an output. Keyboard clicks are never ignored.
    pub fn suppresses_click(&mut self, is_keyboard: bool) -> bool {
        !is_keyboard && std::mem::take(&mut self.has_selected)
    }

    /// Whether the last press was with a finger.
    pub fn is_touch(&self) -> bool {
        self.is_touch
    }

    /// Whether to suppress the browser's menu.
    pub fn suppresses_menu(&self) -> bool {
        self.has_selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Place = (100.0, 100.0);

    fn held() -> LongPress {
        let mut press = LongPress::default();
        assert!(press.down(Some("a/0".into()), true, true, AT));
        press
    }

    /// A long press must open neither the selected output nor the browser's menu.
    #[test]
    fn a_long_press_only_selects() {
        let mut press = held();
        assert!(!press.suppresses_menu());
        press.moved((103.0, 96.0));
        assert_eq!(press.hold().as_deref(), Some("a/0"));
        assert!(press.suppresses_menu());
        press.end();
        assert!(press.suppresses_click(false));
        // A press selects and suppresses only once.
        assert!(!press.suppresses_click(false) && press.hold().is_none());
    }

    #[test]
    fn short_presses_and_movements_select_nothing() {
        let mut press = held();
        press.end();
        assert_eq!(press.hold(), None);
        assert!(!press.suppresses_click(false) && !press.suppresses_menu());
        let mut press = held();
        press.moved((100.0, 140.0));
        press.moved(AT);
        assert_eq!(press.hold(), None, "the finger scrolled");
        // A second finger zooms.
        let mut press = held();
        assert!(!press.down(Some("b/0".into()), true, false, AT));
        assert_eq!(press.hold(), None);
    }

    #[test]
    fn only_fingers_on_tiles_select() {
        let mut press = LongPress::default();
        assert!(!press.down(Some("a/0".into()), false, true, AT));
        assert!(!press.down(None, true, true, AT));
        assert_eq!(press.hold(), None);
    }

    /// Browsers that would open a menu send no click after a long press, so the next click must not be ignored.
    #[test]
    fn the_next_press_is_not_suppressed() {
        let mut press = held();
        press.hold();
        assert!(!press.suppresses_click(true), "Enter opens");
        press.down(None, false, true, AT);
        assert!(!press.suppresses_click(false) && !press.suppresses_menu());
    }
}
