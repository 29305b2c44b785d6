//! Makes the title of a browser tab from the page and the number of active tasks.

use crate::text::excerpt::excerpt;

const APP: &str = "Atelier";

/// The maximum length of a part. It fits in a list of tabs and in the browser history.
const MAX_CHARS: usize = 60;

/// Returns the title. `parts`: the parts of the title, the most specific first; empty parts are skipped. `active`: the
/// number of active tasks.
pub fn tab_title(parts: &[&str], active: usize) -> String {
    let named = parts.iter().map(|part| excerpt(part, MAX_CHARS));
    let mut parts: Vec<String> = named.filter(|part| !part.is_empty()).collect();
    parts.push(APP.to_owned());
    let title = parts.join(" · ");
    match active {
        0 => title,
        n => format!("({n}) {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different pages must have different titles.
    #[test]
    fn a_title_shows_the_page_and_the_active_tasks() {
        assert_eq!(tab_title(&[], 0), "Atelier");
        assert_eq!(tab_title(&["Gallery"], 0), "Gallery · Atelier");
        assert_eq!(tab_title(&[" ", "Strata"], 2), "(2) Strata · Atelier");
        let long = "a lake at dawn ".repeat(9);
        let title = tab_title(&[&long, "Strata"], 0);
        assert!(title.starts_with("a lake at dawn a lake"));
        assert!(title.ends_with("… · Strata · Atelier"), "{title}");
        assert!(title.chars().count() < 90);
    }
}
