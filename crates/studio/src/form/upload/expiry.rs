//! Files that were uploaded and that the service has deleted since.

use std::collections::HashMap;

use atelier_contract::Uploaded;
use atelier_engine::Millis;

/// A file that expires within this time is treated as expired, in milliseconds: a task needs it for a while.
const MARGIN_MS: Millis = 60_000;

/// Whether the service may have deleted an uploaded file by now.
pub fn is_expired(uploaded: &Uploaded, now: Millis) -> bool {
    let expires_ms = uploaded.expires_at.map(|at| at.saturating_mul(1000));
    expires_ms.is_some_and(|at| at <= now.saturating_add(MARGIN_MS))
}

/// Whether the address of a file is one at which the service keeps files, so that it can be checked. `files`: the address
/// of the folder of the service's files.
pub fn is_of_service(url: &str, files: &str) -> bool {
    url.strip_prefix(files)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Returns whether the reply with this status to a request for a file says that there is no such file; `None` if it says
/// neither.
pub fn is_missing(status: u16) -> Option<bool> {
    match status {
        200..400 => Some(false),
        404 | 410 => Some(true),
        _ => None,
    }
}

/// The files that the service was found to have, by their addresses, with the times.
#[derive(Debug, Default)]
pub struct FoundFiles(HashMap<String, Millis>);

impl FoundFiles {
    pub fn add(&mut self, address: &str, now: Millis) {
        self.0.insert(address.to_owned(), now);
    }

    pub fn remove(&mut self, address: &str) {
        self.0.remove(address);
    }

    /// Whether a file was found within this time, in milliseconds.
    pub fn has(&self, address: &str, within_ms: Millis, now: Millis) -> bool {
        let found = self.0.get(address);
        // A time in the future means that the clock was set back since.
        let age = found.and_then(|at| now.checked_sub(*at));
        age.is_some_and(|age| age < within_ms)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Returns the message for a file that is uploaded again.
pub fn renewed(name: &str) -> String {
    format!("The service no longer has {name}. It is uploaded again.")
}

/// Returns the message for a file that was uploaded before a reload and has expired since.
pub fn lost(name: &str) -> String {
    format!("The service no longer has {name}. Choose it again.")
}

/// Returns the message after Generate was pressed with a file that the service has deleted.
pub fn not_sent(name: &str) -> String {
    format!(
        "Not sent: the service no longer has {name}. Choose it again, or enter another address."
    )
}

/// The message for a file that has to be chosen again.
pub const LOST: &str =
    "The service has no file at this address. Choose the file again, or enter another address.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_expire_a_moment_before_the_service_deletes_them() {
        let expires = |expires_at| Uploaded {
            expires_at,
            ..Uploaded::default()
        };
        assert!(!is_expired(&expires(None), Millis::MAX));
        assert!(!is_expired(
            &expires(Some(1_000)),
            1_000_000 - MARGIN_MS - 1
        ));
        assert!(is_expired(&expires(Some(1_000)), 1_000_000 - MARGIN_MS));
        assert!(!is_expired(&expires(Some(u64::MAX)), 1_000_000));
    }

    /// Guards against a file that counts as present, or as lost, because of a refusal or an error of the service.
    #[test]
    fn only_a_success_or_not_found_tells_whether_there_is_a_file() {
        for status in [200, 206, 304] {
            assert_eq!(is_missing(status), Some(false), "{status}");
        }
        for status in [404, 410] {
            assert_eq!(is_missing(status), Some(true), "{status}");
        }
        for status in [0, 401, 403, 405, 429, 500, 503] {
            assert_eq!(is_missing(status), None, "{status}");
        }
    }

    /// Guards against a task that is sent with a file that was never found, or was found long ago.
    #[test]
    fn files_are_found_until_they_are_lost_or_some_time_has_passed() {
        let mut found = FoundFiles::default();
        assert!(!found.has("a", 10, 5));
        found.add("a", 5);
        assert!(found.has("a", 10, 14));
        assert!(!found.has("b", 10, 14));
        assert!(!found.has("a", 10, 15));
        // The clock was set back.
        assert!(!found.has("a", 10, 4));
        found.remove("a");
        assert!(!found.has("a", 10, 7));
    }

    #[test]
    fn only_files_of_the_service_are_checked() {
        let files = "https://a.example/outputs";
        assert!(is_of_service("https://a.example/outputs/1.png", files));
        assert!(!is_of_service("https://a.example/outputs-2/1.png", files));
        assert!(!is_of_service("https://b.example/outputs/1.png", files));
        assert!(!is_of_service("data:image/png;base64,AA", files));
    }
}
