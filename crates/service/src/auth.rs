//! Authenticates calls under `/v2` (INTERFACE "Authentication").

use axum::http::{HeaderMap, StatusCode, header};
use subtle::ConstantTimeEq;

use crate::failure::Failure;

/// Returns the bearer token of the request (INTERFACE "Authentication" 2).
///
/// # Errors
///
/// 401 if it is missing, empty, or not the required one.
pub fn bearer<'a>(headers: &'a HeaderMap, required: Option<&str>) -> Result<&'a str, Failure> {
    let refused = |message| Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
    let given = headers.get(header::AUTHORIZATION);
    if given.is_some_and(|value| !value.as_bytes().is_ascii()) {
        return Err(refused(
            "The access token has a character that is not ASCII: copy the token again.",
        ));
    }
    let token = given
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty())
        .ok_or_else(|| {
            refused("An access token is required: send the header Authorization: Bearer <token>.")
        })?;
    match required {
        // Compared in constant time.
        Some(required) if !bool::from(required.as_bytes().ct_eq(token.as_bytes())) => {
            Err(unknown_token())
        }
        _ => Ok(token),
    }
}

/// Returns a 401 for an unknown token.
pub fn unknown_token() -> Failure {
    Failure::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "This access token is not known here.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn is_accepted(value: &str, required: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        bearer(&headers, required).is_ok()
    }

    /// Guards against the message "is required" for a token that was sent, but contains a wrong character.
    #[test]
    fn a_token_that_is_not_ascii_is_reported_as_such() {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_bytes("Bearer tökën".as_bytes()).unwrap();
        headers.insert(header::AUTHORIZATION, value);
        let failure = bearer(&headers, None).unwrap_err();
        assert_eq!(failure.status, StatusCode::UNAUTHORIZED);
        assert!(failure.body.message.contains("not ASCII"));
    }

    #[test]
    fn accepts_any_token_unless_one_is_required() {
        assert!(is_accepted("Bearer anything", None));
        assert!(is_accepted("bearer x", Some("x")));
        assert!(!is_accepted("Bearer y", Some("x")));
        assert!(!is_accepted("Bearer ", None));
        assert!(!is_accepted("Basic eDp5", None));
        assert!(bearer(&HeaderMap::new(), None).is_err());
    }
}
