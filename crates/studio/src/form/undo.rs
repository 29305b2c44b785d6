//! Undoes the changes of a form that browsers don't undo: they undo only typing.

use atelier_contract::{Draft, Entry, Schema};
use serde_json::Value;

/// The maximum number of stored changes.
const MAX: usize = 50;

/// The maximum total size of the texts in stored changes, in bytes. A text may contain an image.
const MAX_BYTES: usize = 4 << 20;

/// The direction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Undo,
    Redo,
}

/// Returns the direction for a key that is pressed together with Ctrl or ⌘.
pub fn direction(key: &str, has_shift: bool) -> Option<Direction> {
    match (key, has_shift) {
        ("z" | "Z", false) => Some(Direction::Undo),
        ("z" | "Z", true) | ("y" | "Y", false) => Some(Direction::Redo),
        _ => None,
    }
}

/// The changes other than typing, in order.
#[derive(Debug, Clone, Default)]
pub struct Undo {
    done: Vec<Change>,
    undone: Vec<Change>,
    /// Whether the last change consists of keystrokes, to which the next keystroke may be added.
    is_run: bool,
}

#[derive(Debug, Clone)]
struct Change {
    before: Draft,
    after: Draft,
}

impl Change {
    /// Returns the size of the texts in bytes.
    fn size(&self) -> usize {
        let entries = self.before.iter().chain(self.after.iter());
        let sizes = entries.map(|(_, entry)| match entry {
            Entry::Text(text) | Entry::Value(Value::String(text)) => text.len(),
            Entry::Value(Value::Array(items)) => {
                let lengths = items.iter().filter_map(Value::as_str).map(str::len);
                lengths.sum()
            }
            Entry::Value(_) => 0,
        });
        sizes.sum()
    }
}

impl Undo {
    /// Adds a change.
    pub fn record(&mut self, before: Draft, after: Draft) {
        self.is_run = false;
        self.push(Change { before, after });
    }

    /// Adds a keystroke in a text. Consecutive keystrokes are undone together.
    pub fn record_keystroke(&mut self, before: Draft, after: Draft) {
        let run = match self.is_run {
            true => self.done.pop_if(|last| last.after == before),
            false => None,
        };
        let before = run.map_or(before, |run| run.before);
        self.is_run = before != after;
        if self.is_run {
            self.push(Change { before, after });
        }
    }

    fn push(&mut self, change: Change) {
        self.undone.clear();
        self.done.push(change);
        while self.done.len() > MAX || self.done.iter().map(Change::size).sum::<usize>() > MAX_BYTES
        {
            self.done.remove(0);
        }
    }

    /// Returns the new content of a form that contains `now`. `None` if the last change was typed; then the browser
    /// must undo it.
    pub fn step(&mut self, direction: Direction, now: &Draft, schema: &Schema) -> Option<Draft> {
        self.is_run = false;
        let (from, to) = match direction {
            Direction::Undo => (&mut self.done, &mut self.undone),
            Direction::Redo => (&mut self.undone, &mut self.done),
        };
        // If the form differs, text was typed since, and the browser must undo that first.
        let change = from.pop_if(|change| {
            let left = match direction {
                Direction::Undo => &change.after,
                Direction::Redo => &change.before,
            };
            shows_same(left, now, schema)
        })?;
        let put = match direction {
            Direction::Undo => change.before.clone(),
            Direction::Redo => change.after.clone(),
        };
        to.push(change);
        Some(put)
    }
}

