//! Fetches the files that a server has made, by the addresses in its answer.

use std::time::Duration;

use super::Run;
use super::addresses::Origin;
use super::file;
use super::http::{CallError, Client};
use crate::models::Ended;
use crate::outputs::Artifact;

/// How long one try may take.
const FETCH: Duration = Duration::from_secs(120);

/// Fetches a file from where `client`'s server says that it is. What is paid for is tried again when the
/// connection breaks.
///
/// # Errors
///
/// [`Ended::Failed`] if the address is none that may be fetched, or the file did not come within the run's
/// time; [`Ended::Stopped`] when the service stops.
pub fn fetch(run: &Run<'_>, client: &Client, text: &str) -> Result<Artifact, Ended> {
    if let Some(file) = file::of_data_uri(text) {
        return Ok(file);
    }
    let Some(uri) = client.policy().absolute(text) else {
        return Err(Ended::Failed(format!(
            "The output {text} can't be fetched: it is no http(s) address."
        )));
    };
    // Without path and query: a signed address is a secret.
    let place = Origin::of(&uri).map_or_else(String::new, |origin| origin.to_string());
    let mut wait = Duration::from_millis(500);
    loop {
        let (client, address) = (client.clone(), uri.to_string());
        let time = FETCH.min(run.time_left());
        let why = match run.wait_for(move || client.get(&address, time))? {
            Ok(reply) if reply.is_success() => {
                return Ok(file::artifact(reply.body, &reply.content_type, uri.path()));
            }
            Ok(reply) => reply.reason(),
            Err(CallError::Refused(why)) => return Err(Ended::Failed(why)),
            Err(error) => error.to_string(),
        };
        tracing::warn!("task {}: an output at {place}: {why}", run.id);
        run.pause(wait)?;
        wait = (wait * 2).min(Duration::from_secs(15));
    }
}
