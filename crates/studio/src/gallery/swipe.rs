//! Recognizes swipes: a horizontal swipe over an output shows the next one.

/// The minimum length of a swipe and its maximum vertical distance, in px.
const FAR: i32 = 60;

/// The height of a player's controls in px. They cover at most the lower half of a video.
const PLAYER: f64 = 96.0;

/// Returns the number of outputs to move forward for a swipe between two points: 1, -1 or 0.
pub fn step((from_x, from_y): (i32, i32), (to_x, to_y): (i32, i32)) -> isize {
    let (across, along) = (to_x - from_x, (to_y - from_y).abs());
    match across.abs() > FAR && along < FAR {
        true if across < 0 => 1,
        true => -1,
        false => 0,
    }
}

/// Whether a swipe on the handle of a sheet closes it.
pub fn closes_sheet((from_x, from_y): (i32, i32), (to_x, to_y): (i32, i32)) -> bool {
    let down = to_y - from_y;
    down > FAR / 2 && down > (to_x - from_x).abs()
}

/// Whether a point is on a video and not on its controls. `above`: its distance from the bottom edge; `height`: the
/// height of the video.
pub fn is_on_picture(above: f64, height: f64) -> bool {
    above > PLAYER.min(height / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizontal_swipe_leads_on_or_back() {
        assert_eq!(step((200, 100), (100, 120)), 1);
        assert_eq!(step((100, 120), (200, 100)), -1);
        assert_eq!(step((200, 100), (150, 100)), 0, "not far enough");
        assert_eq!(step((200, 100), (100, 200)), 0, "as much down as across");
    }

    #[test]
    fn only_a_swipe_down_closes_a_sheet() {
        assert!(closes_sheet((100, 100), (110, 150)));
        assert!(!closes_sheet((100, 100), (100, 110)), "not far enough");
        assert!(!closes_sheet((100, 150), (100, 100)));
        assert!(!closes_sheet((100, 100), (200, 150)), "across");
    }

    #[test]
    fn the_controls_of_a_player_ignore_swipes() {
        assert!(is_on_picture(300.0, 400.0));
        assert!(!is_on_picture(50.0, 400.0));
        assert!(!is_on_picture(96.0, 400.0));
        // The controls of a small video cover only its lower half.
        assert!(is_on_picture(70.0, 120.0));
        assert!(!is_on_picture(50.0, 120.0));
    }
}
