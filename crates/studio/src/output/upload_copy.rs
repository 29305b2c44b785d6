//! Copies of the user's own files that are inputs of tasks. They are stored with the copies of outputs, under names of their
//! own, once for all tasks with the file.

use atelier_engine::{Task, TaskKey, UploadedFile};

use super::output_cache::CachedOutput;
use crate::text::plural::counted;

/// What precedes the index in a name.
const MARK: &str = "/upload-";

/// Returns the name of a task's uploaded file. `index`: its position in [`Task::uploads`]. The name begins like those of the
/// task's outputs, so that its copy is deleted with them.
pub fn name(task: &TaskKey, index: usize) -> String {
    format!("{task}{MARK}{index}")
}

/// Parses a [`name`] into its task and index.
pub fn parse_name(name: &str) -> Option<(TaskKey, usize)> {
    let (task, index) = name.rsplit_once(MARK)?;
    Some((TaskKey(task.to_owned()), index.parse().ok()?))
}

/// Returns the name under which the copy of an uploaded file is stored: that of the oldest task with the file.
pub fn name_of(url: &str, tasks: &[&Task]) -> Option<String> {
    let with_file = tasks.iter().filter_map(|task| {
        let index = task.uploads.iter().position(|file| file.url == url)?;
        Some((task.created, &task.key, index))
    });
    let (_, task, index) = with_file.min()?;
    Some(name(task, index))
}

/// Returns the names of the uploaded files of a task whose copies are stored with this task.
pub fn names_of(task: &Task, tasks: &[&Task]) -> Vec<String> {
    let own = |(index, file): (usize, &UploadedFile)| {
        let name = name(&task.key, index);
        (name_of(&file.url, tasks).as_ref() == Some(&name)).then_some(name)
    };
    task.uploads.iter().enumerate().filter_map(own).collect()
}

/// Formats the number of copies: `2 outputs`, or `2 outputs and 1 uploaded file`.
pub fn counted_copies(copies: &[CachedOutput]) -> String {
    let uploads = copies.iter().filter(|copy| parse_name(&copy.key).is_some());
    let uploads = uploads.count();
    let outputs = counted(copies.len() - uploads, "output");
    match uploads {
        0 => outputs,
        uploads => format!("{outputs} and {}", counted(uploads, "uploaded file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::output_cache;
    use crate::testing;

    fn task(key: &str, created: u64, urls: &[&str]) -> Task {
        let mut task = testing::task(key, created);
        let file = |url: &&str| UploadedFile {
            parameter: "image".into(),
            url: (*url).into(),
            name: "cat.png".into(),
        };
        task.uploads = urls.iter().map(file).collect();
        task
    }

    #[test]
    fn names_of_uploads_and_outputs_differ() {
        let key = TaskKey("k-1".into());
        let name = name(&key, 12);
        assert_eq!(parse_name(&name), Some((key.clone(), 12)));
        assert_eq!(output_cache::parse_name(&name), None);
        assert_eq!(parse_name(&key.output(1)), None);
    }

    #[test]
    fn copies_of_outputs_and_uploads_are_counted_separately() {
        let copy = |key: &str| CachedOutput {
            key: key.into(),
            url: String::new(),
            bytes: 1,
            kept: 0,
            shown: 0,
        };
        let copies = ["a/0", "a/1", "a/upload-0"].map(copy);
        assert_eq!(counted_copies(&copies[..2]), "2 outputs");
        assert_eq!(counted_copies(&copies), "2 outputs and 1 uploaded file");
    }

    #[test]
    fn a_file_of_several_tasks_is_copied_once() {
        let (a, b) = (task("a", 2, &["/1", "/2", "/1"]), task("b", 1, &["/2"]));
        let tasks = [&a, &b];
        assert_eq!(name_of("/1", &tasks).as_deref(), Some("a/upload-0"));
        assert_eq!(name_of("/3", &tasks), None);
        assert_eq!(names_of(&a, &tasks), ["a/upload-0"]);
        assert_eq!(names_of(&b, &tasks), ["b/upload-0"]);
    }
}
