//! Makes names of downloaded files that are valid on all file systems: without separators, without characters and names
//! that Windows reserves, and with a limited length.

use std::collections::HashSet;

use atelier_contract::ModelId;

use crate::text::fold;

/// The maximum length of a prompt in a name, so that the name stays well below 255 bytes.
const MAX_TITLE: usize = 40;
const MAX_MODEL: usize = 40;
const MAX_SEED: usize = 24;
/// The maximum number of bytes before the number and the extension.
const MAX_STEM: usize = 200;

/// Returns `{subcategory}-{slug of each part}-{n}.{ext}` for output `n` (from 1) of a task.
pub fn output(model: &ModelId, parts: &[&str], n: usize, extension: &str) -> String {
    let slugs = parts.iter().map(|part| slug(part, MAX_TITLE));
    let slugs = [slug(&model.subcategory, MAX_MODEL)]
        .into_iter()
        .chain(slugs);
    let slugs: Vec<String> = slugs.filter(|slug| !slug.is_empty()).collect();
    let mut stem = slugs.join("-");
    // Limit the bytes, because letters of other scripts have several bytes.
    stem.truncate(stem.floor_char_boundary(MAX_STEM));
    joined(&[stem, n.to_string()], extension, "-")
}

/// Returns `{index}-{slug of title}-{n}.{ext}` for output `n` (from 1) of item `index` (from 1) out of `total`. The index is
/// zero-padded, so that names sort like the items, and are unique.
pub fn in_archive(index: usize, total: usize, title: &str, n: usize, extension: &str) -> String {
    let width = total.to_string().len().max(2);
    let parts = [
        format!("{index:0width$}"),
        slug(title, MAX_TITLE),
        n.to_string(),
    ];
    joined(&parts, extension, "-")
}

/// Returns `{day}_{model}_seed-{seed}_{n}.{ext}` for output `n` (from 1) of a task, with a `day` like 2026-03-12, so
/// that files sort by date. If the name is in `taken`, a number is added. The name is added to `taken`.
pub fn dated(
    taken: &mut HashSet<String>,
    day: &str,
    (model, seed): (&ModelId, Option<&str>),
    n: usize,
    extension: &str,
) -> String {
    let seed = seed.map(|seed| format!("seed-{}", slug(seed, MAX_SEED)));
    let parts = [Some(slug(day, MAX_SEED)), Some(model_slug(model)), seed];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    let stem = parts.join("_");
    let mut name = joined(&[format!("{stem}_{n}")], extension, "");
    let mut more = 2;
    // Some file systems are case-insensitive.
    while !taken.insert(name.to_lowercase()) {
        name = joined(&[format!("{stem}_{n}_{more}")], extension, "");
        more += 1;
    }
    name
}

/// Returns `{name}_{model}.{ext}`.
pub fn of_model(name: &str, model: &ModelId, extension: &str) -> String {
    joined(&[name.to_owned(), model_slug(model)], extension, "_")
}

