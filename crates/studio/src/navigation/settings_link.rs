//! Finds the word `Settings` in a message, to show it as a link to that page.

/// The name of the page in messages.
pub const SETTINGS: &str = "Settings";

/// Splits a message at the first word `Settings`: the text before it, the word, and the rest. A message without the
/// word is returned as the first part.
pub fn split(message: &str) -> [&str; 3] {
    let mut before = '.';
    // Compare at each letter, because the code of a string search would be larger.
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

    /// Messages that mention the page must contain a link to it.
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

    /// The messages are defined in other modules. A change there must not lose the link.
    #[test]
    fn messages_about_credentials_have_a_link_to_settings() {
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
        fn the_parts_join_to_the_message(message in "(Settings|[a-zé .]){0,6}") {
            prop_assert_eq!(split(&message).concat(), message);
        }
    }
}
