//! What a test of the connection has found of the credentials, in words that are true of the token, too.

use atelier_contract::ApiError;

/// `found` says that the service answers. `answer` is what became of the question for a task that cannot exist, asked
/// with the token; `said` has the words for an error.
///
/// # Errors
///
/// A sentence: they are refused, or a User ID is missing, without which only that could have been found out.
pub fn verdict(
    found: &str,
    has_uid: bool,
    answer: Result<(), ApiError>,
    said: impl Fn(&ApiError) -> String,
) -> Result<String, String> {
    match answer {
        Err(error @ (ApiError::Unauthorized { .. } | ApiError::Network { .. })) => {
            Err(format!("{found}, but: {}", said(&error)))
        }
        _ if !has_uid => Err(format!(
            "{found}, but does not say whose the token is. Fill in User ID to have the token checked."
        )),
        Ok(())
        | Err(ApiError::NotFound { .. } | ApiError::Invalid { .. } | ApiError::Refused { .. }) => {
            Ok(format!("{found}. The credentials were accepted."))
        }
        Err(error) => Ok(format!(
            "{found}. The credentials could not be checked: {}",
            said(&error)
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

    /// Guards against the same words for a wrong token as for the right one, where no User ID is set.
    #[test]
    fn without_a_user_id_nothing_is_said_of_the_token_but_that_it_is_refused() {
        let unchecked = "It answers, but does not say whose the token is. Fill in User ID to have the token checked.";
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
