//! The file of an output, for saving and packing it.

use atelier_contract::ApiError;
use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::stored_output;
use atelier_studio::output::file_type;
use atelier_studio::output::output_access::MissingFileReason;
use web_sys::Blob;

use crate::browser::{file, http, peek};
use crate::runner::Runner;

/// Fetches the file at an output's address. `address`: the address of the service.
///
/// # Errors
///
/// See [`MissingFileReason`]. A reference to a stored output is not an address and gives [`MissingFileReason::NotStored`].
pub async fn fetch(url: &str, address: &str) -> Result<Blob, MissingFileReason> {
    if stored_output::is_reference(url) {
        return Err(MissingFileReason::NotStored);
    }
    let safe = SafeUrl::file(url, address).ok_or(MissingFileReason::NoAddress)?;
    match http::get_blob(safe.as_str(), u64::MAX).await {
        Ok(file) => Ok(file),
        Err(ApiError::Network { .. })
            if safe.is_link() && peek::is_unreadable(safe.as_str()).await =>
        {
            Err(MissingFileReason::Unreadable)
        }
        Err(error) => Err(MissingFileReason::Failed(error)),
    }
}

/// Returns the address of an output for use outside Atelier. For an output that was sent as data, this is a data URL of the
/// file in this browser, or `None` if that was deleted. `name`: the name of the output.
pub async fn address(runner: Runner, url: &str, name: &str) -> Option<String> {
    match stored_output::is_reference(url) {
        true => file::data_url(&runner.copy(name).await?).await,
        false => Some(url.to_owned()),
    }
}

/// Returns the extension for the name of a file, from its content, its MIME type and its address.
pub async fn extension(file: &Blob, url: &str, kind: OutputKind) -> String {
    let head = peek::head_of(file).await;
    file_type::extension(&head, &file.type_(), url, kind)
}
