//! Finds the outputs and the user's own files from which tasks were generated. They are stored with a new task. The page
//! shows the ancestors and descendants of an output.

use std::collections::HashMap;

use atelier_engine::{Source, Task, TaskKey, UploadedFile, stored_output};
use serde_json::Value;

use crate::output::output_cache;
use atelier_contract::output::OutputAddress;

/// The maximum number of relatives to show in each direction.
const MAX_RELATIVES: usize = 24;
/// The maximum distance of a relative in steps.
const MAX_DISTANCE: usize = 6;

/// An ancestor or descendant of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    pub task: TaskKey,
    /// For an ancestor, the output that became an input. For a descendant, its first output, if it has one.
    pub output: Option<String>,
    /// The parameter that had the output as its value.
    pub parameter: String,
    /// The distance in steps, from 1.
    pub distance: usize,
    /// Whether the task is stored in this browser.
    pub is_known: bool,
}

/// The relatives of one output: at most 24 in each direction, and 6 steps away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Family {
    /// The outputs from which it was generated, each followed by its own ancestors.
    pub ancestors: Vec<Relative>,
    /// The outputs that were generated from it, each followed by its own descendants.
    pub descendants: Vec<Relative>,
}

/// The files that were uploaded in this visit, by their addresses.
#[derive(Debug, Clone, Copy)]
pub struct Uploads<'a> {
    /// The names of outputs whose files were uploaded.
    pub outputs: &'a HashMap<String, String>,
    /// The names of the user's own files.
    pub files: &'a HashMap<String, String>,
}

/// Records in new tasks the outputs and the uploaded files from which they are generated: those whose addresses are among
/// the inputs. Existing records are preserved.
pub fn trace(new: &mut [Task], known: &[&Task], uploads: Uploads<'_>) {
    let mut origins = None;
    let mut files = None;
    for task in new.iter_mut() {
        let (mut sources, mut own) = (Vec::new(), Vec::new());
        for (name, value) in task.input.values() {
            for address in addresses(value) {
                // Most inputs contain no address, so build the lookup tables only if needed.
                let origins = origins.get_or_insert_with(|| origins_of(known));
                let output = origin(origins, address);
                let output = output.or_else(|| uploads.outputs.get(address).cloned());
                let parameter = name.clone();
                if let Some(output) = output {
                    sources.push(Source { parameter, output });
                    continue;
                }
                let known_files = || files_of(known);
                let files = files.get_or_insert_with(known_files);
                let file = uploads.files.get(address).map(String::as_str);
                if let Some(name) = file.or_else(|| files.get(address).copied()) {
                    own.push(UploadedFile {
                        parameter,
                        url: address.to_owned(),
                        name: name.to_owned(),
                    });
                }
            }
        }
        if task.sources.is_empty() {
            task.sources = sources;
        }
        if task.uploads.is_empty() {
            task.uploads = own;
        }
    }
}

/// Returns the names of the uploaded files of tasks, by their addresses.
fn files_of<'a>(known: &[&'a Task]) -> HashMap<&'a str, &'a str> {
    let files = known.iter().flat_map(|task| &task.uploads);
    files
        .map(|file| (file.url.as_str(), file.name.as_str()))
        .collect()
}

fn origin(origins: &HashMap<&str, String>, address: &str) -> Option<String> {
    let found = origins.get(address).cloned();
    // If the input is a `data:` URL, the output is stored as a reference to the same data.
    found.or_else(|| {
        origins
            .get(stored_output::reference(address)?.as_str())
            .cloned()
    })
}

/// Returns the addresses in a value: a text, or a list of texts.
fn addresses(value: &Value) -> Vec<&str> {
    let texts = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        value => Vec::from_iter(value.as_str()),
    };
    let is_address = |text: &&str| OutputAddress::of(text) != OutputAddress::Text;
    texts.into_iter().filter(is_address).collect()
}

/// Returns the output at each address; if there are several, the newest. Includes the sources of tasks, because a
/// service may have changed an output's address after a task used it.
fn origins_of<'a>(known: &[&'a Task]) -> HashMap<&'a str, String> {
    let mut origins = HashMap::new();
    for task in known {
        for source in &task.sources {
            let value = task.input.values().get(&source.parameter);
            if let Some(address) = value.and_then(Value::as_str) {
                origins.insert(address, source.output.clone());
            }
        }
    }
    let mut by_age: Vec<&&Task> = known.iter().collect();
    by_age.sort_by_key(|task| task.created);
    for task in by_age {
        for (position, address) in task.outputs().iter().enumerate() {
            origins.insert(address, task.key.output(position));
        }
    }
    origins
}

