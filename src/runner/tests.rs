use atelier_contract::ServiceAddress;
use atelier_engine::TaskKey;
use wasm_bindgen_test::wasm_bindgen_test;

use super::testing::{Tab, failed, reset_browser, session, store_tasks, stored_tasks, task};
use super::*;
use crate::state::session::Settings;

/// The task at the top of the list must be the one that was created last, even if the clock was set back.
#[wasm_bindgen_test]
async fn new_task_is_newer_than_known_and_recorded_tasks() {
    reset_browser().await;
    let tab = Tab::open_leading().await;
    let now = clock::now();
    let record = |text: &str| LocalStore::Browser.write("atelier.newest", text);
    let is_now = |created| (now..=clock::now()).contains(&created);
    assert!(is_now(tab.runner.created()));
    assert!(record(&(now + 5_000).to_string()));
    let created = tab.runner.created();
    assert!(created > now + 5_000, "{created}");
    let stored = LocalStore::Browser.read("atelier.newest");
    assert_eq!(stored, Some(created.to_string()));
    for odd in ["", "{}", "soon", "-1"] {
        assert!(record(odd));
        assert!(is_now(tab.runner.created()), "{odd}");
    }
    tab.runner.submit_tasks(vec![task("a", now + 9_000)]);
    assert!(tab.runner.created() > now + 9_000);
}

/// Signs in to a service that can't be reached.
fn sign_in() {
    let settings = Settings {
        address: ServiceAddress::parse("http://127.0.0.1:9").expect("an address"),
        uid: "me".into(),
        ..Settings::default()
    };
    assert!(session().save(settings, "secret".into(), true));
}

/// Guards against a Retry that does nothing and shows "Sent again", because an earlier retry was removed and the removal can
/// still be undone.
#[wasm_bindgen_test]
async fn task_can_be_retried_again_after_its_retry_was_removed() {
    reset_browser().await;
    sign_in();
    let removed = Task {
        retry_of: Some(TaskKey("a".into())),
        removed: Some(clock::now()),
        ..failed("a-2", 20)
    };
    store_tasks(&[failed("a", 10), removed]).await;
    let tab = Tab::open_leading().await;
    let retry = tab.runner.retry(&TaskKey("a".into()));
    assert_eq!(retry, Some(TaskKey("a-3".into())));
    let retry = retry.and_then(|retry| tab.runner.task(&retry));
    assert!(retry.is_some(), "the retry is unknown");
}

/// Guards against paying twice if the user presses Retry in two tabs, before the second tab has received the first retry.
#[wasm_bindgen_test]
async fn retry_in_two_tabs_at_once_creates_one_task() {
    reset_browser().await;
    sign_in();
    store_tasks(&[failed("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.until_listed(&["a"]).await;
    let first = TaskKey("a".into());
    let retries = [&leader, &follower].map(|tab| tab.runner.retry(&first));
    assert!(retries[0].is_some(), "it was not sent");
    assert_eq!(retries[0], retries[1]);
    let retry = retries[0].clone().map(|key| key.0).unwrap_or_default();
    leader.until_listed(&[&retry]).await;
    follower.until_listed(&[&retry]).await;
    let mut keys: Vec<String> = stored_tasks()
        .await
        .into_iter()
        .map(|task| task.key.0)
        .collect();
    keys.sort();
    assert_eq!(keys, ["a".to_owned(), retry]);
}
