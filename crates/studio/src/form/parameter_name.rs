//! Which parameter a person means who has written none of its names.

use atelier_contract::{Parameter, Schema};

use crate::text::fold;

/// A name by its letters and digits: `Aspect Ratio` as `aspect_ratio`.
pub fn spelling(name: &str) -> String {
    let mut spelling = fold::fold(name);
    spelling.retain(char::is_alphanumeric);
    spelling
}

/// Words of names that are cut short.
const SHORT: [(&str, &str); 6] = [
    ("num", "number of"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("img", "image"),
    ("fps", "frames per second"),
    ("lang", "language"),
];

/// Titles that are longer, in bytes, are no names.
const MAX_TITLE: usize = 60;

/// What a parameter's name says in full: the schema's title, else the name with its short words spelled out, as
/// `Number of outputs`. `None` where that is only the name once more.
pub fn in_full(parameter: &Parameter) -> Option<String> {
    let name = &parameter.name;
    let says_more = |label: &String| {
        let written = spelling(label);
        label.len() <= MAX_TITLE && !written.is_empty() && written != spelling(name)
    };
    let title = parameter.extra.get("title").and_then(|it| it.as_str());
    let title = title.map(str::to_owned).filter(says_more);
    title.or_else(|| {
        let words = name.split('_').map(|word| {
            let known = SHORT.iter().find(|(short, _)| *short == word);
            known.map_or(word, |(_, full)| full)
        });
        let label = words.collect::<Vec<_>>().join(" ");
        let first = label.get(..1)?.to_ascii_uppercase();
        Some(first + &label[1..]).filter(says_more)
    })
}

/// The one parameter that this is nearly the name of. `is_free`: it has no value of its own yet.
pub fn meant<'a>(
    name: &str,
    schema: &'a Schema,
    is_free: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let written: Vec<char> = spelling(name).chars().collect();
    let mut nearest: Option<(usize, &str)> = None;
    let mut is_clear = false;
    for (parameter, _) in schema.parameters() {
        let other: Vec<char> = spelling(&parameter.name).chars().collect();
        let slips = slips(&written, &other);
        if slips > allowed(written.len().min(other.len())) || !is_free(&parameter.name) {
            continue;
        }
        match nearest {
            Some((least, _)) if least < slips => {}
            Some((least, _)) if least == slips => is_clear = false,
            _ => (nearest, is_clear) = (Some((slips, parameter.name.as_str())), true),
        }
    }
    nearest.filter(|_| is_clear).map(|(_, name)| name)
}

/// In a short name every letter counts.
fn allowed(letters: usize) -> usize {
    match letters {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    }
}

/// Letters that are missing, too many, others, or changed with their neighbour.
fn slips(one: &[char], other: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut now = vec![at + 1];
        for (beside, its) in other.iter().enumerate() {
            let replaced = last[beside] + usize::from(letter != its);
            let mut least = replaced.min(last[beside + 1] + 1).min(now[beside] + 1);
            let is_changed =
                at > 0 && beside > 0 && one[at - 1] == *its && *letter == other[beside - 1];
            if is_changed {
                let before: &Vec<usize> = &before;
                least = least.min(before[beside - 1] + 1);
            }
            now.push(least);
        }
        before = std::mem::replace(&mut last, now);
    }
    last[other.len()]
}

/// Whether a text names a secret of the model, however it is spelled, and so may hold its value.
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
    fn a_name_is_told_in_full_where_that_says_more() {
        let told = |name: &str, title: &str| {
            let parameter = json!({"name": name, "type": "integer", "title": title});
            in_full(&Parameter::from_value(parameter).unwrap())
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
            assert_eq!(told(name, title).as_deref(), expected, "{name}");
        }
        assert_eq!(told("prompt", &"a".repeat(1_000)), None);
    }

    #[test]
    fn a_slip_of_the_hand_is_understood_and_what_may_be_two_is_not() {
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
            assert_eq!(meant(written, &schema, |_| true), expected, "{written}");
        }
        // What has a value is not meant once more.
        assert_eq!(meant("promt", &schema, |name| name != "prompt"), None);
    }
}
