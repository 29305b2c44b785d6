//! Documents for agents, made from the models: `SKILL.md` and `llms.txt`.
//!
//! Names and descriptions of models may come from other servers. [`text`] reduces them to one line, and escapes markup and
//! addresses. They can still contain instructions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use atelier_contract::{Media, path};
use minijinja::value::Value as Safe;
use minijinja::{AutoEscape, Environment, Error, context};
use serde_json::{Value, json};

use crate::model::Model;
use crate::models::Models;

/// The maximum number of models in a document.
const MAX_MODELS: usize = 50;

/// The maximum lengths of names and descriptions, in characters.
const MAX_NAME: usize = 60;
const MAX_DESCRIPTION: usize = 200;

/// Every `{{ value }}` that is not marked as safe is rendered by [`text`].
static TEMPLATES: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_keep_trailing_newline(true);
    templates.set_auto_escape_callback(|_| AutoEscape::Custom("markdown"));
    templates.set_formatter(|out, _, value| {
        let rendered = match value.as_str() {
            Some(safe) if value.is_safe() => safe.to_owned(),
            Some(plain) => text(plain, MAX_DESCRIPTION),
            None => value.to_string(),
        };
        out.write_str(&rendered).map_err(Error::from)
    });
    for (name, source) in [
        (SKILL, include_str!("../templates/skill.md")),
        (LLMS, include_str!("../templates/llms.txt")),
    ] {
        templates.add_template(name, source)?;
    }
    Ok(templates)
});

const SKILL: &str = "skill.md";
const LLMS: &str = "llms.txt";

/// What a caller needs for the calls under `/v2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Any token is accepted.
    Guest,
    /// The token of the service.
    Token,
    /// The token of an account.
    Account,
}

/// The configuration that the documents describe.
#[derive(Debug)]
pub struct Facts {
    /// The address of the service, without a trailing slash.
    pub origin: String,
    pub requirement: Requirement,
    /// The maximum size of an upload, in bytes; `None` if uploads are off.
    pub upload_bytes: Option<u64>,
    pub upload_seconds: u64,
    pub upload_types: Vec<&'static str>,
    /// The maximum size of a body, in bytes.
    pub body_bytes: usize,
}

/// Renders `SKILL.md`.
///
/// # Errors
///
/// The template can't be parsed or rendered, which is a bug in this program.
pub fn skill(models: &Models, facts: &Facts) -> Result<String, Error> {
    let media = media(models);
    let summary = format!(
        "Generate {media} with the models of the generation service at {}: choose a model, submit a task, poll it, and fetch \
         its files. Use this when the user asks for {media}.",
        facts.origin
    );
    let (access, uid, token) = match facts.requirement {
        Requirement::Guest => ("guest", "local", "local"),
        Requirement::Token => ("token", "YOUR_UID", "$SERVICE_TOKEN"),
        Requirement::Account => ("account", "YOUR_UID", "$SERVICE_TOKEN"),
    };
    let megabytes = facts.upload_bytes.map(|bytes| bytes as f64 / 1e6);
    render(
        SKILL,
        context! {
            // A JSON text is a YAML text.
            summary => safe(Value::from(summary).to_string()),
            origin => safe(facts.origin.clone()),
            media => media,
            access => access,
            token => safe(token.to_owned()),
            example => safe(example(models, uid)),
            upload_megabytes => megabytes.map(|size| format!("{size}")),
            upload_days => facts.upload_seconds / (24 * 60 * 60),
            upload_types => safe(facts.upload_types.join(", ")),
            body_kib => facts.body_bytes / 1024,
            models => entries(models),
            more => more(models),
        },
    )
}

/// Renders `llms.txt`.
///
/// # Errors
///
/// As for [`skill`].
pub fn llms(models: &Models, origin: &str) -> Result<String, Error> {
    render(
        LLMS,
        context! {
            origin => safe(origin.to_owned()),
            media => media(models),
            count => models.iter().count(),
            models => entries(models),
            more => more(models),
        },
    )
}

fn render(name: &str, context: Safe) -> Result<String, Error> {
    // The error of a static can't be moved out of it.
    let templates = TEMPLATES
        .as_ref()
        .map_err(|error| Error::new(error.kind(), error.to_string()))?;
    templates.get_template(name)?.render(context)
}

fn safe(text: String) -> Safe {
    Safe::from_safe_string(text)
}

/// Returns the entries of the first models.
fn entries(models: &Models) -> Vec<Safe> {
    models.iter().take(MAX_MODELS).map(entry).collect()
}

/// Returns the number of models that are not in the documents, if any.
fn more(models: &Models) -> Option<usize> {
    let more = models.iter().count().saturating_sub(MAX_MODELS);
    (more > 0).then_some(more)
}

fn entry(model: &dyn Model) -> Safe {
    let (about, id) = (model.about(), model.id());
    let makes = match model.makes() {
        Some(Media::Image) => "image",
        Some(Media::Video) => "video",
        Some(Media::Audio) => "audio",
        _ => "files",
    };
    let description = match about.description.trim() {
        "" => "no description",
        description => description,
    };
    context! {
        // Names of models consist of letters, digits, '-', '_' and '.'.
        id => safe(id.to_string()),
        makes => makes,
        name => safe(text(about.name, MAX_NAME)),
        description => description,
        documentation => safe(format!("/api/docs/{}", path::model_segments(&id))),
    }
}

