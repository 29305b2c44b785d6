use atelier_engine::{Action, Task};
use gloo_timers::future::TimeoutFuture;
use js_sys::Array;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::local::LocalStore;
use crate::browser::storage::Storage;
use crate::browser::{http, location};
use crate::runner::testing::{
    Tab, pause, ready, reset_browser, session, store_tasks, stored_tasks, until,
};
use crate::state::session::Settings;

/// Enables copies, with a limit in bytes.
fn enable_copies(limit: u64) {
    let settings = Settings {
        keep: true,
        keep_limit: limit,
        ..Settings::default()
    };
    session().save(settings, String::new(), true);
}

/// Clears storage, and stores these tasks. Returns whether the browser can store files. WebKit can't in a private window and
/// when it is automated.
async fn prepare(tasks: &[Task]) -> bool {
    reset_browser().await;
    store_tasks(tasks).await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let bytes = Blob::new_with_str_sequence(&Array::of1(&"bytes".into()));
    let probe = (Store::Outputs, "probe/0".to_owned());
    let file = (
        Store::Outputs,
        probe.1.clone(),
        bytes.expect("a blob").into(),
    );
    if storage.put(&[file]).await.is_ok() {
        storage.delete(&[probe]).await.expect("deleted");
        return true;
    }
    let agent = window().navigator().user_agent().unwrap_or_default();
    let is_webkit = agent.contains("AppleWebKit") && !agent.contains("Chrome");
    assert!(is_webkit, "refused by {agent}");
    false
}

/// Returns a task that has just finished. Its outputs can be fetched: each is an address of the test page.
fn finished(key: &str, outputs: usize) -> Task {
    let urls: Vec<_> = (0..outputs)
        .map(|n| format!("{}/?{key}{n}", location::origin()))
        .collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    let mut task = ready(key, clock::now(), &urls);
    task.finished = Some(clock::now());
    task
}

/// Returns the names of all copies.
async fn copies(tab: &Tab) -> Vec<String> {
    let copies = tab.runner.copies().await.expect("facts about copies");
    copies.into_iter().map(|copy| copy.key).collect()
}

/// Waits until exactly these copies exist.
async fn until_copies(tab: &Tab, names: &[&str]) {
    for _ in 0..6_000 {
        if copies(tab).await == names {
            return;
        }
        pause().await;
    }
    panic!("copies are {:?}, not {names:?}", copies(tab).await);
}

/// Waits long enough for an unwanted copy to be made.
async fn wait_for_unwanted_copies() {
    for _ in 0..20 {
        pause().await;
    }
}

fn of_task(key: &str) -> CopyRequest {
    CopyRequest::Task(TaskKey(key.into()))
}

fn stored_requests() -> Option<String> {
    LocalStore::Browser.read("atelier.copies.wanted")
}

