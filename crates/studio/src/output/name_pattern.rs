//! Names of downloaded files by a pattern of the user's, such as `{date}_{model}_{seed}`. The names are valid on all file
//! systems, and unique within an archive.

use std::collections::{HashMap, HashSet};
use std::fmt;

use atelier_contract::is_secret_name;
use atelier_engine::Task;

use crate::form::{control, seed};
use crate::output::file_name::{is_reserved, slug};
use crate::text::calendar::{Day, Local};
use crate::text::plural::listed;

/// The pattern that is suggested when the user switches patterns on.
pub const SUGGESTED: &str = "{date}_{model}_{prompt}_{seed}_{index}";

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 200;
/// The maximum length of a value in a name, in characters.
const MAX_VALUE: usize = 60;
/// The maximum length of a name without the number that makes it unique and the extension, in bytes.
const MAX_STEM: usize = 200;

/// Characters between placeholders, which disappear next to an empty value.
const SEPARATORS: [char; 5] = ['-', '_', ' ', '.', ','];

/// A value in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Date,
    Time,
    Model,
    Prompt,
    Seed,
    Index,
    Task,
}

impl Placeholder {
    const ALL: [(&str, Self); 7] = [
        ("date", Self::Date),
        ("time", Self::Time),
        ("model", Self::Model),
        ("prompt", Self::Prompt),
        ("seed", Self::Seed),
        ("index", Self::Index),
        ("task", Self::Task),
    ];
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(Placeholder),
}

/// The names of the files in an archive.
#[derive(Debug, Default)]
pub struct TakenNames {
    /// In lower case, because some file systems are case-insensitive.
    names: HashSet<String>,
    /// The last number that was added to a name. Without it, thousands of files of the same name would take minutes.
    last: HashMap<String, usize>,
}

impl TakenNames {
    /// Adds a name. Returns whether it is new.
    pub fn add(&mut self, name: &str) -> bool {
        self.names.insert(name.to_lowercase())
    }

    /// Adds a name, with a number if it is taken, and returns it.
    pub fn unique(&mut self, stem: &str, extension: &str) -> String {
        let first = with_extension(stem, extension);
        let mut name = first.clone();
        while !self.add(&name) {
            let last = self.last.entry(first.to_lowercase()).or_insert(1);
            *last += 1;
            name = with_extension(&format!("{stem}-{last}"), extension);
        }
        name
    }
}

/// A pattern of file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<Part>,
}

/// The reason why a pattern can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternError {
    Empty,
    /// A name in braces that is no placeholder.
    Unknown(String),
    /// A brace without its counterpart.
    Unbalanced,
    /// The pattern has no placeholder, so all files would have the same name.
    Constant,
    TooLong,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "The pattern is empty: enter one, such as {SUGGESTED}."),
            Self::Unknown(name) => {
                write!(f, "Unknown placeholder {{{name}}}: use {}.", placeholders())
            }
            Self::Unbalanced => write!(
                f,
                "A brace has no counterpart: write placeholders like {{date}}, and no other braces."
            ),
            Self::Constant => write!(
                f,
                "All files would have the same name: add a placeholder, such as {{prompt}} or {{index}}."
            ),
            Self::TooLong => write!(
                f,
                "The pattern is too long: use at most {MAX_PATTERN} bytes."
            ),
        }
    }
}

/// Returns the list of placeholders as text.
pub fn placeholders() -> String {
    listed(&Placeholder::ALL.map(|(name, _)| format!("{{{name}}}")))
}

/// The values of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameValues {
    /// When the file was made.
    pub made: Local,
    pub model: String,
    pub prompt: String,
    pub seed: String,
    pub index: String,
    pub task: String,
}

impl NameValues {
    /// Returns the values of output `n` (from 1) of a task. The index is the number of the task in its batch, followed by
    /// `n` if the task has several outputs; outside a batch it is `n`. `total`: the number of items or outputs, so that names
    /// sort like them; 1 if it is not known.
    pub fn of(task: &Task, n: usize, made: Local, total: usize) -> Self {
        let values = task.input.values();
        let width = total.to_string().len().max(2);
        let seed = values.get(seed::NAME).filter(|seed| !seed.is_null());
        let index = match &task.batch {
            None => format!("{n:0width$}"),
            Some(place) if task.outputs().len() < 2 => format!("{:0width$}", place.index + 1),
            Some(place) => format!("{:0width$}-{n}", place.index + 1),
        };
        // A value that may be a secret must not become part of a file name.
        let is_public = task
            .input
            .title_name()
            .is_some_and(|it| !is_secret_name(it));
        Self {
            made,
            model: task.model.subcategory.clone(),
            prompt: match is_public {
                true => task.input.title().to_owned(),
                false => String::new(),
            },
            seed: seed.map(control::text).unwrap_or_default(),
            index,
            task: task.key.0.clone(),
        }
    }

