use atelier_studio::navigation::route::with_query_value;
use leptos::prelude::*;

use crate::reactive::boxed::{memo, when};
use crate::state::contexts::contexts;
use crate::view::parts::segment::segment;

const QUERY: &str = "mode";

/// What a person does with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Generates from one input.
    One,
    /// Composes many inputs, and watches what becomes of them.
    Batch,
    /// Takes the model elsewhere.
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

    /// What a person does there, as a command.
    pub fn does(self) -> &'static str {
        match self {
            Self::One => "Generate one",
            Self::Batch => "Compose a batch",
            Self::Integrations => "Download Python files",
        }
    }

    /// The query of the model's address.
    pub fn query(self) -> String {
        with_query_value("", QUERY, self.word())
    }

    /// The word in the address.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::One => None,
            Self::Batch => Some("batch"),
            Self::Integrations => Some("integrations"),
        }
    }
}

/// The mode is in the address: a reload keeps it.
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

/// The choice of the mode.
pub fn modes(chosen: Memo<Mode>) -> AnyView {
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