#[wasm_bindgen_test]
async fn leader_copies_shown_outputs_and_deletes_copies_of_deleted_tasks() {
    if !prepare(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    enable_copies(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    let runner = follower.runner;
    let runs = follower.follow(move || runner.track_copies());
    wait_for_unwanted_copies().await;
    let before = runs.with_value(Vec::len);
    follower.runner.shown("a/1".into());
    until_copies(&leader, &["a/1"]).await;
    until("the follower to update its view", || {
        runs.with_value(Vec::len) > before
    })
    .await;
    leader.runner.shown("b/0".into());
    until_copies(&follower, &["a/1", "b/0"]).await;
    let all = follower.runner.copies().await.expect("copies");
    let copy = follower.runner.copy("a/1").await.expect("a copy");
    assert_eq!(all[0].url, format!("{}/?a1", location::origin()));
    assert_eq!(all[0].bytes as f64, copy.size());
    assert!(all[0].bytes > 0);
    assert!(follower.runner.copy("a/0").await.is_none());
    let task = stored_tasks().await.swap_remove(0);
    leader.runner.act(&task.key, Action::Delete);
    until_copies(&follower, &["b/0"]).await;
    assert!(leader.runner.copy("a/1").await.is_none());
}

fn stored_earlier_request() -> Option<String> {
    LocalStore::Browser.read("atelier.copies.earlier")
}

/// Guards against "Keep outputs" that ignores existing outputs: the page promises a copy of each.
#[wasm_bindgen_test]
async fn enabling_copies_also_copies_existing_outputs() {
    let mut old = finished("old", 1);
    old.finished = Some(clock::now() - 9 * MAX_AGE);
    // No server listens on this port.
    let dead = ready("dead", clock::now(), &["http://127.0.0.1:1/a.png"]);
    if !prepare(&[finished("a", 2), old, dead]).await {
        return;
    }
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    enable_copies(1 << 30);
    follower.runner.request_all_copies();
    until_copies(&leader, &["a/0", "a/1", "old/0"]).await;
    let all = leader.runner.copies().await.expect("copies");
    assert!(
        all[2].shown < all[0].shown,
        "the oldest copy is evicted first"
    );
    until("the request to be completed", || {
        stored_earlier_request().is_none()
    })
    .await;
}

/// The next page continues if a page is closed before all existing outputs are copied. Outputs beyond the limit are not
/// fetched.
#[wasm_bindgen_test]
async fn existing_outputs_are_copied_until_the_limit_is_reached() {
    let mut old = finished("old", 1);
    old.created -= 9 * MAX_AGE;
    old.finished = Some(clock::now() - 9 * MAX_AGE);
    if !prepare(&[finished("a", 1), old]).await {
        return;
    }
    LocalStore::Browser.write("atelier.copies.earlier", "wanted");
    // The limit allows one copy.
    let page = http::get_blob(&format!("{}/?a0", location::origin()), 1 << 30).await;
    enable_copies(page.expect("the test page").size() as u64);
    let tab = Tab::open_leading().await;
    until_copies(&tab, &["a/0"]).await;
    until("the request to be completed", || {
        stored_earlier_request().is_none()
    })
    .await;
    assert_eq!(copies(&tab).await, ["a/0"]);
}

/// Guards against copies that are made after the user has deleted all copies: copies of existing outputs, which are made a
/// second after the request, and the copy of an output that was being fetched.
#[wasm_bindgen_test]
async fn copies_requested_before_all_were_deleted_do_not_come_back() {
    let mut b = finished("b", 2);
    b.created -= 1_000;
    if !prepare(&[finished("a", 2), b]).await {
        return;
    }
    enable_copies(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.request_all_copies();
    leader.runner.shown("a/0".into());
    leader.runner.shown("a/1".into());
    leader.runner.delete_copies();
    follower.runner.request_all_copies();
    follower.runner.delete_copies();
    assert_eq!(stored_earlier_request(), None);
    // An output that is shown afterwards is copied. Its request comes after all earlier ones.
    follower.runner.shown("b/0".into());
    until_copies(&leader, &["b/0"]).await;
    // The leader may still be waiting before it copies existing outputs. Timers of a page end in the order in which they
    // were started, so the leader's wait ends first. It would copy the newest task first.
    TimeoutFuture::new(earlier::SETTING_DELAY_MS).await;
    leader.runner.shown("b/1".into());
    until_copies(&leader, &["b/0", "b/1"]).await;
}

/// Guards against a leader that makes the copies in its queue although the user has deleted all copies in another tab.
#[wasm_bindgen_test]
async fn requests_in_the_queue_expire_when_another_tab_deletes_all_copies() {
    if !prepare(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    enable_copies(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.shown("a/0".into());
    leader.runner.shown("a/1".into());
    follower.runner.delete_copies();
    leader.runner.shown("b/0".into());
    until_copies(&leader, &["b/0"]).await;
}

/// Guards against copies of a task that finished before the user deleted all copies, and against missing copies of a task
/// that finishes afterwards.
#[wasm_bindgen_test]
async fn requests_for_finished_tasks_expire_when_all_copies_are_deleted() {
    if !prepare(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    enable_copies(1 << 30);
    let leader = Tab::open_leading().await;
    leader.parts().cache.request(of_task("a"));
    leader.runner.delete_copies();
    assert_eq!(stored_requests(), None);
    leader.parts().cache.request(of_task("b"));
    assert_eq!(stored_requests().as_deref(), Some("b/"));
    until_copies(&leader, &["b/0"]).await;
}

/// Guards against a new leader that executes requests from before all copies were deleted: those that the previous leader
/// has stored, and those that this tab remembers.
#[wasm_bindgen_test]
async fn the_next_leader_ignores_requests_from_before_all_copies_were_deleted() {
    if !prepare(&[finished("a", 1), finished("b", 1), finished("c", 1)]).await {
        return;
    }
    enable_copies(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    let other = Tab::open().await;
    LocalStore::Browser.write("atelier.copies.wanted", "a/");
    let cache = follower.parts().cache;
    cache.request(CopyRequest::Output("b/0".into()));
    other.runner.delete_copies();
    drop(leader);
    follower.until_leader().await;
    follower.runner.shown("c/0".into());
    until_copies(&follower, &["c/0"]).await;
}

/// Guards against losing a request when the user deletes all copies while the leader copies the last of the earlier
/// outputs, and then ticks "Keep outputs" again.
#[wasm_bindgen_test]
async fn earlier_outputs_are_copied_when_wanted_again_during_the_last_task() {
    let mut first = finished("b", 1);
    first.created += 1_000;
    if !prepare(&[finished("a", 30), first]).await {
        return;
    }
    enable_copies(1 << 30);
    let leader = Tab::open_leading().await;
    leader.runner.request_all_copies();
    while !copies(&leader).await.contains(&"a/0".to_owned()) {
        pause().await;
    }
    leader.runner.delete_copies();
    leader.runner.request_all_copies();
    until("the request to be completed", || {
        stored_earlier_request().is_none()
    })
    .await;
    assert_eq!(copies(&leader).await.len(), 31);
}

/// The page was closed right after the task had finished.
#[wasm_bindgen_test]
async fn next_leader_executes_the_remaining_requests() {
    let mut old = finished("old", 1);
    old.finished = Some(clock::now() - MAX_AGE - 1_000);
    if !prepare(&[finished("a", 2), old]).await {
        return;
    }
    enable_copies(1 << 30);
    LocalStore::Browser.write("atelier.copies.wanted", "a/\nold/\ngone/");
    let tab = Tab::open_leading().await;
    until_copies(&tab, &["a/0", "a/1"]).await;
    wait_for_unwanted_copies().await;
    assert_eq!(copies(&tab).await, ["a/0", "a/1"]);
    assert_eq!(stored_requests(), None, "a request remains");
}

#[wasm_bindgen_test]
async fn only_favorites_are_copied_when_copies_are_disabled() {
    if !prepare(&[finished("a", 2)]).await {
        return;
    }
    let tab = Tab::open_leading().await;
    tab.runner.shown("a/0".into());
    tab.runner.set_favorite("a/1", true);
    until_copies(&tab, &["a/1"]).await;
    wait_for_unwanted_copies().await;
    assert_eq!(copies(&tab).await, ["a/1"]);
    // A favorite is never evicted.
    tab.runner.delete_copies();
    wait_for_unwanted_copies().await;
    assert_eq!(copies(&tab).await, ["a/1"]);
    tab.runner.set_favorite("a/1", false);
    tab.runner.delete_copies();
    until_copies(&tab, &[]).await;
}

#[wasm_bindgen_test]
async fn least_recently_shown_copy_is_evicted() {
    if !prepare(&[finished("a", 3)]).await {
        return;
    }
    enable_copies(1 << 30);
    let tab = Tab::open_leading().await;
    for name in ["a/0", "a/1"] {
        tab.runner.shown(name.into());
        let expected = ["a/0", "a/1"];
        let count = if name == "a/0" { 1 } else { 2 };
        until_copies(&tab, &expected[..count]).await;
        pause().await;
    }
    let bytes = tab.runner.copies().await.expect("copies")[0].bytes;
    enable_copies(bytes * 2);
    // Shown again, so that the other copy is the least recently shown one.
    let before = clock::now();
    tab.runner.shown("a/0".into());
    for _ in 0..6_000 {
        if tab.runner.copies().await.expect("copies")[0].shown >= before {
            break;
        }
        pause().await;
    }
    tab.runner.shown("a/2".into());
    until_copies(&tab, &["a/0", "a/2"]).await;
}
