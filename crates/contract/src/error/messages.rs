//! Makes the message of each error for the user.

use super::{ApiError, FieldProblem};
use crate::ServiceAddress;
use crate::prose::bounded;

impl ApiError {
    const OUTPUT_REFUSED: &str = "The task completed, but the service refuses its output.";

    /// Returns the message for a completed task whose output is refused.
    pub fn output_message(&self) -> String {
        let (Self::Invalid { message, .. } | Self::Refused { message, .. }) = self else {
            return self.user_message();
        };
        with(Self::OUTPUT_REFUSED, message)
    }

    /// Whether this is an [`ApiError::output_message`].
    pub fn is_about_output(message: &str) -> bool {
        message.starts_with(Self::OUTPUT_REFUSED)
    }

    /// Returns [`ApiError::user_message`] for a call to this address from a page of this origin. Browsers don't report
    /// that CORS blocked a call, so the message mentions it for other origins.
    pub fn user_message_of(&self, address: &ServiceAddress, page_origin: &str) -> String {
        let message = self.user_message();
        let is_observed = match self {
            Self::Network { detail } => ![
                Self::PAGE_CLOSED,
                Self::EXPORTED_UNSENT,
                Self::REDIRECTED,
                Self::WITHDRAWN,
                Self::CUT_OFF,
            ]
            .contains(&&**detail),
            _ => false,
        };
        match is_observed && !address.is_of_origin(page_origin) {
            true => {
                format!("{message} Otherwise, its owner must allow this page's address (CORS).")
            }
            false => message,
        }
    }

    /// Returns the service's own message in the [`ApiError::user_message`] of [`ApiError::Invalid`]. Other refusals are
    /// not about the input.
    pub fn input_message(message: &str) -> Option<&str> {
        let words = message.strip_prefix(Self::INVALID_INPUT)?;
        words.strip_prefix(IT_SAYS)
    }

    /// Whether this is the [`ApiError::user_message`] of refused credentials.
    pub fn is_about_credentials(message: &str) -> bool {
        message.starts_with(Self::UNAUTHORIZED)
    }

    /// Whether this is the [`ApiError::user_message`] of missing credits (402).
    pub fn is_about_credits(message: &str) -> bool {
        message.starts_with(&refused(402))
    }

    /// Returns a message for the user: what happened and what to do.
    pub fn user_message(&self) -> String {
        match self {
            Self::Network { detail } if detail == Self::PAGE_CLOSED => {
                "The page was closed before the answer came.".into()
            }
            Self::Network { detail } if detail == Self::EXPORTED_UNSENT => {
                "Not sent yet when its history was exported. The browser it comes from may have sent it since.".into()
            }
            Self::Network { detail } if detail == Self::WITHDRAWN => {
                "The earlier submission was not answered; the next was canceled before it was sent."
                    .into()
            }
            Self::Network { detail } if detail == Self::REDIRECTED => {
                "The address redirects to another one. Check it in Settings, or sign in to the network."
                    .into()
            }
            Self::Network { detail } if detail == Self::CUT_OFF => {
                "The service's answer was cut off.".into()
            }
            Self::Network { .. } => {
                "No answer from the service. Either the network or the service is down.".into()
            }
            Self::Timeout { after_ms: 0 } => "The service gave up waiting for the request.".into(),
            Self::Timeout { after_ms } => {
                format!("No answer within {} s.", after_ms.div_ceil(1000))
            }
            Self::Unauthorized { message, .. } if self.is_other_refusal() => forbidden(message),
            Self::Unauthorized { message, .. } => with(Self::UNAUTHORIZED, message),
            Self::NotFound { message, .. } => {
                with("The service can't find what was requested.", message)
            }
            Self::Invalid { message, fields } => {
                let details = fields.iter().map(FieldProblem::user_message);
                let mut details: Vec<String> = details.filter(|it| !message.contains(it)).collect();
                if !details.iter().any(|it| it.contains(message)) {
                    details.insert(0, message.clone());
                }
                with(Self::INVALID_INPUT, &bounded(details.join("; ")))
            }
            Self::RateLimited { message, .. } => {
                with("Rate-limited: the service asks for fewer calls.", message)
            }
            Self::Server {
                status, message, ..
            } => with(
                &format!("The service has an internal error (HTTP {status})."),
                message,
            ),
            Self::Malformed { detail } => {
                format!("The service's answer could not be read: {detail}.")
            }
            Self::Refused {
                status: 200,
                message,
            } => with("The service refused.", message),
            Self::Refused {
                status: 403,
                message,
            } if !message.is_empty() => forbidden(message),
            Self::Refused { status, message } => {
                with(&refused(*status), message)
            }
        }
    }
}

fn refused(status: u16) -> String {
    format!("The service refused (HTTP {status}).")
}

/// The service's message is first, because it contains the reason, and narrow screens show only the beginning.
fn forbidden(message: &str) -> String {
    let message = with_stop(message);
    format!("The service says: {message} It refused the request (HTTP 403).")
}

/// The text between Atelier's sentence and the service's message. Stored with tasks.
const IT_SAYS: &str = " It says: ";

/// Appends the service's message to Atelier's sentence, after [`IT_SAYS`].
fn with(sentence: &str, message: &str) -> String {
    if message.is_empty() {
        return sentence.to_owned();
    }
    format!("{sentence}{IT_SAYS}{}", with_stop(message))
}

fn with_stop(message: &str) -> String {
    let stop = if message.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{message}{stop}")
}
