//! Tells what the words of a 403 are about: services answer a wrong token with it, and a used-up quota.
//!
//! It comes with the first view: the beginnings of a few words do.

/// How words begin that are about what an account may use up, or about the input.
const LIMITS: &str = " balance, billing, block, budget, content, credit , credits, limit, moderat, plan, policy, prompt, quota";

/// Whether the service's words may blame the credentials: they do where nothing in them is about a limit or the input. Calls
/// go on where they do not, so that what is not known stops them. A limit that names the caller is a limit: "This user has
/// reached the limit of tokens".
pub fn blames_credentials(message: &str) -> bool {
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
    fn a_limit_is_told_from_wrong_credentials() {
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
            // This program does not read all languages.
            "令牌无效",
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
            "Rate-limit reached (see billing).",
        ] {
            assert!(!blames_credentials(message), "{message}");
        }
    }
}
