//! A finger that moves sideways over an output leads to the next one.

/// It moves at least so far, in px, and less up or down.
const FAR: i32 = 60;

/// The height of a player's bar, in px; it is never more than the lower half of a film.
const PLAYER: f64 = 96.0;

/// Steps further on, by where a finger came down and where it left.
pub fn step((from_x, from_y): (i32, i32), (to_x, to_y): (i32, i32)) -> isize {
    let (across, along) = (to_x - from_x, (to_y - from_y).abs());
    match across.abs() > FAR && along < FAR {
        true if across < 0 => 1,
        true => -1,
        false => 0,
    }
}

/// Whether a sheet is drawn down, and so closed, by where a finger came down on its handle and where it left.
pub fn closes_sheet((from_x, from_y): (i32, i32), (to_x, to_y): (i32, i32)) -> bool {
    let down = to_y - from_y;
    down > FAR / 2 && down > (to_x - from_x).abs()
}

/// Whether a finger so far above the foot of a film, which is so high, means the picture and not the player.
pub fn is_on_picture(above: f64, height: f64) -> bool {
    above > PLAYER.min(height / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finger_goes_on_or_back_and_scrolls() {
        assert_eq!(step((200, 100), (100, 120)), 1);
        assert_eq!(step((100, 120), (200, 100)), -1);
        assert_eq!(step((200, 100), (150, 100)), 0, "not far enough");
        assert_eq!(step((200, 100), (100, 200)), 0, "as much down as across");
    }

    #[test]
    fn a_sheet_is_drawn_down_and_no_other_way() {
        assert!(closes_sheet((100, 100), (110, 150)));
        assert!(!closes_sheet((100, 100), (100, 110)), "not far enough");
        assert!(!closes_sheet((100, 150), (100, 100)));
        assert!(!closes_sheet((100, 100), (200, 150)), "across");
    }

    #[test]
    fn the_bar_of_a_player_is_the_players() {
        assert!(is_on_picture(300.0, 400.0));
        assert!(!is_on_picture(50.0, 400.0));
        assert!(!is_on_picture(96.0, 400.0));
        // The upper half of a low one is free.
        assert!(is_on_picture(70.0, 120.0));
        assert!(!is_on_picture(50.0, 120.0));
    }
}
