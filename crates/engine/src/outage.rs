//! The messages when the service does not give what was asked for, and its earlier answer is shown instead.

use atelier_contract::{ApiError, ServiceAddress};

use crate::{BlockReason, MissingCredentials};

/// Gives the message above every page while nothing answers at the service's address. `error` is the result of asking
/// for its models, if that is not being asked just now.
pub fn notice(block_reason: Option<&BlockReason>, error: Option<&ApiError>) -> Option<String> {
    match (block_reason, error) {
        (Some(reason @ (BlockReason::Offline | BlockReason::Unreachable)), _) => {
            Some(reason.user_message(0))
        }
        // Another reason says itself why nothing comes.
        (Some(_), _) => None,
        // Tasks may be taken all the same.
        (None, Some(ApiError::Server { .. } | ApiError::Timeout { .. })) => {
            Some("The service does not answer properly at present.".into())
        }
        (None, _) => Some("The service can't be reached. New tasks wait until it answers.".into()),
    }
}

/// Says that something is as the service described it some time ago. `what` is `These models are` or `This form is`,
/// `when` is `10:32`. The reason stands above the page already if `is_explained`.
pub fn as_of(error: &ApiError, what: &str, when: &str, is_explained: bool) -> String {
    let why = match error {
        _ if is_explained => return format!("{what} from {when}."),
        ApiError::Server { status, .. } if !error.is_unreachable() => {
            format!("The service has a problem of its own (HTTP {status}).")
        }
        // Everything else that is asked of it may be answered.
        ApiError::Server { .. } | ApiError::Timeout { .. } => {
            "Nothing newer can be had at present.".to_owned()
        }
        ApiError::RateLimited { .. } => "The service is asked too often at present.".to_owned(),
        _ => "The service can't be reached.".to_owned(),
    };
    format!("{why} {what} from {when}.")
}

/// Says what to do about a call that failed to this address, for a person who looks at a page of this origin.
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

/// Whether a person who looks at a page of this origin has started its server.
fn is_loopback(page_origin: &str) -> bool {
    let Some((_, host)) = page_origin.split_once("://") else {
        return false;
    };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .filter_map(|loopback| host.strip_prefix(loopback))
        .any(|port| port.is_empty() || port.starts_with(':'))
}

/// Why nothing can be sent without User ID and token, by what is known of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAccount {
    /// It has not said yet whether it takes guests.
    Asking,
    /// It can't be asked.
    Unreachable,
    /// It has said since that it takes guests.
    TakesGuests,
    /// It takes none.
    Needed(MissingCredentials),
}

impl NoAccount {
    /// What is said after `Not sent.`; of `Needed`, where they are set comes after it.
    pub fn user_message(self) -> &'static str {
        match self {
            Self::Asking => {
                "It is not known yet whether this service needs an account. Press again in a moment."
            }
            Self::Unreachable => "The service does not answer. Press again once it does.",
            Self::TakesGuests => "The service has answered since: press once more.",
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
    fn what_is_kept_says_why_it_is_shown_and_since_when_it_holds() {
        let models = "These models are";
        let silent = "The service can't be reached. These models are from 10:32.";
        for error in [network(), ApiError::not_json(b"<html>")] {
            assert_eq!(as_of(&error, models, "10:32", false), silent);
        }
        // Guards against a service that can't be reached where its list alone can't be had.
        for error in [ApiError::Timeout { after_ms: 9 }, status(504)] {
            assert_eq!(
                as_of(&error, models, "10:32", false),
                "Nothing newer can be had at present. These models are from 10:32."
            );
        }
        assert_eq!(
            as_of(&status(429), models, "10:32", false),
            "The service is asked too often at present. These models are from 10:32."
        );
        assert_eq!(
            as_of(&status(500), "This form is", "yesterday 09:05", false),
            "The service has a problem of its own (HTTP 500). This form is from yesterday 09:05."
        );
    }

    #[test]
    fn an_outage_is_explained_once() {
        let models = "These models are";
        assert_eq!(
            as_of(&network(), models, "10:32", true),
            "These models are from 10:32."
        );
        let notice = |reason: Option<BlockReason>, error: Option<ApiError>| {
            super::notice(reason.as_ref(), error.as_ref())
        };
        // While it is being asked again, nothing changes.
        let silent = notice(None, Some(network()));
        assert!(silent.as_ref().unwrap().contains("can't be reached"));
        assert_eq!(notice(None, None), silent);
        for (reason, said) in [
            (BlockReason::Offline, "You are offline."),
            (BlockReason::Unreachable, "What waits is sent"),
        ] {
            assert!(notice(Some(reason), None).unwrap().contains(said));
        }
        assert_eq!(
            notice(Some(BlockReason::Unauthorized), Some(network())),
            None
        );
        // Guards against a service that can't be reached where its list alone can't be had.
        for error in [ApiError::Timeout { after_ms: 9 }, status(504)] {
            let said = notice(None, Some(error)).unwrap();
            assert!(!said.contains("can't be reached"), "{said}");
        }
    }

    /// Guards against `./dev serve` where no reader could do so.
    #[test]
    fn how_to_start_the_service_is_said_on_the_machine_that_serves_the_page() {
        let own = ServiceAddress::default();
        let other = ServiceAddress::parse("http://127.0.0.1:9000").unwrap();
        let names_it = |address: &ServiceAddress, origin: &str| {
            let said = advice(&network(), address, origin).unwrap();
            said.contains("./dev serve")
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
