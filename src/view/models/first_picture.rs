//! The button that generates a first picture from a sample prompt.

use atelier_contract::{Draft, Entry, Model};
use atelier_studio::form::seed::{self, Seeded};
use atelier_studio::navigation::route::Route;

use crate::browser::random;
use crate::reactive::boxed::spawn;
use crate::reactive::until::until;
use crate::runner::Runner;
use crate::state::catalog::{Catalog, Load};
use crate::state::navigation::Navigation;
use crate::view::model::suggest;

const PROMPT: &str = "An alpine lake at dawn, teal and rose";

/// Opens the model's page with a sample prompt, and submits it if the model requires no other input.
pub fn make(catalog: Catalog, navigation: Navigation, runner: Runner, model: Model) {
    let page = Route::Model(model.id.clone());
    // The prompt stays in the form, so that the user can change it and submit it again.
    suggest(&model.id, PROMPT);
    navigation.go(&page.path());
    spawn(async move {
        let id = model.id.clone();
        let schema = until(move || {
            if navigation.route() != page {
                // The user has left the page: don't submit.
                return Some(None);
            }
            match catalog.schema(&id) {
                Load::Loading => None,
                Load::Failed(_) => Some(None),
                Load::Loaded(schema) => Some(Some(schema)),
            }
        });
        let Some(schema) = schema.await else {
            return;
        };
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(PROMPT.into()));
        let draft = seed::with_drawn_seed(&draft, &schema, random::bits());
        // If the model requires other input, the user fills in the form.
        if let Ok(input) = schema.validate(&draft, false)
            && runner.can_send()
            && schema.secrets.required.is_empty()
        {
            let is_chosen = false;
            runner.submit(Seeded { input, is_chosen }, model.display_name());
        }
    });
}
