//! Files that were uploaded and that the service has deleted since.

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

/// Returns the message for a file that is uploaded again.
pub fn renewed(name: &str) -> String {
    format!("The service no longer has {name}. It is uploaded again.")
}

/// Returns the message for a file that was uploaded before a reload and has expired since.
pub fn lost(name: &str) -> String {
    format!("The service no longer has {name}. Choose it again.")
}

/// Returns the message for a form with a file that the service has deleted. It begins like the one about a list.
pub fn lost_in_form(name: &str) -> String {
    format!(
        "Not sent: {name} is not uploaded. The service no longer has it: choose it again, or enter another address."
    )
}

/// Returns the message for a batch with a file that the service has deleted.
pub fn lost_in_batch(name: &str) -> String {
    format!(
        "Not sent: the service no longer has {name}. Enter another address in the rows that use it, or upload it again."
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

    #[test]
    fn only_files_of_the_service_are_checked() {
        let files = "https://a.example/outputs";
        assert!(is_of_service("https://a.example/outputs/1.png", files));
        assert!(!is_of_service("https://a.example/outputs-2/1.png", files));
        assert!(!is_of_service("https://b.example/outputs/1.png", files));
        assert!(!is_of_service("data:image/png;base64,AA", files));
    }
}
