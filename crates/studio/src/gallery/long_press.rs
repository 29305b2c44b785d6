//! A finger that stays on a tile selects it: the press that follows, and the browser's menu, are its own.

/// How long a finger has to stay, in ms: less than browsers wait before they open their menu.
pub const HOLD: u32 = 450;

/// A finger that moves further, in px, scrolls.
const STILL: f64 = 10.0;

/// Where one pointer is, in px of the window.
pub type Place = (f64, f64);

/// The fingers on a room of tiles.
#[derive(Debug, Default)]
pub struct LongPress {
    /// The output under the only finger that lies still, and where that came down.
    held: Option<(String, Place)>,
    /// The last press has selected.
    has_selected: bool,
    /// The last press was a finger's.
    is_touch: bool,
}

impl LongPress {
    /// A pointer comes down; returns whether it is to be asked again after [`HOLD`]. `output`: the one of the tile below
    /// it. `is_alone`: no other finger is down.
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

    pub fn moved(&mut self, to: Place) {
        let is_far = |from: Place| (to.0 - from.0).hypot(to.1 - from.1) > STILL;
        if self.held.as_ref().is_some_and(|(_, from)| is_far(*from)) {
            self.held = None;
        }
    }

    /// The finger is up, or the browser scrolls with it.
    pub fn end(&mut self) {
        self.held = None;
    }

    /// The time is over: returns the output to select, if the finger still lies there.
    pub fn hold(&mut self) -> Option<String> {
        let (output, _) = self.held.take()?;
        self.has_selected = true;
        Some(output)
    }

    /// Whether a click is the end of a press that has selected. One of the keyboard never is.
    pub fn takes_click(&mut self, is_keyboard: bool) -> bool {
        !is_keyboard && std::mem::take(&mut self.has_selected)
    }

    pub fn is_touch(&self) -> bool {
        self.is_touch
    }

    /// Whether the browser's menu is to stay away.
    pub fn takes_menu(&self) -> bool {
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

    /// Guards against a long press that opens what it has selected, or the browser's menu.
    #[test]
    fn a_finger_that_stays_selects_and_does_nothing_else() {
        let mut press = held();
        assert!(!press.takes_menu());
        press.moved((103.0, 96.0));
        assert_eq!(press.hold().as_deref(), Some("a/0"));
        assert!(press.takes_menu());
        press.end();
        assert!(press.takes_click(false));
        // Once.
        assert!(!press.takes_click(false) && press.hold().is_none());
    }

    #[test]
    fn a_short_press_and_one_that_moves_are_what_they_were() {
        let mut press = held();
        press.end();
        assert_eq!(press.hold(), None);
        assert!(!press.takes_click(false) && !press.takes_menu());
        let mut press = held();
        press.moved((100.0, 140.0));
        press.moved(AT);
        assert_eq!(press.hold(), None, "it scrolled");
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

    /// Guards against a press that does nothing: browsers that had a menu to open send no click after it.
    #[test]
    fn the_next_press_is_its_own() {
        let mut press = held();
        press.hold();
        assert!(!press.takes_click(true), "Enter opens");
        press.down(None, false, true, AT);
        assert!(!press.takes_click(false) && !press.takes_menu());
    }
}
