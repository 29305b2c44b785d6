use atelier_engine::{Action, Task};
use gloo_timers::future::TimeoutFuture;
use js_sys::Array;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::local::LocalStore;
use crate::browser::storage::Storage;
use crate::browser::{http, location};
use crate::runner::testing::{Tab, pause, put, ready, session, start_afresh, stored, until};
use crate::state::session::Settings;

/// Copies are kept, of so many bytes.
fn keep(limit: u64) {
    let settings = Settings {
        keep: true,
        keep_limit: limit,
        ..Settings::default()
    };
    session().save(settings, String::new(), true);
}

/// Nothing is stored but these, where the browser stores files at all. WebKit does not where nothing is to
/// last: in a private window, and where a test drives it.
async fn begin_with(tasks: &[Task]) -> bool {
    start_afresh().await;
    put(tasks).await;
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

/// A task that has just finished, with outputs that can be had: each is this very page.
fn finished(key: &str, outputs: usize) -> Task {
    let urls: Vec<_> = (0..outputs)
        .map(|n| format!("{}/?{key}{n}", location::origin()))
        .collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    let mut task = ready(key, clock::now(), &urls);
    task.finished = Some(clock::now());
    task
}

/// The names of the copies that there are.
async fn copies(tab: &Tab) -> Vec<String> {
    let copies = tab.runner.copies().await.expect("what is known of copies");
    copies.into_iter().map(|copy| copy.key).collect()
}

async fn has_copies(tab: &Tab, names: &[&str]) {
    for _ in 0..6_000 {
        if copies(tab).await == names {
            return;
        }
        pause().await;
    }
    panic!("copies are {:?}, not {names:?}", copies(tab).await);
}

/// Time enough for a copy that is not to be made.
async fn a_while() {
    for _ in 0..20 {
        pause().await;
    }
}

fn of_task(key: &str) -> CopyRequest {
    CopyRequest::Task(TaskKey(key.into()))
}

fn wanted() -> Option<String> {
    LocalStore::Browser.read("atelier.copies.wanted")
}

#[wasm_bindgen_test]
async fn what_is_shown_is_copied_by_the_leader_and_what_is_removed_goes() {
    if !begin_with(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    keep(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    let runner = follower.runner;
    let looks = follower.follow(move || runner.track_copies());
    a_while().await;
    let before = looks.with_value(Vec::len);
    follower.runner.shown("a/1".into());
    has_copies(&leader, &["a/1"]).await;
    until("the follower to look again", || {
        looks.with_value(Vec::len) > before
    })
    .await;
    leader.runner.shown("b/0".into());
    has_copies(&follower, &["a/1", "b/0"]).await;
    let all = follower.runner.copies().await.expect("copies");
    let copy = follower.runner.copy("a/1").await.expect("a copy");
    assert_eq!(all[0].url, format!("{}/?a1", location::origin()));
    assert_eq!(all[0].bytes as f64, copy.size());
    assert!(all[0].bytes > 0);
    assert!(follower.runner.copy("a/0").await.is_none());
    let task = stored().await.swap_remove(0);
    leader.runner.act(&task.key, Action::Delete);
    has_copies(&follower, &["b/0"]).await;
    assert!(leader.runner.copy("a/1").await.is_none());
}

fn earlier_wanted() -> Option<String> {
    LocalStore::Browser.read("atelier.copies.earlier")
}

/// Guards against "Keep outputs" that keeps none of those that are there: a person was told of a copy of each.
#[wasm_bindgen_test]
async fn who_wants_copies_gets_them_of_what_is_there_too() {
    let mut old = finished("old", 1);
    old.finished = Some(clock::now() - 9 * MAX_AGE);
    // Nothing listens there.
    let dead = ready("dead", clock::now(), &["http://127.0.0.1:1/a.png"]);
    if !begin_with(&[finished("a", 2), old, dead]).await {
        return;
    }
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    keep(1 << 30);
    follower.runner.keep_all();
    has_copies(&leader, &["a/0", "a/1", "old/0"]).await;
    let all = leader.runner.copies().await.expect("copies");
    assert!(
        all[2].shown < all[0].shown,
        "the old one is the first to make way"
    );
    until("nothing to be left", || earlier_wanted().is_none()).await;
}

/// What was there is not forgotten where the page is closed before all of it is copied, and nothing older than what
/// there is room for is fetched.
#[wasm_bindgen_test]
async fn what_is_there_is_gone_on_with_until_there_is_no_room() {
    let mut old = finished("old", 1);
    old.created -= 9 * MAX_AGE;
    old.finished = Some(clock::now() - 9 * MAX_AGE);
    if !begin_with(&[finished("a", 1), old]).await {
        return;
    }
    LocalStore::Browser.write("atelier.copies.earlier", "wanted");
    // There is room for one of them.
    let page = http::get_blob(&format!("{}/?a0", location::origin()), 1 << 30).await;
    keep(page.expect("this very page").size() as u64);
    let tab = Tab::open_leading().await;
    has_copies(&tab, &["a/0"]).await;
    until("nothing to be left", || earlier_wanted().is_none()).await;
    assert_eq!(copies(&tab).await, ["a/0"]);
}

/// Guards against copies that come back after the user has deleted all: of what was there before, which is
/// copied a second after it was wanted, and of what was just being fetched.
#[wasm_bindgen_test]
async fn copies_requested_before_all_were_deleted_do_not_come_back() {
    let mut b = finished("b", 2);
    b.created -= 1_000;
    if !begin_with(&[finished("a", 2), b]).await {
        return;
    }
    keep(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.keep_all();
    leader.runner.shown("a/0".into());
    leader.runner.shown("a/1".into());
    leader.runner.delete_copies();
    follower.runner.keep_all();
    follower.runner.delete_copies();
    assert_eq!(earlier_wanted(), None);
    // What is looked at from then on is copied again, after all that was requested before.
    follower.runner.shown("b/0".into());
    has_copies(&leader, &["b/0"]).await;
    // By now the leader waits before it copies what was there before. Timers of one page end in the order in which
    // they began. The newest task would come first.
    TimeoutFuture::new(earlier::SETTING_MS).await;
    leader.runner.shown("b/1".into());
    has_copies(&leader, &["b/0", "b/1"]).await;
}

/// Guards against a leader that makes the copies in its queue although the user has deleted all in another tab.
#[wasm_bindgen_test]
async fn requests_in_the_queue_expire_when_another_tab_deletes_all_copies() {
    if !begin_with(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    keep(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.shown("a/0".into());
    leader.runner.shown("a/1".into());
    follower.runner.delete_copies();
    leader.runner.shown("b/0".into());
    has_copies(&leader, &["b/0"]).await;
}

/// Guards against copies of all outputs of a task that finished before the user deleted all copies, and against
/// none of a task that finishes afterwards.
#[wasm_bindgen_test]
async fn requests_for_finished_tasks_expire_when_all_copies_are_deleted() {
    if !begin_with(&[finished("a", 2), finished("b", 1)]).await {
        return;
    }
    keep(1 << 30);
    let leader = Tab::open_leading().await;
    leader.parts().cache.request(of_task("a"));
    leader.runner.delete_copies();
    assert_eq!(wanted(), None);
    leader.parts().cache.request(of_task("b"));
    assert_eq!(wanted().as_deref(), Some("b/"));
    has_copies(&leader, &["b/0"]).await;
}

/// Guards against a next leader that carries out what was requested before all copies were deleted: what the last leader
/// has stored, and what this tab has kept in mind.
#[wasm_bindgen_test]
async fn the_next_leader_ignores_requests_from_before_all_copies_were_deleted() {
    if !begin_with(&[finished("a", 1), finished("b", 1), finished("c", 1)]).await {
        return;
    }
    keep(1 << 30);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    let other = Tab::open().await;
    LocalStore::Browser.write("atelier.copies.wanted", "a/");
    let cache = follower.parts().cache;
    cache.request(CopyRequest::Output("b/0".into()));
    other.runner.delete_copies();
    drop(leader);
    follower.leads().await;
    follower.runner.shown("c/0".into());
    has_copies(&follower, &["c/0"]).await;
}

/// Guards against a wish that is lost: the user deletes all copies while the leader copies the last of the earlier
/// outputs, and ticks "Keep outputs" again.
#[wasm_bindgen_test]
async fn earlier_outputs_are_copied_when_wanted_again_during_the_last_task() {
    let mut first = finished("b", 1);
    first.created += 1_000;
    if !begin_with(&[finished("a", 30), first]).await {
        return;
    }
    keep(1 << 30);
    let leader = Tab::open_leading().await;
    leader.runner.keep_all();
    while !copies(&leader).await.contains(&"a/0".to_owned()) {
        pause().await;
    }
    leader.runner.delete_copies();
    leader.runner.keep_all();
    until("nothing to be left", || earlier_wanted().is_none()).await;
    assert_eq!(copies(&leader).await.len(), 31);
}

/// The page was closed right after the task had finished.
#[wasm_bindgen_test]
async fn what_the_last_leader_has_not_come_to_is_copied_by_the_next() {
    let mut old = finished("old", 1);
    old.finished = Some(clock::now() - MAX_AGE - 1_000);
    if !begin_with(&[finished("a", 2), old]).await {
        return;
    }
    keep(1 << 30);
    LocalStore::Browser.write("atelier.copies.wanted", "a/\nold/\ngone/");
    let tab = Tab::open_leading().await;
    has_copies(&tab, &["a/0", "a/1"]).await;
    a_while().await;
    assert_eq!(copies(&tab).await, ["a/0", "a/1"]);
    assert_eq!(wanted(), None, "there is nothing left to be copied");
}

#[wasm_bindgen_test]
async fn where_no_copies_are_wanted_favorites_alone_are_kept() {
    if !begin_with(&[finished("a", 2)]).await {
        return;
    }
    let tab = Tab::open_leading().await;
    tab.runner.shown("a/0".into());
    tab.runner.set_favorite("a/1", true);
    has_copies(&tab, &["a/1"]).await;
    a_while().await;
    assert_eq!(copies(&tab).await, ["a/1"]);
    // A favorite is never evicted.
    tab.runner.delete_copies();
    a_while().await;
    assert_eq!(copies(&tab).await, ["a/1"]);
    tab.runner.set_favorite("a/1", false);
    tab.runner.delete_copies();
    has_copies(&tab, &[]).await;
}

#[wasm_bindgen_test]
async fn the_copy_that_was_not_looked_at_for_longest_makes_way() {
    if !begin_with(&[finished("a", 3)]).await {
        return;
    }
    keep(1 << 30);
    let tab = Tab::open_leading().await;
    for name in ["a/0", "a/1"] {
        tab.runner.shown(name.into());
        let there = ["a/0", "a/1"];
        let count = if name == "a/0" { 1 } else { 2 };
        has_copies(&tab, &there[..count]).await;
        pause().await;
    }
    let bytes = tab.runner.copies().await.expect("copies")[0].bytes;
    keep(bytes * 2);
    // Looked at once more, so that the other one is the oldest.
    let before = clock::now();
    tab.runner.shown("a/0".into());
    for _ in 0..6_000 {
        if tab.runner.copies().await.expect("copies")[0].shown >= before {
            break;
        }
        pause().await;
    }
    tab.runner.shown("a/2".into());
    has_copies(&tab, &["a/0", "a/2"]).await;
}
