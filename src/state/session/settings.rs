//! What a person has set, and the access token, as they are stored.

use atelier_contract::ServiceAddress;
use atelier_contract::json::Record;
use serde_json::Value;

/// What a person has set, without the token. One for the whole browser: all tabs follow it.
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
    /// Whether [`Self::notify`] was chosen: it is offered no more.
    pub notify_chosen: bool,
    /// Keep copies of outputs in this browser.
    pub keep: bool,
    /// How many bytes of them.
    pub keep_limit: u64,
    /// When they were saved, in milliseconds since the Unix epoch: the latest holds in all tabs.
    /// 0 where nothing was ever saved.
    pub saved: u64,
    /// The [`AccessToken::version`] that holds: [`Self::saved`] of when the token was entered, or
    /// taken out.
    pub token_version: u64,
}

impl Settings {
    /// What is absent or can't be read is as at the first visit.
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

/// An access token, and the one service and person that it is for. It is of no use anywhere else:
/// a token must not reach an address that it was not entered for.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    address: String,
    uid: String,
    /// Which of the tokens saved one after the other this is; an older one no longer holds.
    version: u64,
    token: String,
}

impl AccessToken {
    /// A token for what these settings name.
    pub fn new(settings: &Settings, token: String) -> Self {
        Self {
            address: settings.address.to_string(),
            uid: settings.uid.clone(),
            version: settings.token_version,
            token,
        }
    }

    /// A token of a version of Atelier that kept it alone: it holds until another one is saved.
    pub fn of_first_version(settings: &Settings, token: String) -> Self {
        Self {
            version: 0,
            ..Self::new(settings, token)
        }
    }

    /// The token itself, if it is for the service and the person that these settings name, and is
    /// the one that was saved with them.
    pub fn of(&self, settings: &Settings) -> Option<&str> {
        let fits = self.address == settings.address.as_str()
            && self.uid == settings.uid
            && self.version == settings.token_version;
        fits.then_some(self.token.as_str())
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

    /// They lie in browsers.
    #[wasm_bindgen_test]
    fn stored_settings_are_read_and_written_as_they_were() {
        let settings = read(SETTINGS).expect("settings");
        let wanted = Settings {
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
        assert_eq!(settings, wanted);
        assert_eq!(settings.to_value().to_string(), SETTINGS);
        let first = Settings::default().to_value().to_string();
        assert_eq!(
            first,
            r#"{"address":"","uid":"","remember":false,"send_defaults":false,"notify":false,"keep":false,"keep_limit":0,"saved":0,"token_version":0,"notify_chosen":false}"#
        );
        assert_eq!(read(&first), Some(Settings::default()));
    }

    /// Each switch by itself: one must not be taken for another.
    #[wasm_bindgen_test]
    fn each_switch_is_its_own() {
        for (name, wanted) in [
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
            assert_eq!(switches, wanted, "{name}");
        }
    }

    #[wasm_bindgen_test]
    fn what_a_newer_version_keeps_in_another_way_is_as_at_the_first_visit() {
        let newer = r#"{"address":["https://s.example"],"uid":{"name":"me"},"remember":"for a week","send_defaults":null,"notify":1,"keep":"","keep_limit":-1,"saved":0.5,"token_version":"1","later":[{}]}"#;
        assert_eq!(read(newer), Some(Settings::default()));
        let partly = r#"{"later":1,"address":"ftp://s.example","uid":"me"}"#;
        let wanted = Settings {
            uid: "me".into(),
            ..Settings::default()
        };
        assert_eq!(read(partly), Some(wanted));
        for text in ["null", "[]", "7", r#""me""#, "{"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[wasm_bindgen_test]
    fn a_stored_token_is_read_and_is_of_use_where_it_was_entered_alone() {
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

    /// Half a token, or one that is kept in another way, is none: it must not reach a service that it was
    /// not entered for.
    #[wasm_bindgen_test]
    fn what_is_no_token_is_none() {
        let later = TOKEN.replace('{', r#"{"later":1,"#);
        assert!(read_token(&later).is_some(), "it has more, and all of this");
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
