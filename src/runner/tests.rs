use atelier_contract::ServiceAddress;
use atelier_engine::TaskKey;
use wasm_bindgen_test::wasm_bindgen_test;

use super::testing::{Tab, failed, put, session, start_afresh, stored, task};
use super::*;
use crate::state::session::Settings;

/// What is listed as the newest was made last, also after the clock was set back.
#[wasm_bindgen_test]
async fn a_task_is_newer_than_those_that_are_known_or_were_noted() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let now = clock::now();
    let noted = |text: &str| LocalStore::Browser.write("atelier.newest", text);
    let is_now = |created| (now..=clock::now()).contains(&created);
    assert!(is_now(tab.runner.created()));
    assert!(noted(&(now + 5_000).to_string()));
    let created = tab.runner.created();
    assert!(created > now + 5_000, "{created}");
    let stored = LocalStore::Browser.read("atelier.newest");
    assert_eq!(stored, Some(created.to_string()));
    for odd in ["", "{}", "soon", "-1"] {
        assert!(noted(odd));
        assert!(is_now(tab.runner.created()), "{odd}");
    }
    tab.runner.submit_tasks(vec![task("a", now + 9_000)]);
    assert!(tab.runner.created() > now + 9_000);
}

/// A service that can't be reached.
fn sign_in() {
    let settings = Settings {
        address: ServiceAddress::parse("http://127.0.0.1:9").expect("an address"),
        uid: "me".into(),
        ..Settings::default()
    };
    assert!(session().save(settings, "secret".into(), true));
}

/// Guards against a Retry that does nothing and says "Sent again": the attempt before it was removed, and not yet for
/// good.
#[wasm_bindgen_test]
async fn what_was_retried_and_removed_can_be_retried_once_more() {
    start_afresh().await;
    sign_in();
    let removed = Task {
        retry_of: Some(TaskKey("a".into())),
        removed: Some(clock::now()),
        ..failed("a-2", 20)
    };
    put(&[failed("a", 10), removed]).await;
    let tab = Tab::open_leading().await;
    let retry = tab.runner.retry(&TaskKey("a".into()));
    assert_eq!(retry, Some(TaskKey("a-3".into())));
    let retry = retry.and_then(|retry| tab.runner.task(&retry));
    assert!(retry.is_some(), "it is not there");
}

/// Guards against paying twice: a person presses Retry in two tabs, before the second has heard of the first.
#[wasm_bindgen_test]
async fn what_is_retried_in_two_tabs_at_once_is_one_task() {
    start_afresh().await;
    sign_in();
    put(&[failed("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.lists(&["a"]).await;
    let first = TaskKey("a".into());
    let retries = [&leader, &follower].map(|tab| tab.runner.retry(&first));
    assert!(retries[0].is_some(), "it was not sent");
    assert_eq!(retries[0], retries[1]);
    let retry = retries[0].clone().map(|key| key.0).unwrap_or_default();
    leader.lists(&[&retry]).await;
    follower.lists(&[&retry]).await;
    let mut keys: Vec<String> = stored().await.into_iter().map(|task| task.key.0).collect();
    keys.sort();
    assert_eq!(keys, ["a".to_owned(), retry]);
}
