//! Finds the page that a message sends a person to: `Settings`, which is a link to that page.

/// What the page is called in messages.
pub const SETTINGS: &str = "Settings";

/// Splits a message at the first `Settings` that stands there as a word: what comes before it, the word itself, and the
/// rest. Without it all of the message comes first.
pub fn split(message: &str) -> [&str; 3] {
    let mut before = '.';
    // Step by step, because the code of a search would weigh more in the page.
    for (at, letter) in message.char_indices() {
        let (start, rest) = message.split_at(at);
        if let Some(rest) = rest.strip_prefix(SETTINGS)
            && !before.is_ascii_alphanumeric()
            && !rest.starts_with(|next: char| next.is_ascii_alphanumeric())
        {
            return [start, SETTINGS, rest];
        }
        before = letter;
    }
    [message, "", ""]
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_engine::MissingCredentials;
    use proptest::prelude::*;

    /// Guards against a message that sends a person to a page without a way there.
    #[test]
    fn settings_is_found_as_a_word() {
        for (message, expected) in [
            ("", ["", "", ""]),
            ("Waiting to be sent.", ["Waiting to be sent.", "", ""]),
            (
                "Its address is set in Settings.",
                ["Its address is set in ", "Settings", "."],
            ),
            (
                "Settings name another account; see Settings",
                ["", "Settings", " name another account; see Settings"],
            ),
            ("MySettings, Settingss", ["MySettings, Settingss", "", ""]),
            ("settings", ["settings", "", ""]),
            ("Settings2 Settings", ["Settings2 ", "Settings", ""]),
        ] {
            assert_eq!(split(message), expected, "{message}");
        }
    }

    /// The messages are made elsewhere: a change there must not lose the link.
    #[test]
    fn messages_about_credentials_lead_to_settings() {
        let refused = atelier_contract::ApiError::from_status(401, None, None);
        let missing = MissingCredentials::Token;
        for message in [
            refused.user_message(),
            format!("Not followed: {} not set in Settings.", missing.with_verb()),
        ] {
            assert_eq!(split(&message)[1], SETTINGS, "{message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_of_a_message_is_lost(message in "(Settings|[a-zé .]){0,6}") {
            prop_assert_eq!(split(&message).concat(), message);
        }
    }
}
