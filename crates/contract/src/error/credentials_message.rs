//! Decides whether the message of a 403 is about credentials. Services return 403 both for a wrong token and for a
//! used-up quota.
//!
//! This code is part of the first view, so the list contains only a few word prefixes.

/// The prefixes of words that are about limits of an account, or about the input.
const LIMITS: &str = " balance, billing, block, budget, content, credit , credits, limit, moderat, plan, policy, prompt, quota";

/// Whether the message may be about credentials. It is not if it contains a word about limits or the input, even if it
/// also names the user: "This user has reached the limit of tokens". Calls continue only if it is not; an unknown
/// message stops them.
pub fn may_be_about_credentials(message: &str) -> bool {
    let letters = message.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => ' ',
    });
    let words: String = std::iter::once(' ').chain(letters).chain([' ']).collect();
    !LIMITS.split(',').any(|part| words.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_limits_from_wrong_credentials() {
        for message in [
            "",
            "Forbidden.",
            "Invalid API key",
            "invalid_token",
            "Access denied",
            "This User ID belongs to another token.",
            "You are not authorized to perform this action.",
            "invalid_api_key",
            "Unknown uid",
            "403 Forbidden",
            "Signature mismatch",
            "Account suspended",
            "Invalid token. See the usage section.",
            "Expired credentials",
            "An explanation is in the documentation.",
            // Messages in other languages are not understood.
            "令牌无效",
        ] {
            assert!(may_be_about_credentials(message), "{message}");
        }
        for message in [
            "Monthly quota used up.",
            "quota_exceeded",
            "Your balance is $0.00.",
            "This user has reached the limit of tokens.",
            "Your plan does not include access to this model.",
            "The prompt contains a blocked keyword.",
            "Rate-limit reached (see billing).",
        ] {
            assert!(!may_be_about_credentials(message), "{message}");
        }
    }
}
