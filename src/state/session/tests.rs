use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

const STORED: &str = r#"{"address":"https://s.example","uid":"me","remember":true,"send_defaults":true,"notify":false,"keep":true,"keep_limit":100,"saved":1700000000001,"token_version":1700000000000}"#;
const OF_IT: &str =
    r#"{"address":"https://s.example","uid":"me","version":1700000000000,"token":"secret"}"#;

/// What a visit begins with that finds this in the browser, by the names that it has there.
struct Visit {
    owner: Owner,
    session: Session,
}

impl Visit {
    fn begin(browser: &[(&str, &str)], tab: &[(&str, &str)]) -> Self {
        for (store, kept) in [(LocalStore::Browser, browser), (LocalStore::Tab, tab)] {
            for name in ["atelier.settings", "atelier.token", "atelier.refused"] {
                store.remove(name);
            }
            for (name, text) in kept {
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
fn a_visit_goes_on_with_what_the_last_one_has_stored() {
    let visit = Visit::begin(
        &[("atelier.settings", STORED), ("atelier.token", OF_IT)],
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
fn a_tabs_own_token_comes_first() {
    let own = OF_IT.replace("secret", "own");
    let visit = Visit::begin(
        &[("atelier.settings", STORED), ("atelier.token", OF_IT)],
        &[("atelier.token", &own)],
    );
    assert_eq!(visit.token().as_deref(), Some("me: Bearer own"));
}

/// The first version kept it alone; it holds until another one is saved.
#[wasm_bindgen_test]
fn a_bare_token_is_of_the_settings_beside_it() {
    let first = r#"{"address":"https://s.example","uid":"me","remember":true}"#;
    let visit = Visit::begin(
        &[("atelier.settings", first), ("atelier.token", "bare")],
        &[],
    );
    assert_eq!(visit.token().as_deref(), Some("me: Bearer bare"));
    drop(visit);
    // By now another one was saved, or it was taken out.
    let visit = Visit::begin(
        &[("atelier.settings", STORED), ("atelier.token", "bare")],
        &[],
    );
    assert_eq!(visit.token(), None);
    drop(visit);
    // The settings may be others than those of the tab.
    let visit = Visit::begin(&[("atelier.settings", first)], &[("atelier.token", "bare")]);
    assert_eq!(visit.token(), None);
}

#[wasm_bindgen_test]
fn refused_credentials_are_known_by_what_is_stored_of_them() {
    let kept = [("atelier.settings", STORED), ("atelier.token", OF_IT)];
    let refused = "1700000000000 me https://s.example";
    let all = [kept[0], kept[1], ("atelier.refused", refused)];
    let visit = Visit::begin(&all, &[]);
    assert!(visit.session.is_refused());
    visit.session.set_refused(false);
    assert_eq!(LocalStore::Browser.read("atelier.refused"), None);
    visit.session.set_refused(true);
    let stored = LocalStore::Browser.read("atelier.refused");
    assert_eq!(stored.as_deref(), Some(refused));
    drop(visit);
    let others = [
        kept[0],
        kept[1],
        ("atelier.refused", "1 me https://s.example"),
    ];
    assert!(!Visit::begin(&others, &[]).session.is_refused());
}

#[wasm_bindgen_test]
fn what_a_newer_version_has_stored_ends_no_visit() {
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
