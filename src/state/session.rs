//! Settings and credentials, as signals.
//!
//! Settings apply to the whole browser: they are in `localStorage`, and every tab adopts a change immediately. The access token is
//! stored for the tab, or for the browser if the user wants it to be remembered. It is also sent to the other tabs, which
//! store it in the same way. It leaves the browser only in the `Authorization` header of calls to the service for which it
//! was entered.

mod message;
mod settings;

use atelier_contract::{Credentials, Guest, ServiceAddress, json};
use atelier_engine::{Account, Idempotency, MissingCredentials};
use atelier_studio::output::output_cache;
use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};
use crate::browser::tabs::channel::Channel;
use crate::browser::{clock, lifecycle};
use message::SessionMessage;
use settings::AccessToken;
pub use settings::Settings;

const SETTINGS: &str = "atelier.settings";
const TOKEN: &str = "atelier.token";
const REFUSED: &str = "atelier.refused";
const CHANNEL: &str = "atelier.session";

#[derive(Clone, Copy)]
pub struct Session {
    settings: RwSignal<Settings>,
    /// The last token that was entered in this tab or another one. It may belong to other settings than the present ones.
    token: RwSignal<Option<AccessToken>>,
    /// The guest account of the service at an address.
    guest: RwSignal<Option<(ServiceAddress, Guest)>>,
    /// The support of the service at an address for idempotency keys.
    idempotency: RwSignal<(ServiceAddress, Idempotency)>,
    /// Notified when the service should be checked. `true` if it must be checked even if it responded to the last call.
    check: RwSignal<bool>,
    channel: StoredValue<Option<Channel>, LocalStorage>,
}

impl Session {
    /// Reads the stored settings and token, and follows the other tabs.
    pub fn start() -> Self {
        let settings = stored_settings().unwrap_or_default();
        let token = read_token(LocalStore::Tab)
            .filter(|token| token.of(&settings).is_some())
            .or_else(|| stored_token(&settings));
        let this = Self {
            settings: RwSignal::new(settings),
            token: RwSignal::new(token),
            guest: RwSignal::new(None),
            idempotency: RwSignal::new((ServiceAddress::default(), Idempotency::Asked)),
            check: RwSignal::new(false),
            channel: StoredValue::new_local(None),
        };
        let channel = Channel::open_in_memory(CHANNEL, move |text| this.receive(&text));
        this.channel.set_value(Some(channel));
        this.send(&SessionMessage::Wanted);
        local::on_change(SETTINGS, move || this.read_again());
        // A frozen page receives no messages.
        lifecycle::on_change(move || this.read_again());
        this
    }

    /// Stores new settings, and sends them to all tabs. Returns `false` if the browser refuses to store them; then they apply
    /// to this visit. `is_entered`: the user has typed the token, even if it is the same as before.
    pub fn save(&self, mut settings: Settings, token: String, is_entered: bool) -> bool {
        let before = self.settings.get_untracked();
        let is_same_token = !is_entered
            && before.address == settings.address
            && before.uid == settings.uid
            && self.token_untracked() == token;
        settings.saved = clock::now().max(before.saved + 1);
        settings.token_version = if is_same_token {
            before.token_version
        } else {
            settings.saved
        };
        let token = (!token.is_empty()).then(|| AccessToken::new(&settings, token));
        let text = settings.to_value().to_string();
        let is_stored = LocalStore::Browser.write(SETTINGS, &text)
            & store_token(settings.remember, token.as_ref());
        self.send(&SessionMessage::Settings(settings.clone(), token.clone()));
        self.token.set(token);
        self.settings.set(settings);
        is_stored
    }

    /// Adopts the settings and the token that another tab has stored.
    fn read_again(&self) {
        // If the stored settings were deleted, the present settings stay valid.
        if let Some(settings) = stored_settings() {
            let token = stored_token(&settings);
            self.adopt(settings, token);
        }
    }

    /// Adopts the settings if they were saved later than the present ones, and the token if it belongs to the present settings.
    fn adopt(&self, settings: Settings, token: Option<AccessToken>) {
        if settings.saved > self.settings.read_untracked().saved {
            self.settings.set(settings);
        }
        let settings = self.settings.read_untracked();
        if self.token_untracked().is_empty()
            && let Some(token) = token
            && token.of(&settings).is_some()
        {
            // If storage refuses, the token is only lost at a reload.
            if settings.remember && stored_settings().is_none() {
                // If the user has cleared the site's data, the token must not be stored in `localStorage` again. If
                // another tab has just stored it there, and this tab can't read that yet, it must not be removed.
                LocalStore::Tab.write(TOKEN, &token.to_value().to_string());
            } else {
                store_token(settings.remember, Some(&token));
            }
            self.token.set(Some(token));
        }
    }

    fn send(&self, message: &SessionMessage) {
        let text = message.to_value().to_string();
        self.channel.try_with_value(|channel| {
            if let Some(channel) = channel {
                channel.post(&text);
            }
        });
    }

