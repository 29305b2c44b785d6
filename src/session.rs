//! Settings and credentials, as signals.
//!
//! The access token is kept for this tab, unless the person asks to remember it; it leaves the
//! browser only in the `Authorization` header of calls to the service's address.

use atelier_contract::json::{self, Record};
use atelier_contract::{Credentials, Guest, ServiceAddress};
use atelier_engine::{Account, Idempotency};
use leptos::prelude::*;
use serde_json::Value;

use crate::browser::local::Place;

const SETTINGS: &str = "atelier.settings";
const TOKEN: &str = "atelier.token";

/// What a person has set, without the token.
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
}

impl Settings {
    /// What is absent or can't be read is as at the first visit.
    fn from_value(value: Value) -> Option<Self> {
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
        })
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("address", self.address.as_str().into());
        record.put("uid", self.uid.as_str().into());
        record.put("remember", self.remember.into());
        record.put("send_defaults", self.send_defaults.into());
        record.put("notify", self.notify.into());
        record.put("keep", self.keep.into());
        record.put("keep_limit", self.keep_limit.into());
        record.into_value()
    }
}

#[derive(Clone, Copy)]
pub struct Session {
    settings: RwSignal<Settings>,
    token: RwSignal<String>,
    guest: RwSignal<Option<Guest>>,
    idempotency: RwSignal<Idempotency>,
}

impl Session {
    /// Reads what earlier visits left.
    pub fn load() -> Self {
        let settings = Self::stored().unwrap_or_default();
        let token = Place::Tab
            .read(TOKEN)
            .or_else(|| Place::Browser.read(TOKEN))
            .unwrap_or_default();
        Self {
            settings: RwSignal::new(settings),
            token: RwSignal::new(token),
            guest: RwSignal::new(None),
            idempotency: RwSignal::new(Idempotency::Asked),
        }
    }

    fn stored() -> Option<Settings> {
        Settings::from_value(json::read(&Place::Browser.read(SETTINGS)?)?)
    }

    /// How much room copies of outputs may take; `None` while none are wanted. As it is stored now:
    /// another tab may have changed it.
    pub fn keep_limit(&self) -> Option<u64> {
        let settings = Self::stored().unwrap_or_else(|| self.settings_untracked());
        settings.keep.then_some(settings.keep_limit)
    }

    /// Keeps new settings; `false` if the browser refuses to, in which case they hold for this
    /// visit.
    pub fn save(&self, settings: Settings, token: String) -> bool {
        if settings.address != self.settings.read_untracked().address {
            self.guest.set(None);
            self.idempotency.set(Idempotency::Asked);
        }
        let text = settings.to_value().to_string();
        let kept = Place::Browser.write(SETTINGS, &text) & self.keep_token(&settings, &token);
        self.token.set(token);
        self.settings.set(settings);
        kept
    }

    fn keep_token(&self, settings: &Settings, token: &str) -> bool {
        let (place, other) = if settings.remember {
            (Place::Browser, Place::Tab)
        } else {
            (Place::Tab, Place::Browser)
        };
        other.remove(TOKEN);
        if token.is_empty() {
            place.remove(TOKEN);
            return true;
        }
        place.write(TOKEN, token)
    }

    /// Takes a token that another tab of the same person holds, if this one has none.
    pub fn borrow_token(&self, token: &str) {
        if self.token.read_untracked().is_empty() && !token.is_empty() {
            Place::Tab.write(TOKEN, token);
            self.token.set(token.to_owned());
        }
    }

    /// What the service offers to anyone.
    pub fn set_guest(&self, guest: Option<Guest>) {
        if *self.guest.read_untracked() != guest {
            self.guest.set(guest);
        }
    }

    /// Whether the service takes a submission once that is sent again with the same key.
    pub fn set_idempotency(&self, said: Idempotency) {
        if *self.idempotency.read_untracked() != said {
            self.idempotency.set(said);
        }
    }

    pub fn idempotency(&self) -> Idempotency {
        self.idempotency.get()
    }

    pub fn settings(&self) -> Settings {
        self.settings.get()
    }

    pub fn settings_untracked(&self) -> Settings {
        self.settings.get_untracked()
    }

    /// The token as set by the person, for the field in Settings and for other tabs.
    pub fn token_untracked(&self) -> String {
        self.token.get_untracked()
    }

    /// What calls are made with; `None` while User ID or token is missing.
    pub fn credentials(&self) -> Option<Credentials> {
        let settings = self.settings.read();
        let token = self.token.read();
        if settings.uid.is_empty() && token.is_empty() {
            let guest = self.guest.get()?;
            return Some(Credentials::new(guest.uid, guest.token));
        }
        (!settings.uid.is_empty() && !token.is_empty())
            .then(|| Credentials::new(settings.uid.clone(), token.clone()))
    }

    /// Whether calls are made as the service's guest.
    pub fn is_guest(&self) -> bool {
        self.settings.read().uid.is_empty()
            && self.token.read().is_empty()
            && self.guest.read().is_some()
    }

    /// Where and as whom tasks are submitted.
    pub fn account(&self) -> Account {
        Account {
            address: self.settings.read().address.to_string(),
            uid: self
                .credentials()
                .map(|credentials| credentials.uid)
                .unwrap_or_default(),
        }
    }

    /// The URL of one of the interface's paths, tracked.
    pub fn url(&self, path: &str) -> String {
        self.settings.read().address.url(path)
    }
}
