//! Chooses an output to show in place of a removed one, or to compare with another one.

use atelier_engine::{Task, TaskKey};

use super::GalleryEntry;
use crate::text::excerpt::excerpt;

/// The maximum number of outputs that are offered for a comparison.
pub const MAX_CHOICES: usize = 100;

/// The maximum length of a prompt in a label.
const LONGEST: usize = 60;

/// Returns the output to show after these tasks are removed: the next remaining one after their first output, or the
/// one before it if none follows.
pub fn after<'a>(found: &'a [GalleryEntry], tasks: &[TaskKey]) -> Option<&'a GalleryEntry> {
    let is_removed = |entry: &GalleryEntry| tasks.contains(&entry.task);
    let first = found.iter().position(is_removed)?;
    let later = found[first..].iter().find(|entry| !is_removed(entry));
    later.or_else(|| found[..first].last())
}

/// Sorts the outputs of a batch in the visual order of its items; outputs of one item keep their order.
pub fn sort_in_visual_order(found: &mut [GalleryEntry], order: &[usize]) {
    let mut places = vec![usize::MAX; order.len()];
    for (place, item) in order.iter().enumerate() {
        if let Some(at) = places.get_mut(*item) {
            *at = place;
        }
    }
    found.sort_by_key(|entry| {
        let item = entry.batch.as_ref().map(|place| place.index);
        let place = item.and_then(|item| places.get(item).copied());
        place.unwrap_or(usize::MAX)
    });
}

/// Returns the output to compare with the one at `at`: the nearest of the same kind, or else the nearest of any kind.
/// At equal distances, the later output is preferred.
pub fn companion(found: &[GalleryEntry], at: usize) -> Option<&GalleryEntry> {
    let this = found.get(at)?;
    let others = || {
        let others = found
            .iter()
            .enumerate()
            .filter(move |(other, _)| *other != at);
        others.map(move |(other, entry)| (other.abs_diff(at), other < at, entry))
    };
    let nearest_of_kind = others()
        .filter(|(.., entry)| entry.kind == this.kind)
        .min_by_key(|(distance, is_before, _)| (*distance, *is_before));
    let nearest = || others().min_by_key(|(distance, is_before, _)| (*distance, *is_before));
    nearest_of_kind.or_else(nearest).map(|(.., entry)| entry)
}

/// Returns the indexes of the outputs to offer for a comparison with an output of `task`: those of its batch and its
/// relatives, then those of its model, then the others. Each group is sorted by distance.
///
/// `at`: the current or last index of the output. `name`: its name; the output itself is excluded.
pub fn choices(
    found: &[GalleryEntry],
    at: usize,
    name: &str,
    task: &Task,
    relatives: &[TaskKey],
) -> Vec<usize> {
    let batch = task.batch.as_ref().map(|place| &place.batch);
    let rank = |entry: &GalleryEntry| {
        let its_batch = entry.batch.as_ref().map(|place| &place.batch);
        let is_of_batch = its_batch.is_some() && its_batch == batch;
        if is_of_batch || entry.task == task.key || relatives.contains(&entry.task) {
            0
        } else if entry.model == task.model {
            1
        } else {
            2
        }
    };
    let others = found.iter().enumerate();
    let others = others.filter(|(_, entry)| entry.name() != name);
    let others = others.map(|(other, entry)| (rank(entry), other.abs_diff(at), other));
    let mut others: Vec<_> = others.collect();
    // At equal distances, prefer the later output.
    others.sort_by_key(|(rank, distance, other)| (*rank, *distance, *other < at));
    others.truncate(MAX_CHOICES);
    others.into_iter().map(|(.., other)| other).collect()
}

