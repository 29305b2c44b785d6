//! The messages between tabs about settings and credentials. Tabs may be of different versions, so the format of messages
//! must not change.

use atelier_contract::json::Record;
use atelier_contract::{Guest, ServiceAddress};
use serde_json::Value;

use super::settings::{AccessToken, Settings};

pub enum SessionMessage {
    /// A new tab requests the data that is only in the memory of other tabs.
    Wanted,
    /// The settings that the user has saved, or the response to `Wanted`.
    Settings(Settings, Option<AccessToken>),
    /// The guest account of the service at this address.
    Guest(ServiceAddress, Guest),
}

impl SessionMessage {
    /// Reads a message. Returns `None` for messages that only another version knows.
    pub fn from_value(value: Value) -> Option<Self> {
        if value.as_str() == Some("Wanted") {
            return Some(Self::Wanted);
        }
        let mut record = Record::read(value)?;
        if let Some(settings) = record.take("settings") {
            let token = record.optional("token", AccessToken::from_value)?;
            return Some(Self::Settings(Settings::from_value(settings)?, token));
        }
        let mut guest = Record::read(record.take("guest")?)?;
        let address = ServiceAddress::parse(&record.text("address")?).ok()?;
        let (uid, token) = (guest.text("uid")?, guest.text("token")?);
        Some(Self::Guest(address, Guest { uid, token }))
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        match self {
            Self::Wanted => return "Wanted".into(),
            Self::Settings(settings, token) => {
                record.put("settings", settings.to_value());
                record.put_some("token", token.as_ref().map(AccessToken::to_value));
            }
            Self::Guest(address, guest) => {
                let mut offer = Record::new();
                offer.put("uid", guest.uid.as_str().into());
                offer.put("token", guest.token.as_str().into());
                record.put("address", address.as_str().into());
                record.put("guest", offer.into_value());
            }
        }
        record.into_value()
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::json;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const SETTINGS: &str = r#"{"settings":{"address":"https://s.example","uid":"me","remember":true,"send_defaults":false,"notify":false,"keep":false,"keep_limit":5,"saved":7,"token_version":6,"notify_chosen":false},"token":{"address":"https://s.example","uid":"me","version":6,"token":"secret"}}"#;
    const WITHOUT_TOKEN: &str = r#"{"settings":{"address":"","uid":"","remember":false,"send_defaults":false,"notify":false,"keep":false,"keep_limit":0,"saved":8,"token_version":8,"notify_chosen":false}}"#;
    const GUEST: &str =
        r#"{"address":"https://s.example","guest":{"uid":"guest","token":"for anyone"}}"#;

    fn read(text: &str) -> Option<SessionMessage> {
        json::read(text).and_then(SessionMessage::from_value)
    }

    #[wasm_bindgen_test]
    fn messages_keep_their_format() {
        for text in [r#""Wanted""#, SETTINGS, WITHOUT_TOKEN, GUEST] {
            let message = read(text).map(|message| message.to_value().to_string());
            assert_eq!(message.as_deref(), Some(text));
        }
        assert!(matches!(read(r#""Wanted""#), Some(SessionMessage::Wanted)));
        let Some(SessionMessage::Settings(settings, token)) = read(SETTINGS) else {
            panic!("settings");
        };
        assert_eq!((settings.saved, settings.uid.as_str()), (7, "me"));
        let token = token.expect("a token");
        assert_eq!(token.of(&settings), Some("secret"));
        assert!(matches!(
            read(WITHOUT_TOKEN),
            Some(SessionMessage::Settings(Settings { saved: 8, .. }, None))
        ));
        let Some(SessionMessage::Guest(address, guest)) = read(GUEST) else {
            panic!("a guest");
        };
        assert_eq!(address.as_str(), "https://s.example");
        assert_eq!((&*guest.uid, &*guest.token), ("guest", "for anyone"));
    }

    #[wasm_bindgen_test]
    fn messages_of_a_newer_version_are_ignored() {
        for text in [
            r#""Unwanted""#,
            "null",
            "[]",
            "{}",
            r#"{"later":{}}"#,
            r#"{"settings":[]}"#,
            // Settings with an unreadable token must not be read as settings without a token.
            r#"{"settings":{"uid":"me"},"token":{"sealed":"x"}}"#,
            r#"{"guest":{"uid":"guest","token":"for anyone"}}"#,
            r#"{"address":"ftp://s.example","guest":{"uid":"guest","token":"for anyone"}}"#,
            r#"{"address":"https://s.example","guest":{"uid":"guest"}}"#,
            r#"{"address":"https://s.example","guest":"anyone"}"#,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
