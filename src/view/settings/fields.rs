use std::cell::RefCell;
use std::collections::HashMap;

use atelier_contract::ServiceAddress;
use leptos::prelude::*;

use crate::reactive::boxed::effect;
use crate::state::contexts::{Contexts, contexts};
use crate::state::session::Settings;

/// The address of a service and a User ID.
type Login = (String, String);

thread_local! {
    /// The tokens of logins that the settings contained earlier, for as long as the page is open. Many services show a token
    /// only once. A user who tries another address and then returns to the first must find its token.
    static EARLIER_TOKENS: RefCell<HashMap<Login, String>> = RefCell::default();
    /// Fields that were typed but not saved when the user left the page.
    static UNSAVED: RefCell<Option<Unsaved>> = const { RefCell::new(None) };
}

/// The changed but unsaved fields of the connection. Unchanged fields are left out, because they show what other tabs save.
struct Unsaved {
    login: Option<Login>,
    token: Option<String>,
    remember: bool,
}

fn login(settings: &Settings) -> Login {
    (settings.address.to_string(), settings.uid.clone())
}

/// The fields of the settings page. Those of the connection are saved together by Save, all others as soon as they change.
#[derive(Clone, Copy)]
pub struct SettingsFields {
    all: Contexts,
    pub address: RwSignal<String>,
    pub uid: RwSignal<String>,
    pub token: RwSignal<String>,
    /// Whether the token was typed here. It may then differ from the stored one.
    pub is_token_typed: RwSignal<bool>,
    pub remember: RwSignal<bool>,
    pub send_defaults: RwSignal<bool>,
    pub notify: RwSignal<bool>,
    pub keep: RwSignal<bool>,
    pub keep_limit: RwSignal<u64>,
    /// Whether the address field has lost the focus or was submitted. From then on, its problem is shown.
    pub is_visited: RwSignal<bool>,
    /// Whether the connection has just been saved.
    pub is_saved: RwSignal<bool>,
    /// Whether the fields of the connection contain unsaved text from an earlier visit of the page.
    pub is_unsaved: RwSignal<bool>,
}

impl SettingsFields {
    /// Creates the fields with the saved settings. They are updated when other tabs save settings.
    pub fn new() -> Self {
        let all = contexts();
        let session = all.session;
        let now = session.settings_untracked();
        let fields = Self {
            all,
            address: RwSignal::new(now.address.to_string()),
            uid: RwSignal::new(now.uid.clone()),
            token: RwSignal::new(session.token_untracked()),
            is_token_typed: RwSignal::new(false),
            remember: RwSignal::new(now.remember),
            send_defaults: RwSignal::new(now.send_defaults),
            notify: RwSignal::new(now.notify),
            keep: RwSignal::new(now.keep),
            keep_limit: RwSignal::new(now.keep_limit),
            is_visited: RwSignal::new(false),
            is_saved: RwSignal::new(false),
            is_unsaved: RwSignal::new(false),
        };
        fields.restore_unsaved();
        fields.follow_other_tabs(now);
        fields.follow_credentials();
        fields
    }

    /// Restores unsaved fields from the last visit of the page. When the page is left, saves its unsaved fields in memory.
    fn restore_unsaved(self) {
        if let Some(unsaved) = UNSAVED.take() {
            if let Some((address, uid)) = unsaved.login {
                self.address.set(address);
                self.uid.set(uid);
            }
            if let Some(token) = unsaved.token {
                self.is_token_typed.set(true);
                self.token.set(token);
            }
            self.remember.set(unsaved.remember);
            self.is_unsaved.set(true);
        }
        on_cleanup(move || untrack(|| UNSAVED.set(self.unsaved())));
    }

    fn unsaved(self) -> Option<Unsaved> {
        let saved = self.all.session.settings_untracked();
        let typed_login = (self.address.get(), self.uid.get());
        let is_token_typed = self.is_token_typed.get();
        let unsaved = Unsaved {
            // A token belongs to the address and User ID it was typed with.
            login: (is_token_typed || typed_login != login(&saved)).then_some(typed_login),
            token: is_token_typed.then(|| self.token.get()),
            remember: self.remember.get(),
        };
        (unsaved.login.is_some() || unsaved.remember != saved.remember).then_some(unsaved)
    }