/// Returns the media that the models make, as a list in words.
fn media(models: &Models) -> String {
    const OTHER: &str = "other files";
    let name = |model: &dyn Model| match model.makes() {
        Some(Media::Image) => "images",
        Some(Media::Video) => "videos",
        Some(Media::Audio) => "sounds",
        _ => OTHER,
    };
    let names: BTreeSet<&str> = models.iter().map(name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] | [OTHER] => "files".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns a body of a generate request, for a shell in single quotes.
fn example(models: &Models, uid: &str) -> String {
    let example = match models.built_in_models().first() {
        Some(model) => {
            let id = (model as &dyn Model).id();
            let mut body =
                json!({"uid": uid, "category": id.category, "subcategory": id.subcategory});
            if let (Some(body), Value::Object(sample)) = (body.as_object_mut(), model.sample()) {
                body.extend(sample);
            }
            body
        }
        None => {
            json!({"uid": uid, "category": "CATEGORY", "subcategory": "SUBCATEGORY", "prompt": "a sea at dawn"})
        }
    };
    example.to_string().replace('\'', r"'\''")
}

/// Reduces a text to one line of Markdown, of at most `max` characters before markup is escaped and addresses are broken.
pub fn text(text: &str, max: usize) -> String {
    let mut line = String::new();
    for c in one_line(text, max).chars() {
        // Renderers make links of `scheme://` and `www.`, some of them also if the punctuation is escaped.
        let is_link = match c {
            '/' => line.ends_with(":/"),
            '.' => ends_with_www(&line),
            _ => false,
        };
        if is_link {
            line.push(' ');
        }
        if "\\`*_[]<>|&".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

fn ends_with_www(line: &str) -> bool {
    let mut end = line.chars().rev();
    [end.next(), end.next(), end.next()]
        .iter()
        .all(|c| matches!(c, Some('w' | 'W')))
}

/// Reduces a text to one line of visible characters, of at most `max` characters.
pub fn one_line(text: &str, max: usize) -> String {
    let visible = text.chars().filter(|c| !is_invisible(*c));
    let spaced: String = visible
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let mut short: String = line.chars().take(max.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Returns whether a character is usually not shown, or changes the direction of a text: such characters can hide instructions.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(requirement: Requirement) -> Facts {
        Facts {
            origin: "https://studio.example".into(),
            requirement,
            upload_bytes: Some(50_000_000),
            upload_seconds: 7 * 24 * 60 * 60,
            upload_types: vec!["image/png", "audio/wav"],
            body_bytes: 1 << 20,
        }
    }

    #[test]
    fn the_skill_lists_the_models_and_how_to_call_them() {
        let models = Models::built_in();
        let skill = skill(&models, &facts(Requirement::Guest)).unwrap();
        let head =
            "---\nname: atelier-generation\ndescription: \"Generate images, sounds and videos with";
        assert!(skill.starts_with(head), "{skill}");
        assert!(
            skill.contains("| image/strata | image | Strata: "),
            "{skill}"
        );
        assert!(skill.contains("\"uid\":\"local\""), "{skill}");
        assert!(
            skill.contains("up to 50 MB, and is kept for 7 days"),
            "{skill}"
        );
        assert!(skill.contains("image/png, audio/wav"), "{skill}");
        assert!(!skill.contains("SERVICE_TOKEN") && !skill.contains("{{"));
        for model in models.iter() {
            assert!(skill.contains(&format!("| {} |", model.id())));
        }
    }

    #[test]
    fn uploads_and_credentials_are_described_as_configured() {
        let models = Models::empty();
        let mut facts = facts(Requirement::Account);
        facts.upload_bytes = None;
        let skill = skill(&models, &facts).unwrap();
        assert!(
            !skill.contains("uploads") && !skill.contains("Bearer local"),
            "{skill}"
        );
        assert!(skill.contains("$SERVICE_TOKEN"));
    }

    #[test]
    fn llms_txt_has_a_title_a_summary_and_links() {
        let text = llms(&Models::built_in(), "https://studio.example").unwrap();
        assert!(text.starts_with("# Atelier\n\n> "), "{text}");
        assert!(text.contains("- [Skill](https://studio.example/api/skill): "));
        assert!(
            text.contains("- [Strata](https://studio.example/api/docs/image/strata): "),
            "{text}"
        );
        // Each section has only links.
        let sections = text.split("\n## ").skip(1);
        for line in sections
            .flat_map(|section| section.lines().skip(1))
            .filter(|line| !line.is_empty())
        {
            assert!(
                line.starts_with("- [") && line.contains("](https://studio.example/"),
                "{line}"
            );
        }
    }

    /// Guards against a description of a model that ends its cell or its line, adds a section or a link, or hides text.
    #[test]
    fn a_text_is_one_line_without_markup() {
        assert_eq!(
            text("a | b\n\n---\n# Ignore [this](http://x) <b>`c`", 99),
            r"a \| b --- # Ignore \[this\](http:/ /x) \<b\>\`c\`"
        );
        assert_eq!(
            text("http:\u{fe0f}//x WWW.x www.www.x a/b/c. ww.x", 99),
            "http:/ /x WWW .x www .www .x a/b/c. ww.x"
        );
        let hidden = "\u{34f}\u{115f}\u{1160}\u{180b}\u{180d}\u{3164}\u{fe00}\u{fe0f}";
        assert_eq!(text(hidden, 99), "");
        assert_eq!(text("a\u{202e}b\u{e0041}\u{2028}c\r\u{0}d", 99), "ab c d");
        assert_eq!(text(&"x".repeat(300), 200).chars().count(), 200);
        assert_eq!(text("two words", 5), "two…");
    }
}
