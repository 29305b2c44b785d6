//! A mask that is being drawn, with the changes that can be undone.

use super::bitmap::{Area, Bitmap, Point};

/// The maximum number of bytes that undo and redo store.
const MAX_BYTES: usize = 64_000_000;

/// The maximum number of changes that can be undone.
const MAX_STEPS: usize = 500;

/// A change that can be undone. Applying it twice restores the mask.
#[derive(Debug)]
enum Change {
    Invert,
    /// Exchanges these bytes.
    Swap(Area, Vec<u8>),
}

impl Change {
    fn bytes(&self) -> usize {
        match self {
            Self::Invert => 0,
            Self::Swap(_, bytes) => bytes.len(),
        }
    }
}

/// A stroke in progress.
#[derive(Debug)]
struct Stroke {
    before: Bitmap,
    changed: Option<Area>,
}

/// A mask that is being drawn.
#[derive(Debug)]
pub struct Drawing {
    bitmap: Bitmap,
    /// The mask when it was opened.
    opened: Bitmap,
    stroke: Option<Stroke>,
    undo: Vec<Change>,
    redo: Vec<Change>,
}

impl Drawing {
    /// Continues with a mask.
    pub fn new(bitmap: Bitmap) -> Self {
        Self {
            opened: bitmap.clone(),
            bitmap,
            stroke: None,
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    pub fn bitmap(&self) -> &Bitmap {
        &self.bitmap
    }

    /// Whether the mask differs from the one that was opened.
    pub fn is_changed(&self) -> bool {
        self.bitmap != self.opened
    }

    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Begins a stroke, which becomes one change.
    pub fn begin(&mut self) {
        self.end();
        self.stroke = Some(Stroke {
            before: self.bitmap.clone(),
            changed: None,
        });
    }

    /// Continues the stroke with a line. Returns the area to draw again.
    pub fn line(&mut self, from: Point, to: Point, radius: f64, is_painted: bool) -> Option<Area> {
        self.draw(|bitmap| bitmap.line(from, to, radius, is_painted))
    }

    /// Continues the stroke with a rectangle. Returns the area to draw again.
    pub fn rectangle(&mut self, from: Point, to: Point, is_painted: bool) -> Option<Area> {
        self.draw(|bitmap| bitmap.rectangle(from, to, is_painted))
    }

    /// Changes the mask within the stroke, or else as a change of its own.
    fn draw(&mut self, draw: impl FnOnce(&mut Bitmap) -> Option<Area>) -> Option<Area> {
        let is_alone = self.stroke.is_none();
        if is_alone {
            self.begin();
        }
        let changed = draw(&mut self.bitmap);
        if let (Some(stroke), Some(area)) = (&mut self.stroke, changed) {
            stroke.changed = Some(stroke.changed.map_or(area, |before| before.union(area)));
        }
        if is_alone {
            self.end();
        }
        changed
    }

    /// Ends the stroke. A stroke without effect can't be undone.
    pub fn end(&mut self) {
        let Some(Stroke { before, changed }) = self.stroke.take() else {
            return;
        };
        if let Some(area) = changed {
            let bytes = before.bytes(area);
            if bytes != self.bitmap.bytes(area) {
                self.record(Change::Swap(area, bytes));
            }
        }
    }

    /// Reverts the stroke in progress. Returns the area to draw again.
    pub fn abort(&mut self) -> Option<Area> {
        let stroke = self.stroke.take()?;
        self.bitmap = stroke.before;
        stroke.changed
    }

    pub fn invert(&mut self) {
        self.end();
        self.bitmap.invert();
        self.record(Change::Invert);
    }

    /// Erases everything.
    pub fn clear(&mut self) {
        self.begin();
        let (width, height) = self.bitmap.size();
        self.rectangle((0.0, 0.0), (width.into(), height.into()), false);
        self.end();
    }

    /// Reverts the last change. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        self.end();
        let change = self.undo.pop();
        let change = change.map(|change| self.apply(change));
        change.map(|change| self.redo.push(change)).is_some()
    }

    /// Repeats the change that was reverted last. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        self.end();
        let change = self.redo.pop();
        let change = change.map(|change| self.apply(change));
        change.map(|change| self.undo.push(change)).is_some()
    }

    /// Applies a change, and returns the change that reverts it.
    fn apply(&mut self, change: Change) -> Change {
        match change {
            Change::Invert => {
                self.bitmap.invert();
                Change::Invert
            }
            Change::Swap(area, mut bytes) => {
                self.bitmap.swap(area, &mut bytes);
                Change::Swap(area, bytes)
            }
        }
    }

