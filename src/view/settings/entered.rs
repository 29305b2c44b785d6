use std::cell::RefCell;
use std::collections::HashMap;

use atelier_contract::ServiceAddress;
use leptos::prelude::*;

use crate::reactive::boxed::effect;
use crate::state::contexts::{Contexts, contexts};
use crate::state::session::Settings;

/// A service's address and a User ID.
type Whose = (String, String);

thread_local! {
    /// The tokens of those that the settings named before, for as long as the page is open: many services show a token
    /// once, and a person who tries another address and comes back has not thrown it away.
    static EARLIER_TOKENS: RefCell<HashMap<Whose, String>> = RefCell::default();
    /// What was typed when the page was left and is not saved: it is nowhere but here.
    static UNSAVED: RefCell<Option<Unsaved>> = const { RefCell::new(None) };
}

/// The fields of the connection as they were left, of those that were changed: what another tab saves shows in the
/// others.
struct Unsaved {
    whose: Option<Whose>,
    token: Option<String>,
    remember: bool,
}

fn whose(settings: &Settings) -> Whose {
    (settings.address.to_string(), settings.uid.clone())
}

/// What stands in the fields of the settings. Those of the connection are saved together, once they are
/// complete; all others at once.
#[derive(Clone, Copy)]
pub struct Entered {
    all: Contexts,
    pub address: RwSignal<String>,
    pub uid: RwSignal<String>,
    pub token: RwSignal<String>,
    /// The token was changed here: it is not the one that is known.
    pub is_token_typed: RwSignal<bool>,
    pub remember: RwSignal<bool>,
    pub send_defaults: RwSignal<bool>,
    pub notify: RwSignal<bool>,
    pub keep: RwSignal<bool>,
    pub keep_limit: RwSignal<u64>,
    /// The address was left or asked for: from then on what is wrong with it is said.
    pub visited: RwSignal<bool>,
    /// The connection has just been saved.
    pub saved: RwSignal<bool>,
    /// What stands in its fields was typed on an earlier visit, and is not saved yet.
    pub is_unsaved: RwSignal<bool>,
}

impl Entered {
    /// Begins with what is saved, and follows what another tab saves.
    pub fn new() -> Self {
        let all = contexts();
        let session = all.session;
        let now = session.settings_untracked();
        let entered = Self {
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
            visited: RwSignal::new(false),
            saved: RwSignal::new(false),
            is_unsaved: RwSignal::new(false),
        };
        entered.take_unsaved();
        entered.follow_other_tabs(now);
        entered.follow_credentials();
        entered
    }

    /// What was typed and not saved is there again on the next visit, for as long as the page is open.
    fn take_unsaved(self) {
        if let Some(left) = UNSAVED.take() {
            if let Some((address, uid)) = left.whose {
                self.address.set(address);
                self.uid.set(uid);
            }
            if let Some(token) = left.token {
                self.is_token_typed.set(true);
                self.token.set(token);
            }
            self.remember.set(left.remember);
            self.is_unsaved.set(true);
        }
        on_cleanup(move || untrack(|| UNSAVED.set(self.unsaved())));
    }

    fn unsaved(self) -> Option<Unsaved> {
        let saved = self.all.session.settings_untracked();
        let named = (self.address.get(), self.uid.get());
        let is_token_typed = self.is_token_typed.get();
        let left = Unsaved {
            // A token is for those that it was typed below.
            whose: (is_token_typed || named != whose(&saved)).then_some(named),
            token: is_token_typed.then(|| self.token.get()),
            remember: self.remember.get(),
        };
        (left.whose.is_some() || left.remember != saved.remember).then_some(left)
    }

    /// What is being changed here stays.
    fn follow_other_tabs(self, mut before: Settings) {
        let session = self.all.session;
        effect(move || {
            let saved = session.settings();
            // A token that is being typed is for what stands above it.
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

    /// A token is for one service and one User ID: with others named, it is not theirs.
    fn follow_credentials(self) {
        let session = self.all.session;
        effect(move || {
            let uid = self.uid.read().trim().to_owned();
            let known = ServiceAddress::parse(&self.address.read())
                .ok()
                .and_then(|address| {
                    let named = Settings {
                        address,
                        uid,
                        ..session.settings()
                    };
                    let earlier =
                        || EARLIER_TOKENS.with_borrow(|tokens| tokens.get(&whose(&named)).cloned());
                    // One that was saved before the User ID is for the user who is named now.
                    let nameless = Settings {
                        uid: String::new(),
                        ..named.clone()
                    };
                    let of_nobody = || session.token_of(&nameless);
                    session.token_of(&named).or_else(earlier).or_else(of_nobody)
                });
            let known = known.unwrap_or_default();
            if !self.is_token_typed.get_untracked() && self.token.get_untracked() != known {
                self.token.set(known);
            }
        });
    }

    /// The connection as settings, and the token; none while the address is no address, which is then said.
    pub fn settings(self) -> Option<(Settings, String)> {
        self.visited.set(true);
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
            // Who empties both has signed out.
            let is_signed_out =
                settings.address == before.address && settings.uid.is_empty() && token.is_empty();
            if !is_signed_out && !token_before.is_empty() {
                tokens.insert(whose(&before), token_before);
            }
            // What is saved now holds.
            tokens.remove(&whose(&settings));
        });
        let is_entered = self.is_token_typed.get_untracked();
        self.is_token_typed.set(false);
        self.is_unsaved.set(false);
        self.saved.set(keep(self.all, settings, token, is_entered));
    }

    /// Saves a choice that is complete with a press. What stands in the fields of the connection waits.
    pub fn choose(self, change: impl FnOnce(&mut Settings)) {
        let session = self.all.session;
        let mut settings = session.settings_untracked();
        change(&mut settings);
        keep(self.all, settings, session.token_untracked(), false);
    }

    /// Something was changed since it was saved.
    pub fn changed(self) {
        self.saved.set(false);
    }

    /// Takes the name of the account that a token is of: who pastes a token alone need not know it.
    pub fn name(self, account: String) {
        if self.uid.read_untracked().trim().is_empty() {
            self.is_token_typed.set(true);
            self.uid.try_set(account);
            self.changed();
        }
    }
}

/// Whether the browser keeps them; where it does not, that is said.
fn keep(all: Contexts, settings: Settings, token: String, is_token_entered: bool) -> bool {
    let is_kept = all.session.save(settings, token, is_token_entered);
    if !is_kept {
        all.notices
            .problem("This browser refuses to keep settings; they hold until this tab is closed.");
    }
    // More may be kept now, or less.
    all.runner.fit_copies_into_limit();
    is_kept
}

/// Sets a field to what is saved now, unless it was changed since it showed what was saved before.
fn follow<T: PartialEq + Send + Sync + 'static>(field: RwSignal<T>, before: T, saved: T) {
    if before != saved && *field.read_untracked() == before {
        field.set(saved);
    }
}
