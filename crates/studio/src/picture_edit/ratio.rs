//! The ratios to which a picture can be cropped.

use atelier_contract::{Draft, Entry, Schema};
use serde_json::Value;

use super::crop::Size;

/// Ratios that are always offered.
const COMMON: [Size; 7] = [(1, 1), (4, 3), (3, 4), (3, 2), (2, 3), (16, 9), (9, 16)];

/// A ratio that is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub label: String,
    /// Width divided by height; `None` for any ratio.
    pub ratio: Option<f64>,
}

/// Returns the choices: any ratio, that of the form, and common ones.
pub fn choices(form: Option<Size>) -> Vec<Choice> {
    let free = Choice {
        label: "Free".to_owned(),
        ratio: None,
    };
    let choice = |(width, height): Size, what: &str| Choice {
        label: format!("{width}:{height}{what}"),
        ratio: Some(f64::from(width) / f64::from(height)),
    };
    let of_form = form.map(|form| choice(form, " (the form's)"));
    let common = COMMON.into_iter().map(|common| choice(common, ""));
    let all = [free].into_iter().chain(of_form).chain(common);
    all.collect()
}

/// Returns the ratio that a form asks for, in its parameters `aspect_ratio` or `size`, or `width` and `height`.
pub fn of_form(draft: &Draft, schema: &Schema) -> Option<Size> {
    let value = |name: &str| {
        let entry = draft.get(name).map(|entry| match entry {
            Entry::Value(value) => value.clone(),
            Entry::Text(text) => Value::from(text.as_str()),
        });
        let default = || schema.parameter(name)?.0.default.clone();
        entry.or_else(default)
    };
    let side = |value: Value| {
        let number = match &value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_u64(),
        };
        number.and_then(|number| u32::try_from(number).ok())
    };
    let text = |name: &str| {
        let value = value(name)?;
        let (width, height) = value.as_str()?.split_once([':', 'x', '*', '/', '×'])?;
        Some((side(width.into())?, side(height.into())?))
    };
    let sides = || Some((side(value("width")?)?, side(value("height")?)?));
    let found = text("aspect_ratio").or_else(|| text("size")).or_else(sides);
    found.and_then(reduced)
}

/// Reduces a ratio to lowest terms; `None` if a side is 0.
fn reduced((width, height): Size) -> Option<Size> {
    let (mut a, mut b) = (width, height);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (width > 0 && height > 0).then(|| (width / a, height / a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(parameters: Value, entries: &[(&str, Entry)]) -> Option<Size> {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [], "optional": parameters},
        });
        let schema = Schema::from_value(schema).unwrap();
        let mut draft = Draft::default();
        for (name, entry) in entries {
            draft.set((*name).to_owned(), entry.clone());
        }
        of_form(&draft, &schema)
    }

    #[test]
    fn the_ratio_comes_from_the_draft() {
        let text = |text: &str| Entry::Text(text.into());
        let none = json!([]);
        assert_eq!(
            find(none.clone(), &[("aspect_ratio", text("16:9"))]),
            Some((16, 9))
        );
        assert_eq!(
            find(none.clone(), &[("size", text("1024x768"))]),
            Some((4, 3))
        );
        let sides = [
            ("width", text(" 800 ")),
            ("height", Entry::Value(json!(600))),
        ];
        assert_eq!(find(none.clone(), &sides), Some((4, 3)));
        assert_eq!(find(none.clone(), &[("aspect_ratio", text("auto"))]), None);
        assert_eq!(find(none.clone(), &[("size", text("0x5"))]), None);
        assert_eq!(find(none, &[]), None);
        let default = json!([{"name": "aspect_ratio", "type": "string", "default": "3:2"}]);
        assert_eq!(find(default, &[]), Some((3, 2)));
    }

    #[test]
    fn the_ratio_of_the_form_is_offered_first() {
        let labels = |form| -> Vec<String> {
            choices(form)
                .into_iter()
                .map(|choice| choice.label)
                .collect()
        };
        assert_eq!(labels(None)[..2], ["Free", "1:1"]);
        assert_eq!(labels(Some((21, 9)))[..2], ["Free", "21:9 (the form's)"]);
    }
}