/// Returns the task of which this one is a variation: the recorded one, or the first task outside batches that has the
/// same inputs except for the seed.
pub fn varied<'a>(task: &Task, known: &[&'a Task]) -> Option<&'a Task> {
    const SEED: &str = "seed";
    if let Some(varied) = &task.varied {
        let mut known = known.iter().copied();
        return known.find(|other| other.key == *varied && other.removed.is_none());
    }
    let values = task.input.values();
    let seed = values.get(SEED).filter(|seed| seed.is_number())?;
    let is_varied = |other: &&&Task| {
        let (others, model) = (other.input.values(), &other.model);
        *model == task.model
            && other.account == task.account
            && (other.created, &other.key) < (task.created, &task.key)
            && other.removed.is_none()
            && other.batch.is_none()
            && others.len() == values.len()
            && others.get(SEED).is_some_and(|other| other != seed)
            && values
                .iter()
                .all(|(name, value)| name == SEED || others.get(name) == Some(value))
    };
    let varied = known.iter().filter(is_varied);
    let first = varied.min_by_key(|other| (other.created, &other.key));
    first.copied().filter(|_| task.batch.is_none())
}

/// Returns the tasks related to an output: its ancestors and descendants, and the variations of the same task.
pub fn related_tasks(task: &Task, position: usize, known: &[&Task]) -> Vec<TaskKey> {
    let is_variation = |other: &Task| {
        let is_of_same = other.varied.is_some() && other.varied == task.varied;
        is_of_same || other.varied.as_ref() == Some(&task.key)
    };
    let family = family(task, Some(position), known);
    let relatives = family.ancestors.into_iter().chain(family.descendants);
    let relatives = relatives.map(|relative| relative.task);
    let variations = known.iter().filter(|other| is_variation(other));
    let variations = variations.map(|other| other.key.clone());
    let varied = task.varied.clone();
    relatives.chain(variations).chain(varied).collect()
}

/// Returns the relatives of one output of a task, or, without a position, of all its outputs.
pub fn family(task: &Task, position: Option<usize>, known: &[&Task]) -> Family {
    let mut family = Family::default();
    ascend(task, 1, known, &mut family.ancestors);
    let is_source = |source: &Source| {
        output_cache::parse_name(&source.output).is_some_and(|(key, at)| {
            key == task.key && position.is_none_or(|position| position == at)
        })
    };
    descend(&is_source, 1, known, &mut family.descendants);
    family
}

fn ascend(task: &Task, distance: usize, known: &[&Task], found: &mut Vec<Relative>) {
    for source in &task.sources {
        let Some((key, _)) = output_cache::parse_name(&source.output) else {
            continue;
        };
        if found.len() >= MAX_RELATIVES || distance > MAX_DISTANCE {
            return;
        }
        let parent = known.iter().find(|task| task.key == key);
        let parent = parent.filter(|task| task.removed.is_none());
        found.push(Relative {
            task: key,
            output: Some(source.output.clone()),
            parameter: source.parameter.clone(),
            distance,
            is_known: parent.is_some(),
        });
        if let Some(parent) = parent {
            ascend(parent, distance + 1, known, found);
        }
    }
}

