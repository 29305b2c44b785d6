//! The title of a browser's tab: what its page shows, and how many tasks are under way.

use crate::text::excerpt::excerpt;

const APP: &str = "Atelier";

/// A tab has no room for more, a list of tabs or of visited pages has.
const MAX_CHARS: usize = 60;

/// `parts`: from what is most its own to what it belongs to; empty ones are left out. `active`: tasks under way.
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

    /// Guards against tabs that can't be told from each other.
    #[test]
    fn a_title_says_what_is_shown_and_what_is_under_way() {
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
