//! Fills the form with what was found in a file that the user has opened.

use std::cell::RefCell;

use atelier_contract::ModelId;
use atelier_studio::navigation::route::{Route, with_query_value};
use atelier_studio::recipe_file::FoundRecipe;

use crate::browser::chosen::ChosenFile;

/// The query parameter that asks for what was found.
pub const FROM_FILE: &str = "from-file";

/// What the form gets from a file.
pub enum FromFile {
    /// The inputs with which the file was generated.
    Recipe(FoundRecipe),
    /// The file itself, for a media parameter of this name.
    Input(String, ChosenFile),
}

thread_local! {
    static WAITING: RefCell<Option<(ModelId, FromFile)>> = const { RefCell::new(None) };
}

/// Sets what the form of a model gets next. Returns the address of the form.
pub fn offer(model: ModelId, found: FromFile) -> String {
    let address =
        Route::Model(model.clone()).path() + &with_query_value("", FROM_FILE, Some("yes"));
    WAITING.set(Some((model, found)));
    address
}

/// Returns what was found for a model, once; `None` after a reload.
pub fn take(model: &ModelId) -> Option<FromFile> {
    let (of, found) = WAITING.take()?;
    (of == *model).then_some(found)
}
