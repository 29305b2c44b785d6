use std::sync::Arc;

use crate::state::contexts::contexts;
use atelier_contract::ApiError;
use leptos::prelude::*;

use crate::browser::http;
use crate::reactive::boxed::spawn;
use crate::state::catalog::Load;

/// A text file of the service's, fetched once: what is shown, copied and downloaded is the same.
#[derive(Clone)]
pub struct ServiceFile {
    /// What it is, e.g. `The OpenAI function file`.
    pub what: &'static str,
    /// What it is saved as.
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

    /// The file, tracked; it is loading until it is asked for.
    pub fn load(&self) -> Load<Arc<String>> {
        self.load.get()
    }

    pub fn fetch(&self) {
        self.load.set(Load::Loading);
        let this = self.clone();
        spawn(async move {
            // A failure shows where the file would.
            let _ = this.text().await;
        });
    }

    /// What is there, or else what the service answers.
    ///
    /// # Errors
    ///
    /// As for [`http::get_text`].
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