    /// Returns values for the preview in the settings.
    pub fn example() -> Self {
        Self {
            made: Local {
                day: Day {
                    year: 2026,
                    month: 3,
                    day: 12,
                },
                hour: 14,
                minute: 5,
            },
            model: "tessera".into(),
            prompt: "A lighthouse at dusk".into(),
            seed: "42".into(),
            index: "01".into(),
            task: "k7f2m9".into(),
        }
    }

    fn text(&self, placeholder: Placeholder) -> String {
        let value = match placeholder {
            Placeholder::Date => return self.made.day.iso(),
            Placeholder::Time => {
                let Local { hour, minute, .. } = self.made;
                return format!("{hour:02}-{minute:02}");
            }
            Placeholder::Model => &self.model,
            Placeholder::Prompt => &self.prompt,
            Placeholder::Seed => &self.seed,
            Placeholder::Index => &self.index,
            Placeholder::Task => &self.task,
        };
        slug(value, MAX_VALUE)
    }
}

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// See [`PatternError`], whose text is a message for the user.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            if !rest[at..].starts_with('{') {
                return Err(PatternError::Unbalanced);
            }
            if at > 0 {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            let (name, after) = rest[at + 1..]
                .split_once('}')
                .ok_or(PatternError::Unbalanced)?;
            let known = Placeholder::ALL
                .iter()
                .find(|(known, _)| name.trim().eq_ignore_ascii_case(known));
            let (_, placeholder) =
                known.ok_or_else(|| PatternError::Unknown(name.trim().to_owned()))?;
            parts.push(Part::Value(*placeholder));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        match parts.iter().any(|part| matches!(part, Part::Value(_))) {
            true => Ok(Self { parts }),
            false => Err(PatternError::Constant),
        }
    }

    /// Returns the name of a file.
    pub fn name(&self, values: &NameValues, extension: &str) -> String {
        with_extension(&self.stem(values), extension)
    }

    /// Returns a name that is not in `taken`, and adds it: if necessary, with a number.
    pub fn unique_name(
        &self,
        taken: &mut TakenNames,
        values: &NameValues,
        extension: &str,
    ) -> String {
        taken.unique(&self.stem(values), extension)
    }

    fn stem(&self, values: &NameValues) -> String {
        let mut stem = String::new();
        let mut is_after_empty = false;
        for part in &self.parts {
            match part {
                // One of two separators around an empty value disappears.
                Part::Text(text) if is_after_empty && stem.is_empty() => {
                    stem.push_str(text.trim_start_matches(SEPARATORS));
                }
                Part::Text(text) => stem.push_str(text),
                Part::Value(placeholder) => {
                    let value = values.text(*placeholder);
                    is_after_empty = value.is_empty();
                    match is_after_empty {
                        true => stem.truncate(stem.trim_end_matches(SEPARATORS).len()),
                        false => stem.push_str(&value),
                    }
                }
            }
        }
        portable(&stem)
    }
}

/// Replaces what a file system does not allow in the name of a file.
fn portable(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => name.push('-'),
            c if c.is_control() || is_invisible(c) => {}
            // All kinds of spaces, which look the same.
            c if c.is_whitespace() => name.push(' '),
            c => name.push(c),
        }
    }
    name.truncate(name.floor_char_boundary(MAX_STEM));
    // A leading dot hides a file, a leading hyphen makes it an option of commands, and Windows removes dots and spaces at
    // the end.
    let name = name
        .trim_start_matches(['.', ' ', '-'])
        .trim_end_matches(['.', ' ', '-', '_']);
    let device = name.split('.').next().unwrap_or_default().trim_end();
    match name {
        "" => "atelier".to_owned(),
        name if is_reserved(device) => format!("_{name}"),
        name => name.to_owned(),
    }
}

/// Whether a character is not visible itself, but changes how the text around it is shown, such as its direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

