//! Makes messages about a service that does not return a resource, so that its cached version is shown.

use atelier_contract::{ApiError, ServiceAddress};

use crate::{BlockReason, MissingCredentials};

/// Returns the banner for a service that can't be reached. `error` is the result of the last request for its models,
/// unless one is in flight.
pub fn notice(block_reason: Option<&BlockReason>, error: Option<&ApiError>) -> Option<String> {
    match (block_reason, error) {
        (Some(reason @ (BlockReason::Offline | BlockReason::Unreachable)), _) => {
            Some(reason.user_message(0))
        }
        // Other block reasons have their own messages.
        (Some(_), _) => None,
        // The service may still accept tasks.
        (None, Some(ApiError::Server { .. } | ApiError::Timeout { .. })) => {
            Some("The service does not answer properly at present.".into())
        }
        (None, _) => Some("The service can't be reached. New tasks wait until it answers.".into()),
    }
}

/// Returns the message for a cached resource. `what` is `These models are` or `This form is`, `when` is `10:32`. With
/// `is_explained`, the page already shows the reason.
pub fn stale_message(error: &ApiError, what: &str, when: &str, is_explained: bool) -> String {
    let why = match error {
        _ if is_explained => return format!("{what} from {when}."),
        ApiError::Server { status, .. } if !error.is_unreachable() => {
            format!("The service has an internal error (HTTP {status}).")
        }
        // Other calls to the service may succeed.
        ApiError::Server { .. } | ApiError::Timeout { .. } => {
            "No newer data is available at present.".to_owned()
        }
        ApiError::RateLimited { .. } => "The service asks for fewer calls at present.".to_owned(),
        _ => "The service can't be reached.".to_owned(),
    };
    format!("{why} {what} from {when}.")
}

/// Returns advice on a call to this address that failed. `page_origin` is the origin of the page.
pub fn advice(
    error: &ApiError,
    address: &ServiceAddress,
    page_origin: &str,
) -> Option<&'static str> {
    match error {
        ApiError::Network { .. } | ApiError::Timeout { .. } | ApiError::Server { .. } => {
            Some(match address.is_same_origin() && is_loopback(page_origin) {
                true => {
                    "Is the service running? Start it with ./dev serve. Another service's address is set \
                     in Settings."
                }
                false => "Is the service running? Its address is set in Settings.",
            })
        }
        ApiError::Malformed { .. } | ApiError::NotFound { .. } => {
            Some("Check the service address in Settings.")
        }
        _ => None,
    }
}

/// Whether the page is served from the user's own machine.
fn is_loopback(page_origin: &str) -> bool {
    let Some((_, host)) = page_origin.split_once("://") else {
        return false;
    };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .filter_map(|loopback| host.strip_prefix(loopback))
        .any(|port| port.is_empty() || port.starts_with(':'))
}

/// Why nothing can be sent while User ID and token are not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAccount {
    /// The service has not reported yet whether it accepts guests.
    Asking,
    /// The service can't be reached.
    Unreachable,
    /// The service has since reported that it accepts guests.
    TakesGuests,
    /// The service requires an account.
    Needed(MissingCredentials),
}

impl NoAccount {
    /// Returns the message that follows `Not sent.` For `Needed`, a link to Settings follows the message.
    pub fn user_message(self) -> &'static str {
        match self {
            Self::Asking => {
                "It is not known yet whether this service needs an account. Press again in a moment."
            }
            Self::Unreachable => "The service does not answer. Press again once it does.",
            Self::TakesGuests => "The service has answered since: press again.",
            Self::Needed(missing) => missing.user_message(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> ApiError {
        ApiError::from_status(status, None, None)
    }

    fn network() -> ApiError {
        ApiError::Network { detail: "x".into() }
    }

    #[test]
    fn a_cached_resource_shows_why_and_its_time() {
        let models = "These models are";
        let silent = "The service can't be reached. These models are from 10:32.";
        for error in [network(), ApiError::not_json(b"<html>")] {
            assert_eq!(stale_message(&error, models, "10:32", false), silent);
        }
        // Guards against "can't be reached" if only the model list is unavailable.
        for error in [ApiError::Timeout { after_ms: 9 }, status(504)] {
            assert_eq!(
                stale_message(&error, models, "10:32", false),
                "No newer data is available at present. These models are from 10:32."
            );
        }
        assert_eq!(
            stale_message(&status(429), models, "10:32", false),
            "The service asks for fewer calls at present. These models are from 10:32."
        );
        assert_eq!(
            stale_message(&status(500), "This form is", "yesterday 09:05", false),
            "The service has an internal error (HTTP 500). This form is from yesterday 09:05."
        );
    }

    #[test]
    fn explains_an_outage_once() {
        let models = "These models are";
        assert_eq!(
            stale_message(&network(), models, "10:32", true),
            "These models are from 10:32."
        );
        let notice = |reason: Option<BlockReason>, error: Option<ApiError>| {
            super::notice(reason.as_ref(), error.as_ref())
        };
        // The message is still shown while the service is asked again.
        let silent = notice(None, Some(network()));
        assert!(silent.as_ref().unwrap().contains("can't be reached"));
        assert_eq!(notice(None, None), silent);
        for (reason, message) in [
            (BlockReason::Offline, "You are offline."),
            (BlockReason::Unreachable, "Waiting tasks are sent"),
        ] {
            assert!(notice(Some(reason), None).unwrap().contains(message));
        }
        assert_eq!(
            notice(Some(BlockReason::Unauthorized), Some(network())),
            None
        );
        // Guards against "can't be reached" if only the model list is unavailable.
        for error in [ApiError::Timeout { after_ms: 9 }, status(504)] {
            let message = notice(None, Some(error)).unwrap();
            assert!(!message.contains("can't be reached"), "{message}");
        }
    }

    /// Users of another machine can't run `./dev serve`.
    #[test]
    fn shows_the_start_command_on_loopback_only() {
        let own = ServiceAddress::default();
        let other = ServiceAddress::parse("http://127.0.0.1:9000").unwrap();
        let names_it = |address: &ServiceAddress, origin: &str| {
            let message = advice(&network(), address, origin).unwrap();
            message.contains("./dev serve")
        };
        for origin in [
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:8080",
        ] {
            assert!(names_it(&own, origin), "{origin}");
            assert!(!names_it(&other, origin), "{origin}");
        }
        for origin in [
            "https://studio.example",
            "http://localhost.studio.example",
            "http://127.0.0.1.studio.example:80",
            "null",
        ] {
            assert!(!names_it(&own, origin), "{origin}");
        }
        assert_eq!(advice(&status(401), &own, "http://localhost"), None);
    }
}
