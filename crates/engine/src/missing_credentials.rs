/// The credentials that the user has not set, for a service without guest access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingCredentials {
    Both,
    UserId,
    Token,
}

impl MissingCredentials {
    /// Returns the missing credentials; `None` if both are set.
    pub fn of(has_uid: bool, has_token: bool) -> Option<Self> {
        match (has_uid, has_token) {
            (true, true) => None,
            (true, false) => Some(Self::Token),
            (false, true) => Some(Self::UserId),
            (false, false) => Some(Self::Both),
        }
    }

    /// Returns the names of the fields in Settings.
    pub fn label(self) -> &'static str {
        match self {
            Self::Both => "User ID and Access token",
            Self::UserId => "User ID",
            Self::Token => "Access token",
        }
    }

    /// Returns the start of a sentence: the field names and the verb, "is" or "are".
    pub fn with_verb(self) -> String {
        let are = match self {
            Self::Both => "are",
            Self::UserId | Self::Token => "is",
        };
        format!("{} {are}", self.label())
    }

    pub fn pronoun(self) -> &'static str {
        match self {
            Self::Both => "them",
            Self::UserId | Self::Token => "it",
        }
    }

    /// Returns why nothing can be sent.
    pub fn user_message(self) -> &'static str {
        match self {
            Self::Both => "User ID and Access token are not set yet.",
            Self::UserId => "User ID is not set yet.",
            Self::Token => "Access token is not set yet.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message must not ask for a field that is set.
    #[test]
    fn names_only_the_missing_credentials() {
        for (has_uid, has_token, label) in [
            (false, false, "User ID and Access token"),
            (false, true, "User ID"),
            (true, false, "Access token"),
        ] {
            let missing = MissingCredentials::of(has_uid, has_token).unwrap();
            assert_eq!(missing.label(), label);
            assert!(missing.user_message().starts_with(&format!("{label} ")));
        }
        assert_eq!(MissingCredentials::of(true, true), None);
    }
}