fn with_extension(stem: &str, extension: &str) -> String {
    match slug(extension, 12) {
        extension if extension.is_empty() => stem.to_owned(),
        extension => format!("{stem}.{extension}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;
    use atelier_engine::{BatchKey, BatchPlace};
    use proptest::prelude::*;
    use serde_json::json;

    fn example(pattern: &str) -> String {
        let pattern = NamePattern::parse(pattern).unwrap();
        pattern.name(&NameValues::example(), "png")
    }

    #[test]
    fn all_placeholders_are_replaced() {
        assert_eq!(
            example("{date} {time} {model} {prompt} {seed} {index} {task}"),
            "2026-03-12 14-05 tessera a-lighthouse-at-dusk 42 01 k7f2m9.png"
        );
        assert_eq!(example("My {Model} ({ seed })"), "My tessera (42).png");
    }

    #[test]
    fn unusable_patterns_are_explained() {
        let message = |pattern: &str| NamePattern::parse(pattern).unwrap_err().to_string();
        assert!(message("  ").starts_with("The pattern is empty"));
        let unknown = message("{date}_{sed}");
        assert!(
            unknown.starts_with("Unknown placeholder {sed}: use {date}"),
            "{unknown}"
        );
        assert!(message("{date").contains("brace"));
        assert!(message("date}").contains("brace"));
        assert!(message("picture").contains("same name"));
        assert!(message(&"{date}".repeat(50)).contains("too long"));
    }

    #[test]
    fn separators_of_empty_values_disappear() {
        let mut values = NameValues::example();
        values.seed = String::new();
        let name = |pattern: &str| NamePattern::parse(pattern).unwrap().name(&values, "png");
        assert_eq!(name("{model}_{seed}_{index}"), "tessera_01.png");
        assert_eq!(name("{seed}_{model}"), "tessera.png");
        assert_eq!(name("{model}-{seed}"), "tessera.png");
        assert_eq!(name("{seed}"), "atelier.png");
    }

    #[test]
    fn names_are_unique_within_an_archive() {
        let pattern = NamePattern::parse("{model}").unwrap();
        let (mut taken, mut values) = (TakenNames::default(), NameValues::example());
        let mut name = |values: &NameValues| pattern.unique_name(&mut taken, values, "png");
        assert_eq!(name(&values), "tessera.png");
        assert_eq!(name(&values), "tessera-2.png");
        assert_eq!(name(&values), "tessera-3.png");
        values.model = "tessera-2".into();
        assert_eq!(name(&values), "tessera-2-2.png");
    }

    /// Guards against a search that starts at the first number for each file.
    #[test]
    fn many_files_of_the_same_name_are_numbered() {
        let mut taken = TakenNames::default();
        let names: HashSet<String> = (0..20_000).map(|_| taken.unique("a", "png")).collect();
        assert!(names.len() == 20_000 && names.contains("a-20000.png"));
    }

    #[test]
    fn reserved_and_invisible_names_are_changed() {
        let of_model = |pattern: &str, model: &str| {
            let values = NameValues {
                model: model.into(),
                ..NameValues::example()
            };
            NamePattern::parse(pattern).unwrap().name(&values, "png")
        };
        assert_eq!(of_model("{model}", "con"), "_con.png");
        assert_eq!(of_model("COM¹.{model}", "a"), "_COM¹.a.png");
        assert_eq!(of_model("NUL.{model}", "a"), "_NUL.a.png");
        assert_eq!(of_model("..{model}. ", "a"), "a.png");
        assert_eq!(of_model("a/..\\{model}:x", "b"), "a-..-b-x.png");
        assert_eq!(of_model("x\u{202e}{model}\u{7}", "gpj"), "xgpj.png");
    }

    #[test]
    fn values_come_from_the_task() {
        let mut task = task("k1", 1);
        let input = json!({"model": {"category": "image", "subcategory": "tessera"},
            "values": {"prompt": "A sea", "seed": 7}});
        task.input = serde_json::from_value(input).unwrap();
        let made = NameValues::example().made;
        assert_eq!(NameValues::of(&task, 3, made, 1).index, "03");
        task.batch = Some(BatchPlace {
            batch: BatchKey("b".into()),
            index: 4,
        });
        let values = NameValues::of(&task, 1, made, 100);
        assert_eq!(
            (&*values.index, &*values.seed, &*values.task),
            ("005", "7", "k1")
        );
    }

    /// A text that may be a secret must not become part of a file name.
    #[test]
    fn likely_secrets_are_not_in_names() {
        let mut task = task("k1", 1);
        let input = json!({"model": {"category": "image", "subcategory": "tessera"},
            "values": {"api_key": "sk-1"}});
        task.input = serde_json::from_value(input).unwrap();
        let values = NameValues::of(&task, 1, NameValues::example().made, 1);
        assert_eq!(values.prompt, "");
    }

    proptest! {
        #[test]
        fn any_pattern_and_values_give_valid_names(text in ".{0,80}", model in ".{0,300}", prompt in ".{0,300}", extension in ".{0,9}") {
            let Ok(pattern) = NamePattern::parse(&format!("{}{{model}}{{prompt}}", text.replace(['{', '}'], ""))) else {
                return Ok(());
            };
            let values = NameValues { model, prompt, ..NameValues::example() };
            let (mut taken, mut names) = (TakenNames::default(), HashSet::new());
            for _ in 0..3 {
                let name = pattern.unique_name(&mut taken, &values, &extension);
                prop_assert!(!name.is_empty() && name.len() <= 255, "{}", name);
                prop_assert!(!name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']), "{}", name);
                prop_assert!(!name.chars().any(|c| c.is_control() || is_invisible(c)), "{:?}", name);
                prop_assert!(!name.ends_with(['.', ' ']) && !name.starts_with(['.', ' ', '-']), "{}", name);
                prop_assert!(!is_reserved(name.split('.').next().unwrap_or_default()), "{}", name);
                names.insert(name.to_lowercase());
            }
            prop_assert_eq!(names.len(), 3);
        }

        #[test]
        fn parsing_never_fails_with_a_panic(text in "\\PC{0,60}|[{}a-z ]{0,30}") {
            drop(NamePattern::parse(&text));
        }
    }
}
