//! A picture seen closer: how large it is, and which part of it is in the middle.

/// The largest zoom, as a multiple of the size that fits the room.
const LARGEST: f64 = 8.0;

/// The factor by which a key, or a notch of the wheel, zooms.
pub const STEP: f64 = 1.25;

/// A press twice makes a picture at least so large, and as large as it is where that is more.
const CLOSE: f64 = 2.0;

/// How a picture is seen. At first as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zoom {
    /// As a multiple of the size that fits the room: from 1 to 8.
    pub scale: f64,
    /// How far the picture's middle lies from that of the room for it, in px.
    pub x: f64,
    pub y: f64,
}

impl Default for Zoom {
    fn default() -> Self {
        Self {
            scale: 1.0,
            x: 0.0,
            y: 0.0,
        }
    }
}

/// How large a picture is drawn, in per cent of its own pixels: at 100 each is one CSS pixel. None before its size is
/// known, and where it has none of its own. `fit`: see [`Room::fit`].
pub fn percent(scale: f64, fit: Option<f64>) -> Option<f64> {
    let percent = (scale * fit? * 100.0).round();
    percent.is_finite().then_some(percent.max(1.0))
}

/// A place in the room for the picture, in px from its middle.
pub type Point = (f64, f64);

/// The room for a picture, and the picture as it is, both in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    pub width: f64,
    pub height: f64,
    /// The width and height of the picture as it is.
    pub picture: (f64, f64),
}

impl Room {
    /// Returns the factor by which the picture fits, if both sizes are known.
    pub fn known_fit(self) -> Option<f64> {
        let sides = [self.width, self.height, self.picture.0, self.picture.1];
        sides.iter().all(|side| *side > 0.0).then(|| self.fit())
    }

    /// Gives the factor by which the picture fits.
    fn fit(self) -> f64 {
        let (width, height) = self.picture;
        let fit = (self.width / width.max(1.0)).min(self.height / height.max(1.0));
        if fit.is_finite() && fit > 0.0 {
            fit
        } else {
            1.0
        }
    }

    /// How far the middle may go: no edge of the picture leaves one of the room, unless it lies within.
    fn reach(self, scale: f64) -> Point {
        let drawn = self.fit() * scale;
        let reach = |picture: f64, room: f64| ((picture * drawn - room) / 2.0).max(0.0);
        (
            reach(self.picture.0, self.width),
            reach(self.picture.1, self.height),
        )
    }
}

impl Zoom {
    /// Not as a whole.
    pub fn is_close(self) -> bool {
        self.scale > 1.0
    }

    /// Zooms by a factor. The place at this point stays there as far as there is picture.
    pub fn by(self, factor: f64, at: Point, room: Room) -> Self {
        if !factor.is_finite() || factor <= 0.0 {
            return self;
        }
        let scale = (self.scale * factor).clamp(1.0, LARGEST);
        let grown = scale / self.scale;
        Self {
            scale,
            x: at.0 - (at.0 - self.x) * grown,
            y: at.1 - (at.1 - self.y) * grown,
        }
        .within(room)
    }

    pub fn moved(self, by: Point, room: Room) -> Self {
        Self {
            x: self.x + by.0,
            y: self.y + by.1,
            ..self
        }
        .within(room)
    }

    /// Turns between the whole picture and this place seen close.
    pub fn turned(self, at: Point, room: Room) -> Self {
        if self.is_close() {
            return Self::default();
        }
        let actual = 1.0 / room.fit();
        self.by(actual.max(CLOSE), at, room)
    }

    /// Two fingers have moved, each from where it was to where it is.
    pub fn pinched(self, from: [Point; 2], to: [Point; 2], room: Room) -> Self {
        let middle = |[a, b]: [Point; 2]| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        let apart = |[a, b]: [Point; 2]| (a.0 - b.0).hypot(a.1 - b.1).max(1.0);
        let (before, now) = (middle(from), middle(to));
        self.by(apart(to) / apart(from), before, room)
            .moved((now.0 - before.0, now.1 - before.1), room)
    }

    /// The way in parts of the room's sides, as what is in step in several rooms has it; it was in px.
    pub fn in_parts(self, room: Room) -> Self {
        Self {
            x: self.x / room.width.max(1.0),
            y: self.y / room.height.max(1.0),
            ..self
        }
    }

    /// The way in px of this room; it was in parts of its sides.
    pub fn in_px(self, room: Room) -> Self {
        Self {
            x: self.x * room.width,
            y: self.y * room.height,
            ..self
        }
        .within(room)
    }

    /// What is cut off at the top, the right, the bottom and the left of a picture that fills its room, in parts of its
    /// sides, so that it is seen in no more than its room. The way is in such parts, too.
    pub fn cut(self) -> [f64; 4] {
        let beyond = (1.0 - 1.0 / self.scale) / 2.0;
        let (across, down) = (self.x / self.scale, self.y / self.scale);
        [
            beyond - down,
            beyond + across,
            beyond + down,
            beyond - across,
        ]
    }

