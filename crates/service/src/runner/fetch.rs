//! Fetches a server's output files by the addresses in its response.

use std::time::Duration;

use ureq::http::Uri;

use super::Run;
use super::addresses::Origin;
use super::file;
use super::http::{CallError, Client};
use crate::model::Ended;
use crate::outputs::Artifact;

/// The timeout of one try.
const FETCH: Duration = Duration::from_secs(120);

/// The maximum number of tries if the server responds with a permanent 4xx status.
const MAX_REFUSALS: u32 = 4;

/// The maximum number of tries after other errors, or without a response.
const MAX_TRIES: u32 = 8;

/// Fetches a file from an address in a response of `client`'s server. Retries a few times, because the file may have
/// been paid for, but gives up before the run's time limit expires.
///
/// # Errors
///
/// [`Ended::Failed`], with the address, if fetching from it is not allowed, or if the file was not received;
/// [`Ended::Stopped`] when the service stops.
pub fn fetch(run: &Run<'_>, client: &Client, text: &str) -> Result<Artifact, Ended> {
    if let Some(file) = file::of_data_uri(text) {
        return Ok(file);
    }
    let Some(uri) = client.policy().absolute(text) else {
        return Err(Ended::Failed(format!(
            "The output can't be fetched: {} is not an http(s) address.",
            text.chars().take(200).collect::<String>()
        )));
    };
    let name = uri.path().to_owned();
    fetch_from(run, client, &uri, &name, false)
}

/// Fetches the file called `name` from an address. With `keeps_file`, tries without a response don't count toward the
/// maximum, because the server keeps the file while the server is unavailable.
///
/// # Errors
///
/// As for [`fetch`].
pub fn fetch_from(
    run: &Run<'_>,
    client: &Client,
    uri: &Uri,
    name: &str,
    keeps_file: bool,
) -> Result<Artifact, Ended> {
    // The log contains only the origin, because a signed address is a secret.
    let origin = Origin::of(uri).map_or_else(String::new, |origin| origin.to_string());
    let mut wait = Duration::from_millis(500);
    let (mut tries, mut counted) = (0, 0);
    loop {
        let (client, address) = (client.clone(), uri.to_string());
        let time = FETCH.min(run.time_left());
        tries += 1;
        let fetched = match run.wait_for(move || client.get(&address, time)) {
            Err(Ended::Failed(why)) => return Err(not_fetched(uri, tries, &why)),
            fetched => fetched?,
        };
        let (why, status, requested_wait) = match fetched {
            Ok(reply) if reply.is_success() => {
                return Ok(file::artifact(reply.body, &reply.content_type, name));
            }
            Ok(reply) => (reply.reason(), Some(reply.status), reply.retry_after),
            Err(CallError::Refused(why)) => return Err(Ended::Failed(why)),
            Err(error) => (error.to_string(), None, None),
        };
        let shown = (run.hide)(&why);
        tracing::warn!("task {}: an output at {origin}: {shown}", run.id);
        wait = wait.max(requested_wait.unwrap_or_default());
        counted += u32::from(status.is_some() || !keeps_file);
        if counted >= max_tries(status) || wait >= run.time_left() {
            return Err(not_fetched(uri, tries, &why));
        }
        run.pause(wait)?;
        wait = (wait * 2).min(Duration::from_secs(15));
    }
}

fn not_fetched(uri: &Uri, tries: u32, why: &str) -> Ended {
    Ended::Failed(format!(
        "The output at {uri} could not be fetched after {tries} tries: {why}. Try to open the address: the \
         file may have been paid for."
    ))
}

/// Returns the maximum number of tries, by the status of the last response, if any.
fn max_tries(status: Option<u16>) -> u32 {
    match status {
        Some(408 | 425 | 429) | None => MAX_TRIES,
        Some(..=499) => MAX_REFUSALS,
        Some(_) => MAX_TRIES,
    }
}
