//! Settings and credentials, as signals.
//!
//! What is set is set for the whole browser: it stands in `localStorage`, and every tab follows it
//! at once. The access token is kept for the tab, unless the person asks to remember it, and told
//! to the other tabs, which keep it in the same way; it leaves the browser only in the
//! `Authorization` header of calls to the service that it was entered for.

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
    /// The last token that was entered here or in another tab, whether or not it fits now.
    token: RwSignal<Option<AccessToken>>,
    /// What a service offers to any client.
    guest: RwSignal<Option<(ServiceAddress, Guest)>>,
    /// What a service says of idempotency keys.
    idempotency: RwSignal<(ServiceAddress, Idempotency)>,
    /// A caller wants to know whether the service is there, be it (`true`) that it was a moment ago.
    wanted: RwSignal<bool>,
    channel: StoredValue<Option<Channel>, LocalStorage>,
}

impl Session {
    /// Reads what earlier visits left, and follows the other tabs.
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
            wanted: RwSignal::new(false),
            channel: StoredValue::new_local(None),
        };
        let channel = Channel::open_in_memory(CHANNEL, move |text| this.hear(&text));
        this.channel.set_value(Some(channel));
        this.tell(&SessionMessage::Wanted);
        local::on_change(SETTINGS, move || this.read_again());
        // A page that was frozen has heard nothing meanwhile.
        lifecycle::on_change(move || this.read_again());
        this
    }

    /// Keeps new settings; `false` if the browser refuses to, in which case they hold for this
    /// visit. All tabs have them at once. `is_entered` says that the person has typed the token, be it
    /// the same as before.
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
        let kept = LocalStore::Browser.write(SETTINGS, &text)
            & keep_token(settings.remember, token.as_ref());
        self.tell(&SessionMessage::Settings(settings.clone(), token.clone()));
        self.token.set(token);
        self.settings.set(settings);
        kept
    }

    /// Takes over what another tab has stored.
    fn read_again(&self) {
        // Nothing is stored, or it was cleared: what this visit knows holds.
        if let Some(settings) = stored_settings() {
            let token = stored_token(&settings);
            self.follow(settings, token);
        }
    }

    /// Takes over what was saved later than what this tab knows, and the token that goes with it.
    fn follow(&self, settings: Settings, token: Option<AccessToken>) {
        if settings.saved > self.settings.read_untracked().saved {
            self.settings.set(settings);
        }
        let settings = self.settings.read_untracked();
        if self.token_untracked().is_empty()
            && let Some(token) = token
            && token.of(&settings).is_some()
        {
            // A refusal changes only whether a reload finds it again.
            if settings.remember && stored_settings().is_none() {
                // Where a person has cleared what this browser keeps, the token is not what comes back; nor is
                // it taken from a tab that has just stored it, and whose settings are still to be read here.
                LocalStore::Tab.write(TOKEN, &token.to_value().to_string());
            } else {
                keep_token(settings.remember, Some(&token));
            }
            self.token.set(Some(token));
        }
    }

    fn tell(&self, message: &SessionMessage) {
        let text = message.to_value().to_string();
        self.channel.try_with_value(|channel| {
            if let Some(channel) = channel {
                channel.post(&text);
            }
        });
    }

    fn hear(&self, text: &str) {
        // A tab with another version may say what we do not know.
        let Some(message) = json::read(text).and_then(SessionMessage::from_value) else {
            return;
        };
        match message {
            SessionMessage::Wanted => {
                let settings = self.settings.get_untracked();
                if settings != Settings::default() {
                    let token = self.token.get_untracked();
                    let token = token.filter(|token| token.of(&settings).is_some());
                    self.tell(&SessionMessage::Settings(settings, token));
                }
                if let Some((address, guest)) = self.guest.get_untracked() {
                    self.tell(&SessionMessage::Guest(address, guest));
                }
            }
            // What is told may come before what is stored can be read.
            SessionMessage::Settings(settings, token) => self.follow(settings, token),
            SessionMessage::Guest(address, guest) => self.put_guest(address, guest),
        }
    }

    /// How much room copies of outputs may take; `None` while none are wanted.
    pub fn keep_limit(&self) -> Option<u64> {
        let settings = self.settings.read_untracked();
        let limit = match settings.keep_limit {
            // No choice is stored.
            0 => output_cache::valid_limit(0),
            limit => limit,
        };
        settings.keep.then_some(limit)
    }

    /// What the service at this address offers to any client, by its list of models.
    pub fn set_guest(&self, address: ServiceAddress, guest: Option<Guest>) {
        match guest {
            // This is a service that was only asked whether it answers.
            _ if address != self.settings.read_untracked().address => {}
            Some(guest) => {
                self.tell(&SessionMessage::Guest(address.clone(), guest.clone()));
                self.put_guest(address, guest);
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

    /// Takes the guest account that the service offered when it was last reached. Tasks that are submitted while it
    /// can't be reached wait as that guest's, until it says whether it still takes guests.
    pub fn recall_guest(&self, address: &ServiceAddress, guest: Guest) {
        if self.guest.read_untracked().is_none() {
            self.put_guest(address.clone(), guest);
        }
    }

    fn put_guest(&self, address: ServiceAddress, guest: Guest) {
        let is_present = self.settings.read_untracked().address == address;
        let guest = Some((address, guest));
        if is_present && *self.guest.read_untracked() != guest {
            self.guest.set(guest);
        }
    }

    /// Whether the service at this address takes a submission once that is sent again with the same
    /// key. That it can't be reached is reported each time.
    pub fn set_idempotency(&self, address: ServiceAddress, said: Idempotency) {
        let is_again = said == Idempotency::Unreachable;
        let said = (address, said);
        if is_again || *self.idempotency.read_untracked() != said {
            self.idempotency.set(said);
        }
    }

    /// What the present service says of idempotency keys; tracked.
    pub fn idempotency(&self) -> Idempotency {
        self.idempotency_of(&self.settings.read().address)
    }

    /// The same of the service at an address, where it is the present one.
    pub fn idempotency_of(&self, address: &ServiceAddress) -> Idempotency {
        let (of, said) = self.idempotency.get();
        match of == *address {
            true => said,
            false => Idempotency::Asked,
        }
    }

    /// A service that could not be reached is to be asked at once whether it is back.
    pub fn ask_again(&self) {
        self.wanted.notify();
    }

    /// The service may be gone: it is to be asked whether it still is there, before anything is sent to it.
    pub fn doubt(&self) {
        self.wanted.set(true);
    }

    /// Follows [`Session::ask_again`], and [`Session::doubt`]: after that it gives `true`, once.
    pub fn track_asks(&self) -> bool {
        self.wanted.track();
        let mut wanted = self.wanted.write_untracked();
        std::mem::take(&mut *wanted)
    }

    pub fn settings(&self) -> Settings {
        self.settings.get()
    }

    pub fn settings_untracked(&self) -> Settings {
        self.settings.get_untracked()
    }

    /// The token as set by the person for the present service and User ID, for the field in
    /// Settings; empty without one.
    pub fn token_untracked(&self) -> String {
        untrack(|| self.token_of(&self.settings.read())).unwrap_or_default()
    }

    /// The token that is known for the service and the User ID of these settings; tracked.
    pub fn token_of(&self, settings: &Settings) -> Option<String> {
        let token = self.token.read();
        token.as_ref()?.of(settings).map(ToOwned::to_owned)
    }

    fn guest_of(&self, settings: &Settings) -> Option<Guest> {
        let guest = self.guest.read();
        let (address, guest) = guest.as_ref()?;
        (*address == settings.address).then(|| guest.clone())
    }

    /// What calls are made with; `None` while User ID or token is missing.
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

    /// Whether calls can be made; `None` while nothing is entered and the service has not said whether it takes
    /// guests; tracked.
    pub fn has_credentials(&self) -> Option<bool> {
        let is_heard = self.idempotency().is_known();
        match self.credentials() {
            Some(_) => Some(true),
            None => (is_heard || !self.settings.read().uid.is_empty()).then_some(false),
        }
    }

    /// What of User ID and token is not set; tracked.
    pub fn missing_credentials(&self) -> Option<MissingCredentials> {
        let settings = self.settings.read();
        let has_token = self.token_of(&settings).is_some();
        MissingCredentials::of(!settings.uid.is_empty(), has_token)
    }

    /// Whether calls are made as the service's guest.
    pub fn is_guest(&self) -> bool {
        let settings = self.settings.read();
        settings.uid.is_empty()
            && self.token_of(&settings).is_none()
            && self.guest_of(&settings).is_some()
    }

    /// As whom calls are made where they are made as the service's guest; tracked.
    pub fn guest(&self) -> Option<Guest> {
        let settings = self.settings.read();
        self.guest_of(&settings).filter(|_| self.is_guest())
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

    /// Which credentials these are, without what is secret of them: another token has another name,
    /// and so has the same one once it is entered again. Tracked.
    pub fn credentials_name(&self) -> String {
        let account = self.account();
        let version = self.token_version().unwrap_or_default();
        format!("{version} {} {}", account.uid, account.address)
    }

    /// Which of the account's tokens calls are made with, by a number that says nothing of it; 0 for a guest's, `None`
    /// while no call can be made. Tracked.
    pub fn token_version(&self) -> Option<u64> {
        let settings = self.settings.read();
        match self.token_of(&settings) {
            Some(_) => Some(settings.token_version),
            None => self.is_guest().then_some(0),
        }
    }

    /// Whether the service refused these very credentials before, perhaps in another tab.
    pub fn is_refused(&self) -> bool {
        LocalStore::Browser.read(REFUSED) == Some(untrack(|| self.credentials_name()))
    }

    /// Keeps in mind, for all tabs and later visits, whether the service refuses the credentials.
    pub fn set_refused(&self, refused: bool) {
        if refused {
            // If it is not kept, the next visit finds it out at the price of one submission.
            LocalStore::Browser.write(REFUSED, &untrack(|| self.credentials_name()));
        } else if self.is_refused() {
            LocalStore::Browser.remove(REFUSED);
        }
    }

    /// The URL of one of the interface's paths, tracked.
    pub fn url(&self, path: &str) -> String {
        self.settings.read().address.url(path)
    }
}

fn stored_settings() -> Option<Settings> {
    Settings::from_value(json::read(&LocalStore::Browser.read(SETTINGS)?)?)
}

fn read_token(place: LocalStore) -> Option<AccessToken> {
    json::read(&place.read(TOKEN)?).and_then(AccessToken::from_value)
}

/// The remembered token. Earlier versions kept it bare, of the settings next to it; a tab's own they
/// kept bare as well, but the settings may be others by now, so that one is not taken.
fn stored_token(settings: &Settings) -> Option<AccessToken> {
    let token = read_token(LocalStore::Browser);
    token.or_else(|| {
        let bare = LocalStore::Browser.read(TOKEN)?;
        Some(AccessToken::of_first_version(settings, bare))
    })
}

/// Keeps the token where the person wants it to be, and nowhere else; whether that went well.
fn keep_token(remember: bool, token: Option<&AccessToken>) -> bool {
    let (place, other) = if remember {
        (LocalStore::Browser, LocalStore::Tab)
    } else {
        (LocalStore::Tab, LocalStore::Browser)
    };
    other.remove(TOKEN);
    match token {
        Some(token) => place.write(TOKEN, &token.to_value().to_string()),
        None => {
            place.remove(TOKEN);
            true
        }
    }
}

#[cfg(test)]
mod tests;