    fn receive(&self, text: &str) {
        // A tab of another version may send messages that this version can't read.
        let Some(message) = json::read(text).and_then(SessionMessage::from_value) else {
            return;
        };
        match message {
            SessionMessage::Wanted => {
                let settings = self.settings.get_untracked();
                if settings != Settings::default() {
                    let token = self.token.get_untracked();
                    let token = token.filter(|token| token.of(&settings).is_some());
                    self.send(&SessionMessage::Settings(settings, token));
                }
                if let Some((address, guest)) = self.guest.get_untracked() {
                    self.send(&SessionMessage::Guest(address, guest));
                }
            }
            // A message may arrive before the stored settings can be read.
            SessionMessage::Settings(settings, token) => self.adopt(settings, token),
            SessionMessage::Guest(address, guest) => self.adopt_guest(address, guest),
        }
    }

    /// Returns the size limit of all copies of outputs, in bytes; `None` if copies are disabled. Tracked.
    pub fn keep_limit(&self) -> Option<u64> {
        let settings = self.settings.read_untracked();
        let limit = match settings.keep_limit {
            // No choice is stored.
            0 => output_cache::valid_limit(0),
            limit => limit,
        };
        settings.keep.then_some(limit)
    }

    /// Sets the guest account that is contained in the list of models from an address.
    pub fn set_guest(&self, address: ServiceAddress, guest: Option<Guest>) {
        match guest {
            // This service was only tested, and is not used.
            _ if address != self.settings.read_untracked().address => {}
            Some(guest) => {
                self.send(&SessionMessage::Guest(address.clone(), guest.clone()));
                self.adopt_guest(address, guest);
            }
            None => {
                let is_known = |known: &Option<(ServiceAddress, Guest)>| {
                    known.as_ref().is_some_and(|(known, _)| *known == address)
                };
                if self.guest.with_untracked(is_known) {
                    self.guest.set(None);
                }
            }
        }
    }

    /// Uses the guest account from a cached list of models. Tasks that are submitted while the service is unavailable wait as
    /// tasks of this guest, until the service shows whether it still accepts guests.
    pub fn use_cached_guest(&self, address: &ServiceAddress, guest: Guest) {
        if self.guest.read_untracked().is_none() {
            self.adopt_guest(address.clone(), guest);
        }
    }

    fn adopt_guest(&self, address: ServiceAddress, guest: Guest) {
        let is_present = self.settings.read_untracked().address == address;
        let guest = Some((address, guest));
        if is_present && *self.guest.read_untracked() != guest {
            self.guest.set(guest);
        }
    }

    /// Sets the support of the service at an address for idempotency keys: whether a submission that is sent again with the
    /// same key is accepted only once. [`Idempotency::Unreachable`] notifies subscribers each time.
    pub fn set_idempotency(&self, address: ServiceAddress, support: Idempotency) {
        let always_notifies = support == Idempotency::Unreachable;
        let support = (address, support);
        if always_notifies || *self.idempotency.read_untracked() != support {
            self.idempotency.set(support);
        }
    }

    /// Returns the present service's support for idempotency keys; tracked.
    pub fn idempotency(&self) -> Idempotency {
        self.idempotency_of(&self.settings.read().address)
    }

    /// Returns the support of the service at an address for idempotency keys, if it is known; tracked.
    pub fn idempotency_of(&self, address: &ServiceAddress) -> Idempotency {
        let (known, support) = self.idempotency.get();
        match known == *address {
            true => support,
            false => Idempotency::Asked,
        }
    }

    /// Requests an immediate check whether an unreachable service is back.
    pub fn ask_again(&self) {
        self.check.notify();
    }

    /// Requests a check whether the service is still reachable, before anything is sent to it.
    pub fn suspect_outage(&self) {
        self.check.set(true);
    }

    /// Tracks [`Session::ask_again`] and [`Session::suspect_outage`]. Returns `true` once after each call of `doubt`.
    pub fn track_checks(&self) -> bool {
        self.check.track();
        let mut must_check = self.check.write_untracked();
        std::mem::take(&mut *must_check)
    }

    pub fn settings(&self) -> Settings {
        self.settings.get()
    }

    pub fn settings_untracked(&self) -> Settings {
        self.settings.get_untracked()
    }

    /// Returns whether the app was unmounted, which only tests do.
    pub fn is_gone(&self) -> bool {
        self.settings.is_disposed()
    }

    /// Returns the token that the user has entered for the present service and User ID, for the field in Settings. Empty if
    /// there is none.
    pub fn token_untracked(&self) -> String {
        untrack(|| self.token_of(&self.settings.read())).unwrap_or_default()
    }

    /// Returns the known token for the service and the User ID of these settings; tracked.
    pub fn token_of(&self, settings: &Settings) -> Option<String> {
        let token = self.token.read();
        token.as_ref()?.of(settings).map(ToOwned::to_owned)
    }