/// Returns a label such as `3 of 12: a lake at dawn, output 2`.
pub fn choice_label(at: usize, count: usize, task: &Task, position: usize) -> String {
    let name = match task.input.title() {
        "" => task.model_name.clone(),
        title => excerpt(title, LONGEST),
    };
    let which = match task.outputs().len() {
        0 | 1 => String::new(),
        _ => format!(", output {}", position + 1),
    };
    format!("{} of {count}: {name}{which}", at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::output::OutputKind::{self, Audio, Image, Video};
    use atelier_engine::{BatchKey, BatchPlace};
    use serde_json::json;

    /// Returns an output of each kind, of tasks `a`, `b`, `c` and so on.
    fn entries(kinds: &[OutputKind]) -> Vec<GalleryEntry> {
        let entry = |(at, kind): (usize, &OutputKind)| {
            let key = char::from(b'a' + at as u8).to_string();
            let model = json!({"category": "image", "subcategory": "a"});
            let task = serde_json::from_value(json!({
                "key": key, "account": {"address": "", "uid": "me"}, "model_name": "A",
                "model": model, "created": 1, "input": {"model": model, "values": {}},
                "state": atelier_engine::TaskState::Ready {
                    id: atelier_contract::TaskId(key.clone()),
                    outputs: vec![format!("https://a.example/{}/0", kind.word())],
                },
            }));
            let mut entry = GalleryEntry::all_of(&task.unwrap()).remove(0);
            entry.kind = *kind;
            entry
        };
        kinds.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn outputs_are_in_the_visual_order_of_their_items() {
        let mut found = entries(&[Image, Image, Video, Image, Audio]);
        for (entry, index) in found.iter_mut().zip([0, 0, 1, 2, 7]) {
            let batch = BatchKey("b".into());
            entry.batch = Some(BatchPlace { batch, index });
        }
        sort_in_visual_order(&mut found, &[2, 0, 1]);
        let tasks: Vec<&str> = found.iter().map(|entry| &*entry.task.0).collect();
        assert_eq!(
            tasks,
            ["d", "a", "b", "c", "e"],
            "outputs of unknown items are last"
        );
    }

    fn keys(names: &[&str]) -> Vec<TaskKey> {
        names.iter().map(|name| TaskKey((*name).into())).collect()
    }

    #[test]
    fn a_removed_output_is_replaced_by_the_next_one_or_at_the_end_by_the_previous_one() {
        let found = entries(&[Image; 4]);
        let after = |tasks: &[&str]| after(&found, &keys(tasks)).map(GalleryEntry::name);
        assert_eq!(after(&["b"]).as_deref(), Some("c/0"));
        assert_eq!(after(&["b", "c"]).as_deref(), Some("d/0"));
        assert_eq!(after(&["d"]).as_deref(), Some("c/0"));
        assert_eq!(after(&["a", "b", "c", "d"]), None);
        assert_eq!(after(&["unknown"]), None);
    }

    /// Guards against comparing an image with a sound if there is another image.
    #[test]
    fn outputs_of_the_same_kind_are_compared() {
        let chosen = |kinds: &[OutputKind], at: usize| {
            let found = entries(kinds);
            companion(&found, at).map(GalleryEntry::name)
        };
        let mixed = [Image, Audio, Image, Image, Video];
        assert_eq!(chosen(&mixed, 0).as_deref(), Some("c/0"));
        assert_eq!(chosen(&mixed, 2).as_deref(), Some("d/0"));
        assert_eq!(chosen(&mixed, 3).as_deref(), Some("c/0"));
        // There is no other output of the same kind.
        assert_eq!(chosen(&mixed, 1).as_deref(), Some("c/0"));
        assert_eq!(chosen(&mixed, 4).as_deref(), Some("d/0"));
        assert_eq!(chosen(&[Image], 0), None);
        assert_eq!(chosen(&[], 0), None);
    }

    /// Guards against relatives that are omitted because unrelated images fill the list.
    #[test]
    fn related_outputs_are_offered_first_then_the_nearest() {
        let this: Task = serde_json::from_value(json!({
            "key": "c", "account": {"address": "", "uid": "me"}, "model_name": "A",
            "model": {"category": "image", "subcategory": "a"}, "created": 1,
            "input": {"model": {"category": "image", "subcategory": "a"}, "values": {}},
            "state": {"state": "queued"}, "batch": {"batch": "x", "index": 0},
        }))
        .unwrap();
        let mut found = entries(&[Image; 7]);
        let offered = |found: &[GalleryEntry], relatives: &[&str]| {
            let offered = choices(found, 2, "c/0", &this, &keys(relatives));
            let names = offered.into_iter().map(|at| found[at].name());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(offered(&found, &[]), "d/0 b/0 e/0 a/0 f/0 g/0");
        found[3].model.subcategory = "b".into();
        found[6].batch = Some(BatchPlace {
            batch: BatchKey("x".into()),
            index: 1,
        });
        assert_eq!(offered(&found, &["a"]), "a/0 g/0 b/0 e/0 f/0 d/0");
        // The output itself was removed.
        found.remove(2);
        assert_eq!(offered(&found, &["a"]), "a/0 g/0 e/0 b/0 f/0 d/0");
        assert!(choices(&entries(&[Image; 1]), 0, "a/0", &this, &[]).is_empty());
        let many: Vec<_> = (0..50).flat_map(|_| entries(&[Image; 9])).collect();
        assert_eq!(offered(&many, &[]).split(' ').count(), MAX_CHOICES);
    }

    #[test]
    fn choices_are_labelled_with_their_index_and_prompt() {
        let task = |values: serde_json::Value, outputs: &[&str]| -> Task {
            let model = json!({"category": "image", "subcategory": "a"});
            serde_json::from_value(json!({
                "key": "a", "account": {"address": "", "uid": "me"}, "model_name": "Strata",
                "model": model, "created": 1, "input": {"model": model, "values": values},
                "state": {"state": "ready", "id": "a", "outputs": outputs},
            }))
            .unwrap()
        };
        let one = task(json!({"prompt": "a lake"}), &["/1.png"]);
        assert_eq!(choice_label(2, 12, &one, 0), "3 of 12: a lake");
        let two = task(json!({}), &["/1.png", "/2.png"]);
        assert_eq!(choice_label(0, 2, &two, 1), "1 of 2: Strata, output 2");
    }
}
