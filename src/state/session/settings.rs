//! The settings and the access token, as they are stored.

use atelier_contract::ServiceAddress;
use atelier_contract::json::Record;
use serde_json::Value;

/// The user's settings, without the token. They apply to all tabs of the browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub address: ServiceAddress,
    pub uid: String,
    /// Keep the token in this browser, beyond this tab.
    pub remember: bool,
    /// Send untouched optional parameters with their defaults.
    pub send_defaults: bool,
    /// Notify on completion while the page is hidden.
    pub notify: bool,
    /// The user has chosen a value for [`Self::notify`], so notifications are no longer offered.
    pub notify_chosen: bool,
    /// Keep copies of outputs in this browser.
    pub keep: bool,
    /// The size limit of all copies, in bytes.
    pub keep_limit: u64,
    /// When the settings were saved, in milliseconds since the Unix epoch; 0 if never. All tabs use the latest settings.
    pub saved: u64,
    /// The valid [`AccessToken::version`]: the value of [`Self::saved`] when the token was entered or removed.
    pub token_version: u64,
}

impl Settings {
    /// Reads stored settings. Values that are missing or unreadable get their defaults.
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let address = record.text("address").unwrap_or_default();
        let uid = record.text("uid").unwrap_or_default();
        let mut switch = |name| record.switch(name, false).unwrap_or_default();
        Some(Self {
            address: ServiceAddress::parse(&address).unwrap_or_default(),
            uid,
            remember: switch("remember"),
            send_defaults: switch("send_defaults"),
            notify: switch("notify"),
            notify_chosen: switch("notify_chosen"),
            keep: switch("keep"),
            keep_limit: record.number("keep_limit").unwrap_or_default(),
            saved: record.number("saved").unwrap_or_default(),
            token_version: record.number("token_version").unwrap_or_default(),
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("address", self.address.as_str().into());
        record.put("uid", self.uid.as_str().into());
        record.put("remember", self.remember.into());
        record.put("send_defaults", self.send_defaults.into());
        record.put("notify", self.notify.into());
        record.put("keep", self.keep.into());
        record.put("keep_limit", self.keep_limit.into());
        record.put("saved", self.saved.into());
        record.put("token_version", self.token_version.into());
        record.put("notify_chosen", self.notify_chosen.into());
        record.into_value()
    }
}

/// An access token, with the service and the user for which it was entered. It must not be sent to another address.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    address: String,
    uid: String,
    /// The time at which the token was saved. An older token is no longer valid.
    version: u64,
    token: String,
}

impl AccessToken {
    /// Creates a token for the service and the user of these settings.
    pub fn new(settings: &Settings, token: String) -> Self {
        Self {
            address: settings.address.to_string(),
            uid: settings.uid.clone(),
            version: settings.token_version,
            token,
        }
    }

    /// Creates a token that an early version has stored as text. It is valid until another token is saved.
    pub fn of_first_version(settings: &Settings, token: String) -> Self {
        Self {
            version: 0,
            ..Self::new(settings, token)
        }
    }

    /// Returns the text of the token, if it belongs to the service and the user of these settings and was saved with them.
    pub fn of(&self, settings: &Settings) -> Option<&str> {
        let is_valid = self.address == settings.address.as_str()
            && self.uid == settings.uid
            && self.version == settings.token_version;
        is_valid.then_some(self.token.as_str())
    }

    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            address: record.text("address")?,
            uid: record.text("uid")?,
            version: record.number("version")?,
            token: record.text("token")?,
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("address", self.address.as_str().into());
        record.put("uid", self.uid.as_str().into());
        record.put("version", self.version.into());
        record.put("token", self.token.as_str().into());
        record.into_value()
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::json;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const SETTINGS: &str = r#"{"address":"https://s.example/base","uid":"me","remember":true,"send_defaults":true,"notify":true,"keep":true,"keep_limit":1073741824,"saved":1700000000001,"token_version":1700000000000,"notify_chosen":true}"#;
    const TOKEN: &str = r#"{"address":"https://s.example/base","uid":"me","version":1700000000000,"token":"secret"}"#;

    fn read(text: &str) -> Option<Settings> {
        json::read(text).and_then(Settings::from_value)
    }