/// Whether the fields look the same. The browser's undo may leave an entry where there was none before.
fn shows_same(one: &Draft, other: &Draft, schema: &Schema) -> bool {
    let shown = |draft: &Draft, name: &str| {
        let default = || schema.parameter(name)?.0.default_entry();
        let entry = draft.get(name).cloned().or_else(default);
        entry.as_ref().map(Entry::to_text).unwrap_or_default()
    };
    let names = one.iter().chain(other.iter()).map(|(name, _)| name);
    let mut names = names.filter(|name| one.get(name) != other.get(name));
    names.all(|name| shown(one, name) == shown(other, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "steps", "type": "integer", "default": 20},
                    {"name": "style", "type": "string"}
                ]
            }
        }))
        .unwrap()
    }

    fn draft(entries: &[(&str, &str)]) -> Draft {
        let mut draft = Draft::default();
        for (name, text) in entries {
            draft.set(*name, Entry::Text((*text).into()));
        }
        draft
    }

    /// Ctrl+Z must not undo a change while later typing can be undone.
    #[test]
    fn a_change_is_undone_unless_something_was_typed_since() {
        let schema = schema();
        let before = draft(&[("prompt", "a")]);
        let after = draft(&[("prompt", "a"), ("style", "flat")]);
        let typed = draft(&[("prompt", "ab"), ("style", "flat")]);
        let mut undo = Undo::default();
        assert_eq!(undo.step(Direction::Undo, &before, &schema), None);
        undo.record(before.clone(), after.clone());
        assert_eq!(undo.step(Direction::Undo, &typed, &schema), None);
        assert_eq!(
            undo.step(Direction::Undo, &after, &schema),
            Some(before.clone())
        );
        assert_eq!(undo.step(Direction::Undo, &before, &schema), None);
        assert_eq!(
            undo.step(Direction::Redo, &before, &schema),
            Some(after.clone())
        );
        assert_eq!(undo.step(Direction::Redo, &after, &schema), None);
        assert_eq!(undo.step(Direction::Undo, &after, &schema), Some(before));
    }

    /// The browser's undo leaves an entry with an empty text or with the default. This entry must not prevent undoing
    /// an earlier change.
    #[test]
    fn the_browsers_undo_restores_the_same_state() {
        let schema = schema();
        let after = draft(&[("style", "flat")]);
        let left = draft(&[("style", "flat"), ("prompt", ""), ("steps", "20")]);
        let mut undo = Undo::default();
        undo.record(Draft::default(), after);
        assert_eq!(
            undo.step(Direction::Undo, &left, &schema),
            Some(Draft::default())
        );
    }

    /// Ctrl+Z undoes all consecutive keystrokes in a JSON text, but not the change before them.
    #[test]
    fn keystrokes_that_follow_each_other_are_undone_together() {
        let schema = schema();
        let [zero, a, ab, abc] = ["", "a", "ab", "abc"].map(|text| draft(&[("prompt", text)]));
        let mut undo = Undo::default();
        let step = |undo: &mut Undo, direction, now| undo.step(direction, now, &schema);
        undo.record(zero.clone(), a.clone());
        for _ in 0..2 {
            undo.record_keystroke(a.clone(), ab.clone());
            undo.record_keystroke(ab.clone(), abc.clone());
            assert_eq!(step(&mut undo, Direction::Undo, &abc), Some(a.clone()));
        }
        assert_eq!(step(&mut undo, Direction::Redo, &a), Some(abc.clone()));
        assert_eq!(step(&mut undo, Direction::Undo, &abc), Some(a.clone()));
        // Typing and deleting a letter is not a change.
        undo.record_keystroke(a.clone(), ab.clone());
        undo.record_keystroke(ab.clone(), a.clone());
        undo.record_keystroke(a.clone(), ab.clone());
        assert_eq!(step(&mut undo, Direction::Undo, &ab), Some(a.clone()));
        assert_eq!(step(&mut undo, Direction::Undo, &a), Some(zero));
    }

    #[test]
    fn a_new_change_discards_the_changes_to_redo() {
        let schema = schema();
        let (one, two) = (draft(&[("style", "flat")]), draft(&[("style", "bold")]));
        let mut undo = Undo::default();
        undo.record(Draft::default(), one.clone());
        assert!(undo.step(Direction::Undo, &one, &schema).is_some());
        undo.record(Draft::default(), two);
        assert_eq!(undo.step(Direction::Redo, &Draft::default(), &schema), None);
    }

    #[test]
    fn only_the_last_changes_are_stored() {
        let mut undo = Undo::default();
        for _ in 0..=MAX {
            undo.record(Draft::default(), Draft::default());
        }
        assert_eq!(undo.done.len(), MAX);
    }

    /// Guards against many copies of an image in memory.
    #[test]
    fn large_changes_are_bounded_by_their_size() {
        let picture = "x".repeat(MAX_BYTES / 4);
        let with_picture = || draft(&[("image", &picture)]);
        let mut undo = Undo::default();
        for _ in 0..5 {
            undo.record(with_picture(), with_picture());
        }
        assert_eq!(undo.done.len(), 2);
        undo.record(with_picture(), draft(&[("image", &picture.repeat(4))]));
        assert_eq!(undo.done.len(), 0);
    }

    #[test]
    fn keys_equal_those_of_text_fields() {
        assert_eq!(direction("z", false), Some(Direction::Undo));
        assert_eq!(direction("Z", true), Some(Direction::Redo));
        assert_eq!(direction("y", false), Some(Direction::Redo));
        assert_eq!(direction("a", false), None);
    }
}
