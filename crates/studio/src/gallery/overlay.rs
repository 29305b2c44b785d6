//! Compares two outputs on top of each other, with a divider.

use atelier_contract::output::OutputKind;

/// Whether outputs of these kinds can be overlaid: two images or videos.
pub fn can_overlay(kinds: &[OutputKind]) -> bool {
    let is_drawn = |kind: &OutputKind| matches!(kind, OutputKind::Image | OutputKind::Video);
    kinds.len() == 2 && kinds.iter().all(is_drawn)
}

/// Returns the position of `x` within an element in percent. `begins`, `width`: the start and width of the element.
pub fn share(x: f64, begins: f64, width: f64) -> f64 {
    let share = (x - begins) / width.max(1.0);
    (share * 1000.0).round().clamp(0.0, 1000.0) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sounds_cannot_be_overlaid() {
        use OutputKind::{Audio, Image, Video};
        assert!(can_overlay(&[Image, Video]));
        assert!(!can_overlay(&[Audio, Audio]));
        assert!(!can_overlay(&[Image, Audio]));
        assert!(!can_overlay(&[Image, Image, Image]));
    }

    #[test]
    fn the_divider_follows_the_pointer() {
        assert_eq!(share(350.0, 100.0, 1000.0), 25.0);
        assert_eq!(share(100.4, 100.0, 1000.0), 0.0);
        assert_eq!(share(0.0, 100.0, 1000.0), 0.0);
        assert_eq!(share(5000.0, 100.0, 1000.0), 100.0);
        assert_eq!(share(100.0, 100.0, 0.0), 0.0);
    }
}
