//! What is said where the service does not give what was asked for, and what it said before is shown instead.

use atelier_contract::{ApiError, ServiceAddress};

/// That something is as the service said it some time ago. `what`: `These models are` or `This form is`; `when`:
/// `10:32`.
pub fn as_of(error: &ApiError, what: &str, when: &str) -> String {
    let why = match error {
        ApiError::Server { status, .. } if !error.is_unreachable() => {
            format!("The service has a problem of its own (HTTP {status}).")
        }
        // All else that is asked of it may be answered.
        ApiError::Server { .. } | ApiError::Timeout { .. } => {
            "Nothing newer can be had at present.".to_owned()
        }
        ApiError::RateLimited { .. } => "The service is asked too often at present.".to_owned(),
        _ => "The service can't be reached.".to_owned(),
    };
    format!("{why} {what} as of {when}.")
}

/// What to do about a call that failed to this address, for whoever looks at a page of this origin.
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

/// Whoever looks at a page of this origin has started its server.
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
    Needed,
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
            Self::Needed => crate::NO_CREDENTIALS,
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
        let silent = "The service can't be reached. These models are as of 10:32.";
        for error in [network(), ApiError::not_json(b"<html>")] {
            assert_eq!(as_of(&error, models, "10:32"), silent);
        }
        // Guards against a service that can't be reached where its list alone can't be had.
        for error in [ApiError::Timeout { after_ms: 9 }, status(504)] {
            assert_eq!(
                as_of(&error, models, "10:32"),
                "Nothing newer can be had at present. These models are as of 10:32."
            );
        }
        assert_eq!(
            as_of(&status(429), models, "10:32"),
            "The service is asked too often at present. These models are as of 10:32."
        );
        assert_eq!(
            as_of(&status(500), "This form is", "yesterday 09:05"),
            "The service has a problem of its own (HTTP 500). This form is as of yesterday 09:05."
        );
    }

    /// Guards against `./dev serve` where nobody who reads it could do so.
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