fn model_slug(model: &ModelId) -> String {
    let parts = [&model.category, &model.subcategory].map(|part| slug(part, MAX_MODEL));
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// Returns the name of a batch's archive or manifest: `{name}.{ext}`.
pub fn archive(name: &str, extension: &str) -> String {
    joined(&[slug(name, MAX_TITLE + MAX_MODEL)], extension, "-")
}

/// Returns the name of another file of a batch: `{name}-{what}.{ext}`. Long names are shortened.
pub fn of_batch(name: &str, what: &str, extension: &str) -> String {
    let name = slug(name, MAX_TITLE + MAX_MODEL - what.len() - 1);
    joined(&[name, what.to_owned()], extension, "-")
}

/// Returns the folded letters and digits of a text, with `-` in place of all other characters. Letters of other scripts
/// are preserved. A text of more than `most` characters is truncated, at the end of a word if that is in its second
/// half.
pub fn slug(text: &str, most: usize) -> String {
    let mut slug = String::new();
    let mut chars = 0;
    let mut last_gap = 0;
    for c in fold::fold(text).chars() {
        if chars >= most {
            if c.is_alphanumeric() && last_gap > slug.len() / 2 {
                slug.truncate(last_gap);
            }
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            last_gap = slug.len();
            slug.push('-');
        } else {
            continue;
        }
        chars += 1;
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn joined(parts: &[String], extension: &str, by: &str) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    let stem = match parts.join(by) {
        stem if stem.is_empty() => "atelier".to_owned(),
        stem if is_reserved(&stem) => format!("{stem}-"),
        stem => stem,
    };
    let extension = slug(extension, 12);
    if extension.is_empty() {
        stem
    } else {
        format!("{stem}.{extension}")
    }
}

/// Whether Windows reserves the name for a device, in all folders and with any extension.
pub fn is_reserved(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase();
    let numbered = |name: &str| {
        let rest = lower.strip_prefix(name);
        let mut rest = rest.into_iter().flat_map(str::chars);
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³');
        rest.next().is_some_and(is_number) && rest.next().is_none()
    };
    matches!(
        lower.as_str(),
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$"
    ) || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_outputs() {
        let model = ModelId::new("image", "flux/dev");
        let name = |title| output(&model, &[title], 1, "png");
        assert_eq!(name("A café, at night!"), "flux-dev-a-cafe-at-night-1.png");
        assert_eq!(name(""), "flux-dev-1.png");
        assert_eq!(name("東京の夜"), "flux-dev-東京の夜-1.png");
        let parts = output(&model, &["a lake", "", "mist 0.5"], 3, "png");
        assert_eq!(parts, "flux-dev-a-lake-mist-0-5-3.png");
        let wide = "𠀀".repeat(40);
        let wide = output(&model, &[&wide, &wide], 1, "png");
        assert!(wide.len() <= 255 && wide.ends_with("𠀀-1.png"), "{wide}");
        assert_eq!(
            name("a very long prompt about a lighthouse keeper and his seven cats"),
            "flux-dev-a-very-long-prompt-about-a-lighthouse-1.png"
        );
        assert_eq!(
            in_archive(7, 1000, "../../etc/passwd", 2, "png"),
            "0007-etc-passwd-2.png"
        );
        assert_eq!(in_archive(7, 9, "", 2, ""), "07-2");
        assert_eq!(archive("CON", "zip"), "con-.zip");
        assert_eq!(of_batch("A sea", "grid", "png"), "a-sea-grid.png");
        let long = of_batch(&"very ".repeat(90), "grid", "png");
        assert!(long.ends_with("-grid.png"), "{long}");
        assert_eq!(archive("?!", "zip"), "atelier.zip");
    }

    #[test]
    fn selected_outputs_are_named_by_date_and_inputs() {
        let (model, mut taken) = (ModelId::new("image", "tessera"), HashSet::new());
        let mut name = |seed, n| dated(&mut taken, "2026-11-27", (&model, seed), n, "png");
        assert_eq!(
            name(Some("42"), 1),
            "2026-11-27_image-tessera_seed-42_1.png"
        );
        assert_eq!(
            name(Some("42"), 2),
            "2026-11-27_image-tessera_seed-42_2.png"
        );
        assert_eq!(
            name(Some("42"), 1),
            "2026-11-27_image-tessera_seed-42_1_2.png"
        );
        assert_eq!(
            name(Some("42"), 1),
            "2026-11-27_image-tessera_seed-42_1_3.png"
        );
        assert_eq!(name(None, 1), "2026-11-27_image-tessera_1.png");
    }

    proptest! {
        #[test]
        fn any_text_gives_a_valid_name(category in ".{0,200}", title in ".{0,300}", extension in ".{0,9}", n in 1..50usize) {
            let model = ModelId::new(category.clone(), title.clone());
            for name in [output(&model, &[&title, &category], n, &extension), in_archive(n, 50, &title, n, &extension),
                         dated(&mut HashSet::new(), "2026-11-27", (&model, Some(&title)), n, &extension),
                         of_model("recipes", &model, &extension), archive(&title, &extension)] {
                prop_assert!(name.len() <= 255, "{}", name.len());
                prop_assert!(!name.is_empty() && !name.starts_with(['.', ' ']) && !name.ends_with(['.', ' ']));
                prop_assert!(!name.chars().any(|c| c.is_control() || r#"<>:"/\|?*"#.contains(c)), "{}", name);
                prop_assert!(!is_reserved(name.split('.').next().unwrap_or("")));
            }
        }
    }
}
