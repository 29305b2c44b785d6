use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

const STORED: &str = r#"{"address":"https://s.example","uid":"me","remember":true,"send_defaults":true,"notify":false,"keep":true,"keep_limit":100,"saved":1700000000001,"token_version":1700000000000}"#;
const STORED_TOKEN: &str =
    r#"{"address":"https://s.example","uid":"me","version":1700000000000,"token":"secret"}"#;

/// A visit that starts with these entries in `localStorage` and in `sessionStorage`.
struct Visit {
    owner: Owner,
    session: Session,
}

impl Visit {
    fn begin(browser: &[(&str, &str)], tab: &[(&str, &str)]) -> Self {
        for (store, entries) in [(LocalStore::Browser, browser), (LocalStore::Tab, tab)] {
            for name in ["atelier.settings", "atelier.token", "atelier.refused"] {
                store.remove(name);
            }
            for (name, text) in entries {
                assert!(store.write(name, text));
            }
        }
        let owner = Owner::new();
        let session = owner.with(Session::start);
        Self { owner, session }
    }

    fn token(&self) -> Option<String> {
        let credentials = untrack(|| self.session.credentials())?;
        Some(format!(
            "{}: {}",
            credentials.uid,
            credentials.authorization()
        ))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.owner.cleanup();
        LocalStore::Browser.remove(SETTINGS);
        LocalStore::Browser.remove(TOKEN);
        LocalStore::Browser.remove(REFUSED);
        LocalStore::Tab.remove(TOKEN);
    }
}

#[wasm_bindgen_test]
fn stored_settings_and_token_are_used() {
    let visit = Visit::begin(
        &[
            ("atelier.settings", STORED),
            ("atelier.token", STORED_TOKEN),
        ],
        &[],
    );
    assert_eq!(visit.token().as_deref(), Some("me: Bearer secret"));
    let settings = visit.session.settings_untracked();
    assert_eq!(settings.address.as_str(), "https://s.example");
    assert!(settings.send_defaults && !settings.notify);
    assert_eq!(visit.session.keep_limit(), Some(100));
    assert!(!visit.session.is_refused());
}

#[wasm_bindgen_test]
fn token_of_the_tab_takes_precedence() {
    let own = STORED_TOKEN.replace("secret", "own");
    let visit = Visit::begin(
        &[
            ("atelier.settings", STORED),
            ("atelier.token", STORED_TOKEN),
        ],
        &[("atelier.token", &own)],
    );
    assert_eq!(visit.token().as_deref(), Some("me: Bearer own"));
}

/// The first version stored only the text of the token. It is valid until another token is saved.
#[wasm_bindgen_test]
fn token_of_the_first_version_belongs_to_the_stored_settings() {
    let first = r#"{"address":"https://s.example","uid":"me","remember":true}"#;
    let visit = Visit::begin(
        &[("atelier.settings", first), ("atelier.token", "bare")],
        &[],
    );
    assert_eq!(visit.token().as_deref(), Some("me: Bearer bare"));
    drop(visit);
    // Another token was saved since, or the token was removed.
    let visit = Visit::begin(
        &[("atelier.settings", STORED), ("atelier.token", "bare")],
        &[],
    );
    assert_eq!(visit.token(), None);
    drop(visit);
    // The stored settings may not be those of the tab.
    let visit = Visit::begin(&[("atelier.settings", first)], &[("atelier.token", "bare")]);
    assert_eq!(visit.token(), None);
}

#[wasm_bindgen_test]
fn refused_credentials_are_recognized_by_their_stored_identifier() {
    let stored = [
        ("atelier.settings", STORED),
        ("atelier.token", STORED_TOKEN),
    ];
    let refused = "1700000000000 me https://s.example";
    let all = [stored[0], stored[1], ("atelier.refused", refused)];
    let visit = Visit::begin(&all, &[]);
    assert!(visit.session.is_refused());
    visit.session.set_refused(false);
    assert_eq!(LocalStore::Browser.read("atelier.refused"), None);
    visit.session.set_refused(true);
    let identifier = LocalStore::Browser.read("atelier.refused");
    assert_eq!(identifier.as_deref(), Some(refused));
    drop(visit);
    let others = [
        stored[0],
        stored[1],
        ("atelier.refused", "1 me https://s.example"),
    ];
    assert!(!Visit::begin(&others, &[]).session.is_refused());
}

#[wasm_bindgen_test]
fn unreadable_entries_are_ignored() {
    for text in ["", "{", "null", "[1]", r#"{"address":{"later":1}}"#] {
        let visit = Visit::begin(
            &[
                ("atelier.settings", text),
                ("atelier.token", r#"{"sealed":"x"}"#),
                ("atelier.refused", text),
            ],
            &[("atelier.token", text)],
        );
        assert_eq!(visit.session.settings_untracked(), Settings::default());
        assert_eq!(visit.token(), None, "{text}");
        assert!(!visit.session.is_refused());
    }
}
