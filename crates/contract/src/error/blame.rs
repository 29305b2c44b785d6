//! Tells what the words of a 403 are about: services answer a wrong token with it, and a used-up quota.
//!
//! It comes with the first view: plain parts of words do.

/// Parts of words about what an account may use up.
const LIMITS: &str = "balance,billing,budget,credit,exceed,limit,plan,quota,usage";

/// Parts of words about the caller.
const CREDENTIALS: &str =
    "access,api key,auth,credential,login,password,permission,secret,token,user";

/// Whether the service's words blame the credentials, or there are none but the name of the status. A limit that names
/// them is a limit: "This user has reached the limit of tokens".
pub fn blames_credentials(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let has = |parts: &str| parts.split(',').any(|part| message.contains(part));
    message.is_empty() || message.starts_with("forbidden") || has(CREDENTIALS) && !has(LIMITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_from_wrong_credentials() {
        for message in [
            "",
            "Forbidden.",
            "Invalid API key",
            "invalid_token",
            "Access denied",
            "This User ID belongs to another token.",
            "You are not authorized to perform this action.",
        ] {
            assert!(blames_credentials(message), "{message}");
        }
        for message in [
            "Monthly quota used up.",
            "quota_exceeded",
            "Your balance is $0.00.",
            "This user has reached the limit of tokens.",
            "Your plan does not include access to this model.",
            "The prompt contains a blocked keyword.",
            "配额已用完",
        ] {
            assert!(!blames_credentials(message), "{message}");
        }
    }
}