fn descend(
    is_source: &dyn Fn(&Source) -> bool,
    distance: usize,
    known: &[&Task],
    found: &mut Vec<Relative>,
) {
    let mut children: Vec<(&Task, &Source)> = known
        .iter()
        .filter(|task| task.removed.is_none())
        .filter_map(|task| Some((*task, task.sources.iter().find(|source| is_source(source))?)))
        .collect();
    children.sort_by_key(|(task, _)| (task.created, &task.key));
    for (task, source) in children {
        if found.len() >= MAX_RELATIVES || distance > MAX_DISTANCE {
            return;
        }
        let has_output = !task.outputs().is_empty();
        found.push(Relative {
            task: task.key.clone(),
            output: has_output.then(|| task.key.output(0)),
            parameter: source.parameter.clone(),
            distance,
            is_known: true,
        });
        let is_child = |source: &Source| {
            output_cache::parse_name(&source.output).is_some_and(|(key, _)| key == task.key)
        };
        descend(&is_child, distance + 1, known, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn task(key: &str, created: u64, input: Value, outputs: &[&str]) -> Task {
        let model = json!({"category": "image", "subcategory": "a"});
        serde_json::from_value(json!({
            "key": key, "account": {"address": "", "uid": "me"}, "model": model, "model_name": "A",
            "input": {"model": model, "values": input}, "created": created,
            "state": {"state": "ready", "id": key, "outputs": outputs},
        }))
        .unwrap()
    }

    fn traced(mut task: Task, known: &[&Task]) -> Task {
        let entry = |url: &str, name: &str| [(url.to_owned(), name.to_owned())].into();
        let uploads = Uploads {
            outputs: &entry("https://s/upload.png", "u/1"),
            files: &entry("https://s/own.png", "cat.png"),
        };
        trace(std::slice::from_mut(&mut task), known, uploads);
        task
    }

    fn names(relatives: &[Relative]) -> Vec<(String, usize)> {
        let name = |it: &Relative| (it.task.0.clone(), it.distance);
        relatives.iter().map(name).collect()
    }

    /// The image was sent as data, but its task contains only a reference.
    #[test]
    fn input_data_are_matched_to_a_reference() {
        let data = format!("data:image/png;base64,{}", "A".repeat(5_000));
        let reference = atelier_engine::stored_output::reference(&data).unwrap();
        let first = task(
            "a",
            1,
            json!({"prompt": "x"}),
            &["https://x/1.png", &reference],
        );
        let second = task("b", 2, json!({"image": data}), &[]);
        let second = traced(second, &[&first]);
        assert_eq!(second.sources[0].output, "a/1");
    }

    #[test]
    fn an_input_that_is_an_output_is_recognized() {
        let a = task(
            "a",
            1,
            json!({"prompt": "x"}),
            &["/o/1.png", "https://s/2.png"],
        );
        let input = json!({"prompt": "/o/1.png of it", "image_url": "https://s/2.png", "seed": 3});
        let b = traced(task("b", 2, input, &["/o/3.png"]), &[&a]);
        let source = Source {
            parameter: "image_url".into(),
            output: "a/1".into(),
        };
        assert_eq!(b.sources, std::slice::from_ref(&source));
        // The service has changed the output's address. A task that was generated from it still contains the old one.
        let moved = task("a", 1, json!({}), &["/o/9.png", "https://s/10.png"]);
        let input = json!({"image_url": "https://s/2.png"});
        let again = traced(task("c", 3, input, &[]), &[&moved, &b]);
        assert_eq!(again.sources, [source]);
        assert!(traced(a, &[]).sources.is_empty());
    }

    /// Only the visit in which a file was uploaded knows its name. A later visit knows it from the tasks.
    #[test]
    fn an_uploaded_file_is_recorded_with_its_name() {
        let own = "https://s/own.png";
        let input = json!({"image": own, "images": ["https://other/1.png", own], "prompt": own});
        let first = traced(task("a", 1, input, &[]), &[]);
        let file = |parameter: &str| UploadedFile {
            parameter: parameter.into(),
            url: own.into(),
            name: "cat.png".into(),
        };
        assert_eq!(
            first.uploads,
            [file("image"), file("images"), file("prompt")]
        );
        assert_eq!(first.sources, []);
        let mut later = task("b", 2, json!({"image": own}), &[]);
        let none = HashMap::new();
        let uploads = Uploads {
            outputs: &none,
            files: &none,
        };
        trace(std::slice::from_mut(&mut later), &[&first], uploads);
        assert_eq!(later.uploads, [file("image")]);
        trace(std::slice::from_mut(&mut later), &[], uploads);
        assert_eq!(later.uploads, [file("image")], "it is preserved");
    }

    /// A list of pictures was made from each of them.
    #[test]
    fn every_output_in_a_list_is_recognized() {
        let (a, b) = ("https://s/1.png", "https://s/2.png");
        let made = task("m", 1, json!({}), &[a, b]);
        let images = [b, "https://other/3.png", a, "https://s/upload.png"];
        let input = json!({"images": images, "prompt": "a fox"});
        let listed = traced(task("l", 2, input, &[]), &[&made]);
        let outputs: Vec<&str> = (listed.sources.iter())
            .map(|source| source.output.as_str())
            .collect();
        assert_eq!(outputs, ["m/1", "m/0", "u/1"]);
    }

    #[test]
    fn the_family_has_ancestors_and_descendants() {
        let a = task("a", 1, json!({}), &["/a.png", "/a2.png"]);
        let b = traced(task("b", 2, json!({"image": "/a.png"}), &["/b.png"]), &[&a]);
        let c = traced(
            task("c", 3, json!({"image": "/b.png", "mask": "/a2.png"}), &[]),
            &[&a, &b],
        );
        let known = [&a, &b, &c];
        let of_b = family(&b, Some(0), &known);
        assert_eq!(names(&of_b.ancestors), [("a".into(), 1)]);
        assert_eq!(names(&of_b.descendants), [("c".into(), 1)]);
        let of_a = family(&a, Some(0), &known);
        assert!(of_a.ancestors.is_empty());
        assert_eq!(names(&of_a.descendants), [("b".into(), 1), ("c".into(), 2)]);
        // Another output of the task became an input of another task.
        assert_eq!(
            names(&family(&a, Some(1), &known).descendants),
            [("c".into(), 1)]
        );
        let of_all = family(&a, None, &known);
        let both = [("b".into(), 1), ("c".into(), 2), ("c".into(), 1)];
        assert_eq!(names(&of_all.descendants), both);
        let of_c = family(&c, Some(0), &[&b, &c]);
        assert_eq!(
            names(&of_c.ancestors),
            [("b".into(), 1), ("a".into(), 2), ("a".into(), 1)]
        );
        assert_eq!(of_c.ancestors.iter().filter(|it| !it.is_known).count(), 2);
    }

    /// Variations of earlier versions have no recorded original.
    #[test]
    fn a_variation_is_recognized_by_its_inputs() {
        let made = |key: &str, created, prompt: &str, seed: Value| {
            task(key, created, json!({"prompt": prompt, "seed": seed}), &[])
        };
        let (a, b) = (made("a", 1, "x", json!(1)), made("b", 2, "x", json!(2)));
        let (c, other) = (made("c", 2, "x", json!(3)), made("d", 1, "y", json!(4)));
        let known = [&c, &b, &a, &other];
        let of = |task: &Task| varied(task, &known).map(|it| it.key.0.as_str());
        assert_eq!(of(&a), None);
        assert_eq!(of(&b), Some("a"));
        assert_eq!(
            of(&c),
            Some("a"),
            "the first of the tasks with these inputs"
        );
        assert_eq!(of(&other), None);
        // A task with the same seed is not a variation, nor is a task without a seed.
        assert_eq!(varied(&made("e", 3, "x", json!(1)), &[&a]), None);
        assert_eq!(varied(&made("e", 3, "x", Value::Null), &[&a]), None);
        // A recorded original is returned, in a batch or not.
        let mut recorded = made("f", 4, "x", json!(5));
        recorded.varied = Some(b.key.clone());
        assert_eq!(of(&recorded), Some("b"));
        recorded.batch = Some(atelier_engine::BatchPlace {
            batch: atelier_engine::BatchKey("g".into()),
            index: 0,
        });
        assert_eq!(of(&recorded), Some("b"));
        // A removed task is not returned.
        assert_eq!(varied(&recorded, &[&a]), None);
        let mut gone = a.clone();
        gone.removed = Some(5);
        assert_eq!(varied(&b, &[&gone]), None);
    }

    /// Guards against an endless loop, because imported data may be forged.
    #[test]
    fn a_cyclic_family_is_limited() {
        let mut tasks: Vec<Task> = (0..4)
            .map(|n| task(&n.to_string(), n, json!({}), &["/x.png"]))
            .collect();
        for task in &mut tasks {
            task.sources = (0..4)
                .map(|of: usize| Source {
                    parameter: "image".into(),
                    output: format!("{of}/0"),
                })
                .collect();
        }
        let known: Vec<&Task> = tasks.iter().collect();
        let family = family(&tasks[0], Some(0), &known);
        assert_eq!(family.ancestors.len(), MAX_RELATIVES);
        assert_eq!(family.descendants.len(), MAX_RELATIVES);
    }

    #[test]
    fn variations_of_the_same_task_are_related() {
        let first = task("first", 1, json!({}), &["/first.png"]);
        let of_first = |key: &str| Task {
            varied: Some(first.key.clone()),
            ..task(key, 2, json!({}), &[])
        };
        let (a, b) = (of_first("a"), of_first("b"));
        let made = traced(
            task("made", 3, json!({"image": "/first.png"}), &[]),
            &[&first],
        );
        let other = task("other", 4, json!({}), &[]);
        let known = [&first, &a, &b, &made, &other];
        let related = |task: &Task| {
            let names = super::related_tasks(task, 0, &known)
                .into_iter()
                .map(|key| key.0);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(related(&first), "made a b");
        assert_eq!(related(&a), "a b first");
        assert_eq!(related(&made), "first");
        assert_eq!(related(&other), "");
    }
}
