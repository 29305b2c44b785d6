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
