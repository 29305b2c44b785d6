//! Formats the result of a connection test. The message must also be true about the token.

use atelier_contract::ApiError;

/// Returns the message. `found`: the beginning of the message, which reports that the service responds. `answer`: the
/// response to a status request with the token, for a task that can't exist. `message`: formats an error.
///
/// # Errors
///
/// A message: the credentials are rejected, or a User ID is missing, so that they can't be tested.
pub fn verdict(
    found: &str,
    has_uid: bool,
    answer: Result<(), ApiError>,
    message: impl Fn(&ApiError) -> String,
) -> Result<String, String> {
    match answer {
        Err(error @ (ApiError::Unauthorized { .. } | ApiError::Network { .. })) => {
            Err(format!("{found}, but: {}", message(&error)))
        }
        _ if !has_uid => Err(format!(
            "{found}, but does not report whose token it is. Enter User ID to check the token."
        )),
        Ok(())
        | Err(ApiError::NotFound { .. } | ApiError::Invalid { .. } | ApiError::Refused { .. }) => {
            Ok(format!("{found}. The credentials were accepted."))
        }
        Err(error) => Ok(format!(
            "{found}. The credentials could not be checked: {}",
            message(&error)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(has_uid: bool, answer: Result<(), ApiError>) -> Result<String, String> {
        verdict("It answers", has_uid, answer, |_| "Refused.".to_owned())
    }

    fn refused() -> ApiError {
        ApiError::Unauthorized {
            message: String::new(),
            is_forbidden: false,
        }
    }

    fn unknown() -> ApiError {
        ApiError::NotFound {
            message: String::new(),
            is_of_service: true,
        }
    }

    /// Without a User ID, a wrong token may not be rejected, so the message must not report it as accepted.
    #[test]
    fn without_a_user_id_only_a_rejection_of_the_token_is_reported() {
        let unchecked =
            "It answers, but does not report whose token it is. Enter User ID to check the token.";
        for answer in [Ok(()), Err(unknown())] {
            assert_eq!(of(false, answer), Err(unchecked.into()));
        }
        assert_eq!(
            of(false, Err(refused())),
            Err("It answers, but: Refused.".into())
        );
        assert_eq!(
            of(true, Err(refused())),
            Err("It answers, but: Refused.".into())
        );
        let accepted = "It answers. The credentials were accepted.";
        assert_eq!(of(true, Err(unknown())), Ok(accepted.into()));
        let busy = ApiError::Timeout { after_ms: 1 };
        assert!(of(true, Err(busy)).is_ok_and(|it| it.contains("could not be checked")));
    }
}