    /// Shows the settings that other tabs save, except in fields that were changed in this tab.
    fn follow_other_tabs(self, mut before: Settings) {
        let session = self.all.session;
        effect(move || {
            let saved = session.settings();
            // A typed token belongs to the address and User ID above it, so they stay.
            if !self.is_token_typed.get_untracked() {
                let (from, to) = (before.address.to_string(), saved.address.to_string());
                follow(self.address, from, to);
                follow(self.uid, before.uid.clone(), saved.uid.clone());
            }
            follow(self.remember, before.remember, saved.remember);
            follow(
                self.send_defaults,
                before.send_defaults,
                saved.send_defaults,
            );
            follow(self.notify, before.notify, saved.notify);
            follow(self.keep, before.keep, saved.keep);
            follow(self.keep_limit, before.keep_limit, saved.keep_limit);
            before = saved;
        });
    }

    /// Shows the known token of the address and User ID in the fields: a token belongs to one service and one user.
    fn follow_credentials(self) {
        let session = self.all.session;
        effect(move || {
            let uid = self.uid.read().trim().to_owned();
            let known = ServiceAddress::parse(&self.address.read())
                .ok()
                .and_then(|address| {
                    let typed = Settings {
                        address,
                        uid,
                        ..session.settings()
                    };
                    let earlier =
                        || EARLIER_TOKENS.with_borrow(|tokens| tokens.get(&login(&typed)).cloned());
                    // A token that was saved without a User ID belongs to the user who is entered now.
                    let without_user = Settings {
                        uid: String::new(),
                        ..typed.clone()
                    };
                    let token_without_user = || session.token_of(&without_user);
                    session
                        .token_of(&typed)
                        .or_else(earlier)
                        .or_else(token_without_user)
                });
            let known = known.unwrap_or_default();
            if !self.is_token_typed.get_untracked() && self.token.get_untracked() != known {
                self.token.set(known);
            }
        });
    }

    /// Returns the connection as settings, and the token; `None` if the address is invalid, which the field then shows.
    pub fn settings(self) -> Option<(Settings, String)> {
        self.is_visited.set(true);
        let settings = Settings {
            address: ServiceAddress::parse(&self.address.read_untracked()).ok()?,
            uid: self.uid.read_untracked().trim().to_owned(),
            remember: self.remember.get_untracked(),
            ..self.all.session.settings_untracked()
        };
        Some((settings, self.token.read_untracked().trim().to_owned()))
    }

    /// Saves the connection.
    pub fn save(self) {
        let Some((settings, token)) = self.settings() else {
            return;
        };
        self.address.set(settings.address.to_string());
        let (before, token_before) = (
            self.all.session.settings_untracked(),
            self.all.session.token_untracked(),
        );
        EARLIER_TOKENS.with_borrow_mut(|tokens| {
            // A user who empties both fields signs out.
            let is_signed_out =
                settings.address == before.address && settings.uid.is_empty() && token.is_empty();
            if !is_signed_out && !token_before.is_empty() {
                tokens.insert(login(&before), token_before);
            }
            // The token that is saved now replaces an earlier one.
            tokens.remove(&login(&settings));
        });
        let is_entered = self.is_token_typed.get_untracked();
        self.is_token_typed.set(false);
        self.is_unsaved.set(false);
        self.is_saved
            .set(store(self.all, settings, token, is_entered));
    }

    /// Saves a setting that takes effect at once. The fields of the connection stay unsaved.
    pub fn choose(self, change: impl FnOnce(&mut Settings)) {
        let session = self.all.session;
        let mut settings = session.settings_untracked();
        change(&mut settings);
        store(self.all, settings, session.token_untracked(), false);
    }

    /// Records that the connection was changed since it was saved.
    pub fn mark_changed(self) {
        self.is_saved.set(false);
    }

    /// If User ID is empty, fills in the account of the token, so that the user need not know it.
    pub fn fill_user_id(self, account: String) {
        if self.uid.read_untracked().trim().is_empty() {
            self.is_token_typed.set(true);
            self.uid.try_set(account);
            self.mark_changed();
        }
    }
}

/// Saves the settings and returns whether the browser stored them. If it did not, shows a notice.
fn store(all: Contexts, settings: Settings, token: String, is_token_entered: bool) -> bool {
    let is_stored = all.session.save(settings, token, is_token_entered);
    if !is_stored {
        all.notices.problem(
            "This browser refuses to store settings; they apply until this tab is closed.",
        );
    }
    // The limit for copies may have changed.
    all.runner.fit_copies_into_limit();
    is_stored
}

/// Sets a field to the newly saved value, unless the user has changed the field.
fn follow<T: PartialEq + Send + Sync + 'static>(field: RwSignal<T>, before: T, saved: T) {
    if before != saved && *field.read_untracked() == before {
        field.set(saved);
    }
}
