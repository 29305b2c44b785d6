//! Names the file of a single downloaded output by the inputs that distinguish it from its batch.

use std::collections::BTreeMap;

use atelier_engine::Task;

use crate::batch::differences::item_captions;
use crate::form::{control, seed};
use crate::output::file_name;
use crate::share::recipe::suspects_of;

/// The maximum length of a prompt that precedes the differing values.
const SHARED_TITLE: usize = 24;
const LONGEST: usize = 40;

/// Returns `{subcategory}-{prompt}-{differences}-{item}-{n}.{ext}` for output `n` (from 1) of a task. Outside a batch,
/// the difference is the seed. If prompts differ, the prompt is part of the differences. `siblings`: all tasks of the
/// task's batch, including itself; empty without a batch.
pub fn download_name(task: &Task, siblings: &[&Task], n: usize, extension: &str) -> String {
    let title = task.input.title();
    let Some(place) = &task.batch else {
        return file_name::output(&task.model, &[title, &seed_part(task)], n, extension);
    };
    let mut items: BTreeMap<usize, &Task> = BTreeMap::new();
    for sibling in siblings {
        let Some(index) = sibling.index_in(&place.batch) else {
            continue;
        };
        // A retry replaces the task that it retries.
        let is_later = |other: &&mut &Task| other.created < sibling.created;
        match items.get_mut(&index) {
            None => drop(items.insert(index, sibling)),
            Some(other) if is_later(&other) => *other = sibling,
            Some(_) => {}
        }
    }
    items.insert(place.index, task);
    let last = items.keys().next_back().map_or(1, |last| last + 1);
    let number = format!(
        "{:0width$}",
        place.index + 1,
        width = last.to_string().len().max(2)
    );
    let named = |title: &str, differs: &str| {
        file_name::output(&task.model, &[title, differs, &number], n, extension)
    };
    // A value that may be a secret must not become part of a file name.
    if !suspects_of(items.values().copied()).is_empty() {
        return named(title, "");
    }
    let captions = item_captions(items.values().copied().map(Some));
    let at = items.range(..place.index).count();
    let differs = captions.get(at).map_or("", String::as_str);
    if differs == title {
        return named(title, "");
    }
    match items.values().all(|it| it.input.title() == title) {
        true => named(
            &file_name::slug(title, SHARED_TITLE),
            &file_name::slug(differs, LONGEST),
        ),
        false => named("", differs),
    }
}

fn seed_part(task: &Task) -> String {
    let seed = task.input.values().get(seed::NAME);
    let seed = seed.filter(|seed| !seed.is_null()).map(control::text);
    seed.map_or_else(String::new, |seed| format!("seed {seed}"))
}

#[cfg(test)]
mod tests {
    use atelier_engine::{BatchKey, BatchPlace};
    use serde_json::{Value, json};

    use super::*;

    fn items(values: &[Value]) -> Vec<Task> {
        let item = |(index, values): (usize, &Value)| {
            let mut task = crate::testing::task(&format!("t{index}"), 1);
            task.batch = Some(BatchPlace {
                batch: BatchKey("b".into()),
                index,
            });
            let model = json!({"category": "image", "subcategory": "tessera"});
            task.input = serde_json::from_value(json!({"model": model, "values": values})).unwrap();
            task.model = task.input.model().clone();
            task
        };
        values.iter().enumerate().map(item).collect()
    }

    fn named(tasks: &[Task]) -> Vec<String> {
        let siblings: Vec<&Task> = tasks.iter().collect();
        let name = |task| download_name(task, &siblings, 1, "png");
        tasks.iter().map(name).collect()
    }

    /// Files of a sweep must have different names.
    #[test]
    fn items_of_a_batch_are_named_by_their_differences() {
        let sea = |mist: f64| json!({"prompt": "sea", "mist": mist, "seed": 7});
        assert_eq!(
            named(&items(&[sea(0.0), sea(0.5)])),
            [
                "tessera-sea-mist-0-0-01-1.png",
                "tessera-sea-mist-0-5-02-1.png"
            ]
        );
        let prompts = [json!({"prompt": "sea"}), json!({"prompt": "moor"})];
        assert_eq!(
            named(&items(&prompts)),
            ["tessera-sea-01-1.png", "tessera-moor-02-1.png"]
        );
        let both = |prompt: &str, mist: u32| json!({"prompt": prompt, "mist": mist});
        let both = [both("sea", 0), both("moor", 0), both("sea", 1)];
        assert_eq!(named(&items(&both))[2], "tessera-mist-1-sea-03-1.png");
        // Variations differ only in their seeds.
        let seeds = [
            json!({"prompt": "sea", "seed": 4}),
            json!({"prompt": "sea", "seed": 9}),
        ];
        assert_eq!(named(&items(&seeds))[1], "tessera-sea-seed-9-02-1.png");
    }

    #[test]
    fn prompts_with_the_same_beginning_are_named_by_their_ends() {
        let long = "a wide valley seen from a high ridge, blue shadows between the pines,";
        let light = |light: &str| json!({"prompt": format!("{long} {light}")});
        let names = named(&items(&[light("dawn"), light("dusk")]));
        assert!(names[0].ends_with("-dawn-01-1.png"), "{names:?}");
        assert!(names[1].ends_with("-dusk-02-1.png"), "{names:?}");
    }

    #[test]
    fn a_task_without_a_batch_is_named_by_its_prompt_and_seed() {
        let mut task = items(&[json!({"prompt": "A café, at night!", "seed": 42})]).remove(0);
        task.batch = None;
        let name = download_name(&task, &[], 2, "webp");
        assert_eq!(name, "tessera-a-cafe-at-night-seed-42-2.webp");
        let mut plain = items(&[json!({"prompt": ""})]).remove(0);
        plain.batch = None;
        assert_eq!(download_name(&plain, &[], 1, "png"), "tessera-1.png");
    }

    /// A failed attempt of the same item must not change the name.
    #[test]
    fn an_earlier_attempt_does_not_count_as_another_item() {
        let sea = |mist: u32| json!({"prompt": "sea", "mist": mist});
        let mut tasks = items(&[sea(0), sea(1), sea(1)]);
        tasks[2].batch.as_mut().unwrap().index = 1;
        tasks[2].created = 2;
        assert_eq!(named(&tasks)[2], "tessera-sea-mist-1-02-1.png");
        let prompts = [json!({"prompt": "sea"}), json!({"prompt": "moor"})];
        let mut tasks = items(&[&prompts[..], &prompts[1..]].concat());
        tasks[2].batch.as_mut().unwrap().index = 1;
        tasks[2].created = 2;
        assert_eq!(named(&tasks)[0], "tessera-sea-01-1.png");
    }

    #[test]
    fn likely_secrets_are_not_in_file_names() {
        let sea = |key: &str| json!({"prompt": "sea", "api_key": key});
        let names = named(&items(&[sea("sk-aaaaaaaa1"), sea("sk-bbbbbbbb2")]));
        assert_eq!(names, ["tessera-sea-01-1.png", "tessera-sea-02-1.png"]);
    }
}
