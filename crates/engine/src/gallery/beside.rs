//! Which output comes next to one: in its place when it goes, or beside it to be compared.

use super::GalleryEntry;
use crate::TaskKey;

/// What stands, once these tasks are gone, where the first of their outputs stood; the one before it at the end.
pub fn after<'a>(found: &'a [GalleryEntry], tasks: &[TaskKey]) -> Option<&'a GalleryEntry> {
    let goes = |entry: &GalleryEntry| tasks.contains(&entry.task);
    let first = found.iter().position(goes)?;
    let later = found[first..].iter().find(|entry| !goes(entry));
    later.or_else(|| found[..first].last())
}

/// What an output is compared with: the nearest of its kind, the next rather than the one before; where there is none,
/// the nearest of all.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputKind::{self, Audio, Image, Video};
    use serde_json::json;

    /// An output of each kind, of tasks `a`, `b`, `c` and so on.
    fn entries(kinds: &[OutputKind]) -> Vec<GalleryEntry> {
        let entry = |(at, kind): (usize, &OutputKind)| {
            let key = char::from(b'a' + at as u8).to_string();
            let model = json!({"category": "image", "subcategory": "a"});
            let task = serde_json::from_value(json!({
                "key": key, "account": {"address": "", "uid": "me"}, "model_name": "A",
                "model": model, "created": 1, "input": {"model": model, "values": {}},
                "state": crate::TaskState::Ready {
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

    fn keys(names: &[&str]) -> Vec<TaskKey> {
        names.iter().map(|name| TaskKey((*name).into())).collect()
    }

    #[test]
    fn what_goes_makes_way_for_the_next_and_at_the_end_for_the_one_before() {
        let found = entries(&[Image; 4]);
        let after = |tasks: &[&str]| after(&found, &keys(tasks)).map(GalleryEntry::name);
        assert_eq!(after(&["b"]).as_deref(), Some("c/0"));
        assert_eq!(after(&["b", "c"]).as_deref(), Some("d/0"));
        assert_eq!(after(&["d"]).as_deref(), Some("c/0"));
        assert_eq!(after(&["a", "b", "c", "d"]), None);
        assert_eq!(after(&["unknown"]), None);
    }

    /// Guards against a picture beside a sound, where there is another picture.
    #[test]
    fn what_is_of_a_kind_is_compared() {
        let beside = |kinds: &[OutputKind], at: usize| {
            let found = entries(kinds);
            companion(&found, at).map(GalleryEntry::name)
        };
        let mixed = [Image, Audio, Image, Image, Video];
        assert_eq!(beside(&mixed, 0).as_deref(), Some("c/0"));
        assert_eq!(beside(&mixed, 2).as_deref(), Some("d/0"));
        assert_eq!(beside(&mixed, 3).as_deref(), Some("c/0"));
        // Alone of its kind.
        assert_eq!(beside(&mixed, 1).as_deref(), Some("c/0"));
        assert_eq!(beside(&mixed, 4).as_deref(), Some("d/0"));
        assert_eq!(beside(&[Image], 0), None);
        assert_eq!(beside(&[], 0), None);
    }
}
