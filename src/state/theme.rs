//! The color theme: light, dark or the system's. The style sheets contain the colors. `index.html` sets the stored theme
//! before the first paint.

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

    /// Returns the stored theme.
    fn read_stored() -> Self {
        let stored = LocalStore::Browser.read(THEME).unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|theme| theme.word() == stored)
            .unwrap_or_default()
    }

    /// Returns the chosen theme as a signal, which follows other tabs.
    pub fn follow() -> RwSignal<Self> {
        let theme = RwSignal::new(Self::read_stored());
        local::on_change(THEME, move || {
            let stored = Self::read_stored();
            stored.show();
            theme.try_set(stored);
        });
        theme
    }

    /// Returns the next theme, in a cycle.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|theme| *theme == self);
        Self::ALL[at.map_or(0, |at| (at + 1) % Self::ALL.len())]
    }

    /// Stores the choice for all tabs, and applies it.
    pub fn choose(self, chosen: RwSignal<Self>) {
        chosen.set(self);
        match self {
            Theme::System => LocalStore::Browser.remove(THEME),
            _ => {
                // If storage refuses, the theme applies to this visit only.
                LocalStore::Browser.write(THEME, self.word());
            }
        }
        self.show();
    }

    fn show(self) {
        let Some(root) = document().document_element() else {
            return;
        };
        // Setting this attribute can't fail, and a failure would only affect the looks.
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
    fn stored_theme_is_read_and_written_in_the_same_format() {
        let stored = || LocalStore::Browser.read("atelier.theme");
        let root = document().document_element().expect("a root");
        let chosen = ArcRwSignal::new(Theme::default()).into();
        for (word, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
            LocalStore::Browser.write("atelier.theme", word);
            assert_eq!(Theme::read_stored(), theme);
            LocalStore::Browser.remove("atelier.theme");
            theme.choose(chosen);
            assert_eq!(chosen.get_untracked(), theme);
            assert_eq!(stored().as_deref(), Some(word));
            assert_eq!(root.get_attribute("data-theme").as_deref(), Some(word));
        }
        // Nothing is stored for the system's theme, as at the first visit.
        Theme::System.choose(chosen);
        assert_eq!(stored(), None);
        assert_eq!(root.get_attribute("data-theme"), None);
        assert_eq!(Theme::read_stored(), Theme::System);
        LocalStore::Browser.write("atelier.theme", "of a later version");
        assert_eq!(Theme::read_stored(), Theme::System);
        LocalStore::Browser.remove("atelier.theme");
    }
}