    fn read_token(text: &str) -> Option<AccessToken> {
        json::read(text).and_then(AccessToken::from_value)
    }

    /// Browsers contain settings in this format.
    #[wasm_bindgen_test]
    fn stored_settings_are_read_and_written_in_the_same_format() {
        let settings = read(SETTINGS).expect("settings");
        let expected = Settings {
            address: ServiceAddress::parse("https://s.example/base").expect("an address"),
            uid: "me".into(),
            remember: true,
            send_defaults: true,
            notify: true,
            notify_chosen: true,
            keep: true,
            keep_limit: 1 << 30,
            saved: 1_700_000_000_001,
            token_version: 1_700_000_000_000,
        };
        assert_eq!(settings, expected);
        assert_eq!(settings.to_value().to_string(), SETTINGS);
        let first = Settings::default().to_value().to_string();
        assert_eq!(
            first,
            r#"{"address":"","uid":"","remember":false,"send_defaults":false,"notify":false,"keep":false,"keep_limit":0,"saved":0,"token_version":0,"notify_chosen":false}"#
        );
        assert_eq!(read(&first), Some(Settings::default()));
    }

    /// One switch must not be read as another.
    #[wasm_bindgen_test]
    fn switches_are_independent() {
        for (name, expected) in [
            ("remember", [true, false, false, false, false]),
            ("send_defaults", [false, true, false, false, false]),
            ("notify", [false, false, true, false, false]),
            ("keep", [false, false, false, true, false]),
            ("notify_chosen", [false, false, false, false, true]),
        ] {
            let settings = read(&format!(r#"{{"{name}":true}}"#)).expect("settings");
            let switches = [
                settings.remember,
                settings.send_defaults,
                settings.notify,
                settings.keep,
                settings.notify_chosen,
            ];
            assert_eq!(switches, expected, "{name}");
        }
    }

    #[wasm_bindgen_test]
    fn unreadable_values_get_their_defaults() {
        let newer = r#"{"address":["https://s.example"],"uid":{"name":"me"},"remember":"for a week","send_defaults":null,"notify":1,"keep":"","keep_limit":-1,"saved":0.5,"token_version":"1","later":[{}]}"#;
        assert_eq!(read(newer), Some(Settings::default()));
        let partly = r#"{"later":1,"address":"ftp://s.example","uid":"me"}"#;
        let expected = Settings {
            uid: "me".into(),
            ..Settings::default()
        };
        assert_eq!(read(partly), Some(expected));
        for text in ["null", "[]", "7", r#""me""#, "{"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[wasm_bindgen_test]
    fn stored_token_is_valid_only_for_its_service_user_and_version() {
        let token = read_token(TOKEN).expect("a token");
        assert_eq!(token.to_value().to_string(), TOKEN);
        let settings = read(SETTINGS).expect("settings");
        assert_eq!(token.of(&settings), Some("secret"));
        for other in [
            Settings {
                address: ServiceAddress::default(),
                ..settings.clone()
            },
            Settings {
                uid: "you".into(),
                ..settings.clone()
            },
            Settings {
                token_version: 1_700_000_000_001,
                ..settings.clone()
            },
        ] {
            assert_eq!(token.of(&other), None, "{other:?}");
        }
    }

    /// A token that is incomplete or in another format must not reach a service for which it was not entered.
    #[wasm_bindgen_test]
    fn unreadable_tokens_are_ignored() {
        let later = TOKEN.replace('{', r#"{"later":1,"#);
        assert!(
            read_token(&later).is_some(),
            "additional fields are allowed"
        );
        for odd in [
            r#"{"address":"https://s.example/base","uid":"me","token":"secret"}"#,
            r#"{"address":"https://s.example/base","uid":"me","version":"1","token":"secret"}"#,
            r#"{"address":"https://s.example/base","uid":"me","version":1,"token":{"sealed":"x"}}"#,
            r#"{"address":null,"uid":"me","version":1,"token":"secret"}"#,
            r#"{"address":"https://s.example/base","version":1,"token":"secret"}"#,
            "null",
            "[]",
            r#""secret""#,
        ] {
            assert!(read_token(odd).is_none(), "{odd}");
        }
    }
}
