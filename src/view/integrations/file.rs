use std::sync::Arc;

use crate::state::contexts::contexts;
use atelier_contract::ApiError;
use leptos::prelude::*;

use crate::browser::http;
use crate::reactive::boxed::spawn;
use crate::state::catalog::Load;

/// A text file of the service. It is fetched once and then shown, copied and saved.
#[derive(Clone)]
pub struct ServiceFile {
    /// A description, e.g. `The OpenAI function file`.
    pub what: &'static str,
    /// The file name.
    pub name: String,
    url: String,
    load: RwSignal<Load<Arc<String>>>,
}

impl ServiceFile {
    pub fn new(what: &'static str, name: String, path: &str) -> Self {
        Self {
            what,
            name,
            url: contexts().session.settings_untracked().address.url(path),
            load: RwSignal::new(Load::Loading),
        }
    }

    /// Returns the file, which is [`Load::Loading`] until it is fetched; tracked.
    pub fn load(&self) -> Load<Arc<String>> {
        self.load.get()
    }

    /// Fetches the file.
    pub fn fetch(&self) {
        self.load.set(Load::Loading);
        let this = self.clone();
        spawn(async move {
            // An error is shown in place of the file.
            let _ = this.text().await;
        });
    }

    /// Returns the text, which is fetched if it is not loaded.
    ///
    /// # Errors
    ///
    /// Those of [`http::get_text`].
    pub async fn text(&self) -> Result<Arc<String>, ApiError> {
        if let Some(Load::Loaded(text)) = self.load.try_get_untracked() {
            return Ok(text);
        }
        let answer = http::get_text(&self.url).await.map(Arc::new);
        self.load.try_set(match &answer {
            Ok(text) => Load::Loaded(text.clone()),
            Err(error) => Load::Failed(error.clone()),
        });
        answer
    }
}