    fn within(self, room: Room) -> Self {
        // As a whole it is in the middle, also while its size is not known.
        if !self.is_close() {
            return Self::default();
        }
        let (across, down) = room.reach(self.scale);
        Self {
            scale: self.scale,
            x: self.x.clamp(-across, across),
            y: self.y.clamp(-down, down),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 1000 × 500 for a picture of 2000 × 500: it fits at half its size, 250 px high.
    const ROOM: Room = Room {
        width: 1000.0,
        height: 500.0,
        picture: (2000.0, 500.0),
    };

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let closer = Zoom::default().by(4.0, (300.0, 50.0), ROOM);
        assert_eq!((closer.scale, closer.x, closer.y), (4.0, -900.0, -150.0));
        // What was drawn 300 px from the middle is still drawn there: 4 × 300 - 900.
        let back = closer.by(0.25, (300.0, 50.0), ROOM);
        assert_eq!(back, Zoom::default());
    }

    #[test]
    fn no_edge_comes_into_the_room() {
        let closer = Zoom::default().by(2.0, (0.0, 0.0), ROOM);
        let moved = closer.moved((5_000.0, 5_000.0), ROOM);
        // Twice as large it is as high as the room, and 1000 px wider.
        assert_eq!((moved.x, moved.y), (500.0, 0.0));
        assert_eq!(Zoom::default().moved((9.0, 9.0), ROOM), Zoom::default());
    }

    /// Guards against a press that makes a picture smaller, which was shown larger than it is.
    #[test]
    fn a_press_twice_never_makes_it_smaller() {
        let small = Room {
            picture: (500.0, 250.0),
            ..ROOM
        };
        assert_eq!(Zoom::default().turned((0.0, 0.0), small).scale, 2.0);
        let large = Room {
            picture: (6000.0, 3000.0),
            ..ROOM
        };
        let actual = Zoom::default().turned((0.0, 0.0), large);
        assert_eq!(actual.scale, 6.0);
        assert_eq!(actual.turned((0.0, 0.0), large), Zoom::default());
    }

    #[test]
    fn per_cents_are_of_the_picture_as_it_is() {
        assert_eq!(percent(1.0, ROOM.known_fit()), Some(50.0));
        assert_eq!(percent(2.0, ROOM.known_fit()), Some(100.0));
        let small = Room {
            picture: (64.0, 64.0),
            ..ROOM
        };
        assert_eq!(percent(1.0, small.known_fit()), Some(781.0));
        let huge = Room {
            picture: (9e5, 9e5),
            ..ROOM
        };
        assert_eq!(percent(1.0, huge.known_fit()), Some(1.0), "not nothing");
        // Not loaded, or a drawing without a size.
        let unknown = Room {
            picture: (0.0, 0.0),
            ..ROOM
        };
        assert_eq!(percent(1.0, unknown.known_fit()), None);
    }

    /// Guards against another detail in each of the pictures that are compared, and against one that lies over the next.
    #[test]
    fn rooms_of_any_size_show_the_same_part() {
        let small = Room {
            width: 200.0,
            height: 100.0,
            picture: (2000.0, 1000.0),
        };
        let large = Room {
            width: 800.0,
            height: 400.0,
            ..small
        };
        let closer = Zoom::default().by(4.0, (50.0, -50.0), small);
        let parts = closer.in_parts(small);
        let there = parts.in_px(large);
        assert_eq!((there.scale, there.x, there.y), (4.0, -600.0, 600.0));
        assert_eq!(there.in_parts(large), parts);
        // A quarter of each side is seen, three eighths further to the right, and at the top.
        assert_eq!(parts.cut(), [0.0, 0.1875, 0.75, 0.5625]);
        assert_eq!(Zoom::default().cut(), [0.0; 4]);
    }

    #[test]
    fn fingers_draw_it_apart_and_along() {
        let from = [(-50.0, 0.0), (50.0, 0.0)];
        let apart = [(-100.0, 0.0), (100.0, 0.0)];
        assert_eq!(Zoom::default().pinched(from, apart, ROOM).scale, 2.0);
        let along = [(0.0, 0.0), (200.0, 0.0)];
        let moved = Zoom::default().pinched(from, along, ROOM);
        assert_eq!((moved.scale, moved.x), (2.0, 100.0));
    }

    proptest! {
        #[test]
        fn it_stays_between_whole_and_largest_and_in_the_room(
            steps in proptest::collection::vec(
                (0.1..9.0f64, -600.0..600.0f64, -400.0..400.0f64), 0..20),
            width in 0.0..3000.0f64, height in 0.0..2000.0f64,
            picture in (0.0..9000.0f64, 0.0..9000.0f64),
        ) {
            let room = Room { width, height, picture };
            let mut zoom = Zoom::default();
            for (factor, x, y) in steps {
                zoom = zoom.by(factor, (x, y), room).moved((y, x), room);
                prop_assert!((1.0..=LARGEST).contains(&zoom.scale));
                let (across, down) = room.reach(zoom.scale);
                prop_assert!(zoom.x.abs() <= across && zoom.y.abs() <= down);
                prop_assert!(zoom.is_close() || zoom == Zoom::default());
            }
        }
    }
}
