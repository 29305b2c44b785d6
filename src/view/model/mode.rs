use atelier_studio::navigation::route::with_query_value;
use leptos::prelude::*;

use crate::reactive::boxed::{memo, when};
use crate::state::contexts::contexts;
use crate::view::parts::segment::segment;

const QUERY: &str = "mode";

/// The mode of a model's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Generates from one input.
    One,
    /// Composes a batch of inputs and shows its items.
    Batch,
    /// Offers Python files and code to use the model in other programs.
    Integrations,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::One, Self::Batch, Self::Integrations];

    fn name(self) -> &'static str {
        match self {
            Self::One => "One",
            Self::Batch => "Batch",
            Self::Integrations => "Integrations",
        }
    }

    /// Returns the text of the command that opens this mode.
    pub fn does(self) -> &'static str {
        match self {
            Self::One => "Generate one",
            Self::Batch => "Compose a batch",
            Self::Integrations => "Download Python files",
        }
    }

    /// Returns the query of the URL in this mode.
    pub fn query(self) -> String {
        with_query_value("", QUERY, self.word())
    }

    /// Returns the value of the query parameter; `None` for the default mode.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::One => None,
            Self::Batch => Some("batch"),
            Self::Integrations => Some("integrations"),
        }
    }
}

/// Returns the mode from the URL.
pub fn mode() -> Memo<Mode> {
    let navigation = contexts().navigation;
    memo(move || {
        let word = navigation.query(QUERY);
        let found = Mode::ALL
            .into_iter()
            .find(|mode| mode.word() == word.as_deref());
        found.unwrap_or(Mode::One)
    })
}

/// Returns the control that chooses the mode.
pub fn mode_choice(chosen: Memo<Mode>) -> AnyView {
    let navigation = contexts().navigation;
    let choices = Mode::ALL
        .into_iter()
        .map(|mode| {
            let is_chosen = when(move || chosen.get() == mode);
            segment("mode", mode.name(), is_chosen, move || {
                navigation.set_query(QUERY, mode.word());
            })
        })
        .collect_view();
    view! {
        <div class="segments modes" role="radiogroup" aria-label="Mode">
            {choices}
        </div>
    }
    .into_any()
}