    fn guest_of(&self, settings: &Settings) -> Option<Guest> {
        let guest = self.guest.read();
        let (address, guest) = guest.as_ref()?;
        (*address == settings.address).then(|| guest.clone())
    }

    /// Returns the credentials for calls; `None` while User ID or token is missing. Tracked.
    pub fn credentials(&self) -> Option<Credentials> {
        let settings = self.settings.read();
        match (settings.uid.is_empty(), self.token_of(&settings)) {
            (false, Some(token)) => Some(Credentials::new(settings.uid.clone(), token)),
            (true, None) => {
                let guest = self.guest_of(&settings)?;
                Some(Credentials::new(guest.uid, guest.token))
            }
            _ => None,
        }
    }

    /// Returns whether calls can be made; `None` while nothing is entered and it is unknown whether the service accepts
    /// guests. Tracked.
    pub fn has_credentials(&self) -> Option<bool> {
        let is_known = self.idempotency().is_known();
        match self.credentials() {
            Some(_) => Some(true),
            None => (is_known || !self.settings.read().uid.is_empty()).then_some(false),
        }
    }

    /// Returns which of User ID and token are missing; tracked.
    pub fn missing_credentials(&self) -> Option<MissingCredentials> {
        let settings = self.settings.read();
        let has_token = self.token_of(&settings).is_some();
        MissingCredentials::of(!settings.uid.is_empty(), has_token)
    }

    /// Returns whether calls are made as the service's guest; tracked.
    pub fn is_guest(&self) -> bool {
        let settings = self.settings.read();
        settings.uid.is_empty()
            && self.token_of(&settings).is_none()
            && self.guest_of(&settings).is_some()
    }

    /// Returns the guest account, if calls are made with it; tracked.
    pub fn guest(&self) -> Option<Guest> {
        let settings = self.settings.read();
        self.guest_of(&settings).filter(|_| self.is_guest())
    }

    /// Returns the account with which tasks are submitted; tracked.
    pub fn account(&self) -> Account {
        Account {
            address: self.settings.read().address.to_string(),
            uid: self
                .credentials()
                .map(|credentials| credentials.uid)
                .unwrap_or_default(),
        }
    }

    /// Returns an identifier of the credentials that contains no secret; tracked. It changes whenever a token is entered,
    /// even if the token is the same.
    pub fn credentials_name(&self) -> String {
        let account = self.account();
        let version = self.token_version().unwrap_or_default();
        format!("{version} {} {}", account.uid, account.address)
    }

    /// Returns a number that identifies the token for calls without revealing it: 0 for a guest's token, `None` while
    /// no call can be made. Tracked.
    pub fn token_version(&self) -> Option<u64> {
        let settings = self.settings.read();
        match self.token_of(&settings) {
            Some(_) => Some(settings.token_version),
            None => self.is_guest().then_some(0),
        }
    }

    /// Returns whether the service has refused the present credentials before, possibly in another tab.
    pub fn is_refused(&self) -> bool {
        LocalStore::Browser.read(REFUSED) == Some(untrack(|| self.credentials_name()))
    }

    /// Records for all tabs and later visits whether the service refuses the credentials.
    pub fn set_refused(&self, refused: bool) {
        if refused {
            // If storage refuses, the next visit is notified of the refusal when it submits a task.
            LocalStore::Browser.write(REFUSED, &untrack(|| self.credentials_name()));
        } else if self.is_refused() {
            LocalStore::Browser.remove(REFUSED);
        }
    }

    /// Returns the URL of a path of the interface; tracked.
    pub fn url(&self, path: &str) -> String {
        self.settings.read().address.url(path)
    }
}

fn stored_settings() -> Option<Settings> {
    Settings::from_value(json::read(&LocalStore::Browser.read(SETTINGS)?)?)
}

fn read_token(store: LocalStore) -> Option<AccessToken> {
    json::read(&store.read(TOKEN)?).and_then(AccessToken::from_value)
}

/// Returns the remembered token. Earlier versions stored only its text, which belongs to the stored settings. They stored the
/// token of a tab in the same way, but that one is ignored, because the settings may have changed since.
fn stored_token(settings: &Settings) -> Option<AccessToken> {
    let token = read_token(LocalStore::Browser);
    token.or_else(|| {
        let text = LocalStore::Browser.read(TOKEN)?;
        Some(AccessToken::of_first_version(settings, text))
    })
}

/// Stores the token where the user wants it to be, and removes it elsewhere. Returns whether the browser stored it.
fn store_token(remember: bool, token: Option<&AccessToken>) -> bool {
    let (store, other) = if remember {
        (LocalStore::Browser, LocalStore::Tab)
    } else {
        (LocalStore::Tab, LocalStore::Browser)
    };
    other.remove(TOKEN);
    match token {
        Some(token) => store.write(TOKEN, &token.to_value().to_string()),
        None => {
            store.remove(TOKEN);
            true
        }
    }
}

#[cfg(test)]
mod tests;