    fn record(&mut self, change: Change) {
        self.redo.clear();
        self.undo.push(change);
        let mut bytes: usize = self.undo.iter().map(Change::bytes).sum();
        let mut dropped = 0;
        while self.undo.len() - dropped > MAX_STEPS
            || (bytes > MAX_BYTES && self.undo.len() - dropped > 1)
        {
            bytes -= self.undo[dropped].bytes();
            dropped += 1;
        }
        self.undo.drain(..dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Line(Point, Point, bool),
        Rectangle(Point, Point),
        Invert,
        Clear,
    }

    fn point() -> impl Strategy<Value = Point> {
        (-5.0..45.0, -5.0..35.0)
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (point(), point(), any::<bool>()).prop_map(|(a, b, is_painted)| Step::Line(a, b, is_painted)),
            2 => (point(), point()).prop_map(|(a, b)| Step::Rectangle(a, b)),
            1 => Just(Step::Invert),
            1 => Just(Step::Clear),
        ]
    }

    fn apply(drawing: &mut Drawing, step: &Step) {
        match step {
            Step::Line(from, to, is_painted) => {
                drawing.begin();
                drawing.line(*from, *to, 3.0, *is_painted);
                drawing.line(*to, *from, 2.0, *is_painted);
                drawing.end();
            }
            Step::Rectangle(from, to) => {
                drawing.begin();
                drawing.rectangle(*from, *to, true);
                drawing.end();
            }
            Step::Invert => drawing.invert(),
            Step::Clear => drawing.clear(),
        }
    }

    #[test]
    fn a_stroke_without_effect_can_not_be_undone() {
        let mut drawing = Drawing::new(Bitmap::new(40, 30));
        drawing.begin();
        drawing.line((5.0, 5.0), (9.0, 9.0), 2.0, false);
        drawing.end();
        assert!(!drawing.can_undo() && !drawing.is_changed() && !drawing.undo());
    }

    #[test]
    fn an_aborted_stroke_leaves_the_mask() {
        let mut drawing = Drawing::new(Bitmap::new(40, 30));
        drawing.begin();
        let area = drawing.line((5.0, 5.0), (9.0, 9.0), 2.0, true);
        assert!(drawing.is_changed());
        assert_eq!(drawing.abort(), area);
        assert!(!drawing.is_changed() && !drawing.can_undo());
    }

    /// Guards against pixels that no undo removes.
    #[test]
    fn a_line_after_an_undo_within_a_stroke_can_be_undone() {
        let mut drawing = Drawing::new(Bitmap::new(40, 30));
        drawing.begin();
        drawing.line((5.0, 5.0), (9.0, 9.0), 2.0, true);
        assert!(drawing.undo());
        drawing.line((9.0, 9.0), (20.0, 9.0), 2.0, true);
        drawing.end();
        assert!(drawing.undo() && !drawing.is_changed() && !drawing.undo());
    }

    #[test]
    fn a_new_change_removes_what_could_be_repeated() {
        let mut drawing = Drawing::new(Bitmap::new(40, 30));
        drawing.invert();
        drawing.undo();
        assert!(drawing.can_redo());
        drawing.invert();
        assert!(!drawing.can_redo() && !drawing.redo());
    }

    #[test]
    fn old_changes_of_a_large_mask_are_dropped() {
        let mut drawing = Drawing::new(Bitmap::new(16_000, 4_000));
        let mut steps = 0;
        for at in 0..12 {
            drawing.begin();
            drawing.rectangle((0.0, 0.0), (16_000.0, 4_000.0), at % 2 == 0);
            drawing.end();
        }
        while drawing.undo() {
            steps += 1;
        }
        assert_eq!(steps, 8);
    }

    proptest! {
        #[test]
        fn undo_and_redo_restore_every_mask(steps in proptest::collection::vec(step(), 0..12)) {
            let mut drawing = Drawing::new(Bitmap::new(40, 30));
            let mut masks = vec![drawing.bitmap().clone()];
            for step in &steps {
                apply(&mut drawing, step);
                if masks.last() != Some(drawing.bitmap()) {
                    masks.push(drawing.bitmap().clone());
                }
            }
            for mask in masks.iter().rev().skip(1) {
                prop_assert!(drawing.undo());
                prop_assert_eq!(drawing.bitmap(), mask);
            }
            prop_assert!(!drawing.undo());
            prop_assert!(!drawing.is_changed());
            for mask in masks.iter().skip(1) {
                prop_assert!(drawing.redo());
                prop_assert_eq!(drawing.bitmap(), mask);
            }
            prop_assert!(!drawing.redo());
        }
    }
}
