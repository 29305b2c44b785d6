//! Light, dark, or as the system says. The stylesheet does the rest; `index.html` sets the kept
//! choice before the first paint.

use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};

const THEME: &str = "atelier.theme";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    pub fn word(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn kept() -> Self {
        let kept = LocalStore::Browser.read(THEME).unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|theme| theme.word() == kept)
            .unwrap_or_default()
    }

    /// What is chosen, here or in another tab.
    pub fn follow() -> RwSignal<Self> {
        let theme = RwSignal::new(Self::kept());
        local::on_change(THEME, move || {
            let kept = Self::kept();
            kept.show();
            theme.try_set(kept);
        });
        theme
    }

    /// The one after it, of all in turn.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|theme| *theme == self);
        Self::ALL[at.map_or(0, |at| (at + 1) % Self::ALL.len())]
    }

    /// Keeps the choice, for all tabs, and shows it.
    pub fn choose(self, chosen: RwSignal<Self>) {
        chosen.set(self);
        match self {
            Theme::System => LocalStore::Browser.remove(THEME),
            _ => {
                // If storage refuses, the theme holds for this visit.
                LocalStore::Browser.write(THEME, self.word());
            }
        }
        self.show();
    }

    fn show(self) {
        let Some(root) = document().document_element() else {
            return;
        };
        // A root element without attributes refuses nothing; the theme is no more than looks.
        let _ = match self {
            Theme::System => root.remove_attribute("data-theme"),
            _ => root.set_attribute("data-theme", self.word()),
        };
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_stored_choice_is_read_and_written_as_it_was() {
        let stored = || LocalStore::Browser.read("atelier.theme");
        let root = document().document_element().expect("a root");
        let chosen = ArcRwSignal::new(Theme::default()).into();
        for (word, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
            LocalStore::Browser.write("atelier.theme", word);
            assert_eq!(Theme::kept(), theme);
            LocalStore::Browser.remove("atelier.theme");
            theme.choose(chosen);
            assert_eq!(chosen.get_untracked(), theme);
            assert_eq!(stored().as_deref(), Some(word));
            assert_eq!(root.get_attribute("data-theme").as_deref(), Some(word));
        }
        // Stored as nothing, as at the first visit: the next system may have another one.
        Theme::System.choose(chosen);
        assert_eq!(stored(), None);
        assert_eq!(root.get_attribute("data-theme"), None);
        assert_eq!(Theme::kept(), Theme::System);
        LocalStore::Browser.write("atelier.theme", "of a later version");
        assert_eq!(Theme::kept(), Theme::System);
        LocalStore::Browser.remove("atelier.theme");
    }
}
