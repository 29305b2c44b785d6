//! The file of an output, for saving and packing it.

use atelier_contract::ApiError;
use atelier_engine::file_type;
use atelier_engine::output::{OutputKind, SafeUrl};
use atelier_engine::output_access::NoFile;
use web_sys::Blob;

use crate::browser::{http, peek};

/// Fetches the file at an output's address. `address`: that of the service.
///
/// # Errors
///
/// Why there is none: see [`NoFile`].
pub async fn fetch(url: &str, address: &str) -> Result<Blob, NoFile> {
    let safe = SafeUrl::media(url, address).ok_or(NoFile::NoAddress)?;
    match http::get_blob(safe.as_str(), u64::MAX).await {
        Ok(file) => Ok(file),
        Err(ApiError::Network { .. })
            if safe.is_link() && peek::is_unreadable(safe.as_str()).await =>
        {
            Err(NoFile::Unreadable)
        }
        Err(error) => Err(NoFile::Failed(error)),
    }
}

/// The extension for the name of this file, by what it is.
pub async fn extension(file: &Blob, url: &str, kind: OutputKind) -> String {
    let head = peek::head_of(file).await;
    file_type::extension(&head, &file.type_(), url, kind)
}
