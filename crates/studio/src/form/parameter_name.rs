//! Compares names with parameters: finds the parameter that a misspelled name means, and spells out abbreviations.

use atelier_contract::{Parameter, Schema};

use crate::text::fold;

/// Normalizes a name to its letters and digits: `Aspect Ratio` and `aspect_ratio` are equal.
pub fn spelling(name: &str) -> String {
    let mut spelling = fold::fold(name);
    spelling.retain(char::is_alphanumeric);
    spelling
}

/// Abbreviations in names.
const ABBREVIATIONS: [(&str, &str); 6] = [
    ("num", "number of"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("img", "image"),
    ("fps", "frames per second"),
    ("lang", "language"),
];

/// The maximum length of a title in bytes. Longer titles are not used as names.
const MAX_TITLE: usize = 60;

/// Returns the full name of a parameter: the schema's title, else the name with its abbreviations expanded, such as
/// `Number of outputs`. `None` if it adds nothing to the name.
pub fn full_name(parameter: &Parameter) -> Option<String> {
    let name = &parameter.name;
    let adds_something = |label: &String| {
        let written = spelling(label);
        label.len() <= MAX_TITLE && !written.is_empty() && written != spelling(name)
    };
    let title = parameter.extra.get("title").and_then(|it| it.as_str());
    let title = title.map(str::to_owned).filter(adds_something);
    title.or_else(|| {
        let words = name.split('_').map(|word| {
            let known = ABBREVIATIONS.iter().find(|(short, _)| *short == word);
            known.map_or(word, |(_, full)| full)
        });
        let label = words.collect::<Vec<_>>().join(" ");
        let first = label.get(..1)?.to_ascii_uppercase();
        Some(first + &label[1..]).filter(adds_something)
    })
}

/// Returns the parameter with the most similar name; `None` if no name is similar, or if two are equally similar.
/// `is_free`: whether a parameter has no value yet; others are ignored.
pub fn similar_parameter<'a>(
    name: &str,
    schema: &'a Schema,
    is_free: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let written: Vec<char> = spelling(name).chars().collect();
    let mut nearest: Option<(usize, &str)> = None;
    let mut is_clear = false;
    for (parameter, _) in schema.parameters() {
        let other: Vec<char> = spelling(&parameter.name).chars().collect();
        let distance = edit_distance(&written, &other);
        if distance > max_distance(written.len().min(other.len())) || !is_free(&parameter.name) {
            continue;
        }
        match nearest {
            Some((least, _)) if least < distance => {}
            Some((least, _)) if least == distance => is_clear = false,
            _ => (nearest, is_clear) = (Some((distance, parameter.name.as_str())), true),
        }
    }
    nearest.filter(|_| is_clear).map(|(_, name)| name)
}

/// Returns the maximum edit distance between similar names. It is 0 for short names, because they differ in few
/// letters.
fn max_distance(letters: usize) -> usize {
    match letters {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    }
}

/// Returns the edit distance (Damerau–Levenshtein): inserted, deleted, replaced and swapped letters.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut now = vec![at + 1];
        for (column, its) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != its);
            let mut least = replaced.min(last[column + 1] + 1).min(now[column] + 1);
            let is_changed =
                at > 0 && column > 0 && one[at - 1] == *its && *letter == other[column - 1];
            if is_changed {
                let before: &Vec<usize> = &before;
                least = least.min(before[column - 1] + 1);
            }
            now.push(least);
        }
        before = std::mem::replace(&mut last, now);
    }
    last[other.len()]
}

/// Whether a text contains the name of a secret parameter in any spelling. Such a text may contain its value, too.
pub fn names_secret(text: &str, schema: &Schema) -> bool {
    let mut names = schema.secret_parameters();
    let has_name = |name: &str| spelling(text).contains(&spelling(name));
    names.any(|(parameter, _)| has_name(&parameter.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_name_is_returned_only_if_it_adds_something() {
        let full = |name: &str, title: &str| {
            let parameter = json!({"name": name, "type": "integer", "title": title});
            full_name(&Parameter::from_value(parameter).unwrap())
        };
        for (name, title, expected) in [
            ("num_outputs", "", Some("Number of outputs")),
            ("num_outputs", "Num Outputs", Some("Number of outputs")),
            ("max_fps", "", Some("Maximum frames per second")),
            ("cfg", "Guidance", Some("Guidance")),
            ("aspect_ratio", "Aspect Ratio", None),
            ("prompt", "", None),
            ("größe", "", None),
            ("_", "", None),
        ] {
            assert_eq!(full(name, title).as_deref(), expected, "{name}");
        }
        assert_eq!(full("prompt", &"a".repeat(1_000)), None);
    }

    #[test]
    fn a_typo_is_recognized_unless_it_is_ambiguous() {
        let parameter = |name: &&str| json!({"name": name, "type": "string"});
        let names = [
            "prompt",
            "negative_prompt",
            "seed",
            "width",
            "cfg",
            "size_x",
            "size_y",
        ];
        let optional: Vec<_> = names.iter().map(parameter).collect();
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [], "optional": optional}
        });
        let schema = Schema::from_value(schema).unwrap();
        for (written, expected) in [
            ("promt", Some("prompt")),
            ("Prompt", Some("prompt")),
            ("prompts", Some("prompt")),
            ("rpompt", Some("prompt")),
            ("negative prompt", Some("negative_prompt")),
            ("negativ_prmopt", Some("negative_prompt")),
            ("sede", Some("seed")),
            ("widht", Some("width")),
            ("cfh", None),
            ("CFG", Some("cfg")),
            ("size_z", None),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(
                similar_parameter(written, &schema, |_| true),
                expected,
                "{written}"
            );
        }
        // A parameter that has a value is not suggested.
        assert_eq!(
            similar_parameter("promt", &schema, |name| name != "prompt"),
            None
        );
    }
}
