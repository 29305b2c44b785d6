//! Removes location and camera data from pictures before they are sent, unless the user keeps them.

use atelier_studio::form::upload::unreadable::{self, unreadable};
use atelier_studio::form::upload::{acceptance, metadata};
use web_sys::Blob;

use crate::browser::clean_picture::{self, Cleaned};
use crate::browser::local::LocalStore;

const KEY: &str = "atelier.keep-metadata";

/// Whether the user keeps the data.
pub fn keeps_metadata() -> bool {
    LocalStore::Browser.read(KEY).is_some()
}

/// Stores the choice of the user. Returns whether the browser did so.
pub fn set_keeps_metadata(keeps: bool) -> bool {
    if keeps {
        return LocalStore::Browser.write(KEY, "true");
    }
    LocalStore::Browser.remove(KEY);
    !keeps_metadata()
}

/// A picture that can be sent.
pub struct Prepared {
    pub content: Blob,
    /// The message at the field; empty if there is none.
    pub note: &'static str,
}

/// Prepares a picture for sending. `types`: the types that the service accepts; empty if they are unknown.
///
/// # Errors
///
/// A sentence for the user: the file can't be read, browsers can't read its format, or the data can't be removed.
pub async fn prepare(
    name: &str,
    content: &Blob,
    types: &[String],
    keeps_metadata: bool,
) -> Result<Prepared, String> {
    let head = clean_picture::head(content, unreadable::HEAD).await;
    let head = head.ok_or_else(|| acceptance::unreadable_file(name))?;
    let format = unreadable(&head);
    if let Some(refusal) = format.and_then(|format| format.refusal(name, types)) {
        return Err(refusal);
    }
    let unchanged = |note| {
        let content = content.clone();
        Ok(Prepared { content, note })
    };
    if keeps_metadata {
        return unchanged("");
    }
    match clean_picture::clean(content).await {
        Ok(Cleaned::Unchanged) => unchanged(""),
        Ok(Cleaned::HasCredentials) => unchanged(metadata::CREDENTIALS),
        Ok(Cleaned::Changed(content)) => Ok(Prepared {
            content,
            note: metadata::REMOVED,
        }),
        Err(_) => Err(metadata::cannot_redraw(name)),
    }
}
