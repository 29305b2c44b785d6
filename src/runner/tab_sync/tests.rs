use std::cell::RefCell;

use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{owner, pause, ready, reset_browser, task, until};

/// A tab that takes part in the election and collects messages, but does not act on them.
struct Tab {
    owner: Owner,
    tasks: TaskStore,
    sync: TabSync,
    received: Rc<RefCell<Vec<String>>>,
    /// The changes of leadership: whether this tab leads.
    changes: Rc<RefCell<Vec<bool>>>,
}

impl Tab {
    fn open() -> Self {
        let owner = owner();
        let (tasks, sync) = owner.with(|| {
            let tasks = TaskStore::new();
            let sync = TabSync::new(tasks);
            on_cleanup(move || sync.resign());
            (tasks, sync)
        });
        let received = Rc::new(RefCell::new(Vec::new()));
        let receiver = received.clone();
        sync.listen(move |text| receiver.borrow_mut().push(text));
        Self {
            owner,
            tasks,
            sync,
            received,
            changes: Rc::default(),
        }
    }

    /// Requests leadership, and becomes the leader as soon as it is granted.
    fn request_leadership(&self) {
        let (sync, changes) = (self.sync, self.changes.clone());
        sync.request_leadership(move |generation| {
            changes.borrow_mut().push(generation.is_some());
            if let Some(generation) = generation {
                sync.lead(generation);
            }
        });
    }

    fn received(&self) -> Vec<String> {
        self.received.borrow().clone()
    }

    async fn until_received(&self, count: usize) {
        until(&format!("{count} messages"), || {
            self.received.borrow().len() >= count
        })
        .await;
        pause().await;
    }

    async fn until_leader(&self) {
        until("the right to lead", || self.sync.leads()).await;
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.owner.cleanup();
    }
}

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

fn texts(messages: &[TabMessage]) -> Vec<String> {
    messages
        .iter()
        .map(|message| message.to_value().to_string())
        .collect()
}

#[wasm_bindgen_test]
async fn message_reaches_all_tabs_but_its_sender() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    // A new tab requests the leader's status.
    one.until_received(1).await;
    assert_eq!(one.received(), [r#""StateWanted""#]);
    assert_eq!(two.received(), [""; 0]);
    two.sync.send(&TabMessage::Wake);
    one.until_received(2).await;
    assert_eq!(one.received(), [r#""StateWanted""#, r#""Wake""#]);
    assert_eq!(two.received(), [""; 0]);
    one.sync.send(&TabMessage::Removed(key("a")));
    two.until_received(1).await;
    assert_eq!(two.received(), [r#"{"Removed":"a"}"#]);
}

#[wasm_bindgen_test]
async fn next_tab_takes_over_when_the_leader_is_closed() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.request_leadership();
    one.until_leader().await;
    two.request_leadership();
    for _ in 0..5 {
        pause().await;
    }
    assert!(one.sync.leads() && !two.sync.leads());
    assert!(one.sync.generation().is_some());
    assert_eq!(two.sync.generation(), None);
    let changes = one.changes.clone();
    drop(one);
    two.until_leader().await;
    assert_eq!(*changes.borrow(), [true, false]);
    assert_eq!(*two.changes.borrow(), [true]);
}

/// A tab resigns because it can't write records, so it must not become the leader later.
#[wasm_bindgen_test]
async fn resigned_tab_does_not_lead_again() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.request_leadership();
    one.until_leader().await;
    one.sync.resign();
    assert!(!one.sync.leads());
    two.request_leadership();
    two.until_leader().await;
    drop(two);
    for _ in 0..5 {
        pause().await;
    }
    one.sync.check();
    assert!(!one.sync.leads());
    assert_eq!(*one.changes.borrow(), [true, false]);
}

#[wasm_bindgen_test]
async fn messages_are_deferred_while_a_tab_takes_over() {
    reset_browser().await;
    let tab = Tab::open();
    assert!(!tab.sync.defer("for the leader"));
    let granted = Rc::new(RefCell::new(None));
    let taking_over = granted.clone();
    tab.sync.request_leadership(move |generation| {
        *taking_over.borrow_mut() = generation;
    });
    until("the right to lead", || granted.borrow().is_some()).await;
    assert!(!tab.sync.leads(), "the tab has not read the records");
    assert!(tab.sync.defer("first") && tab.sync.defer("second"));
    let generation = granted.borrow().expect("a generation");
    assert_eq!(
        tab.sync.lead(generation + 1),
        None,
        "the generation is outdated"
    );
    let deferred = tab.sync.lead(generation).expect("it leads");
    assert_eq!(deferred, ["first", "second"]);
    assert!(tab.sync.leads() && !tab.sync.defer("third"));
    assert_eq!(tab.sync.generation(), Some(generation));
}

#[wasm_bindgen_test]
async fn many_tasks_are_sent_once_each_in_their_latest_state() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    let count = MAX_CHUNK_TASKS * 2 + 50;
    let tasks: Vec<_> = (0..count).map(|n| task(&format!("t{n}"), 10)).collect();
    one.tasks.show(&tasks);
    let keys: Vec<_> = tasks.iter().map(|task| task.key.clone()).collect();
    one.sync.send_tasks(keys.clone());
    // These tasks are added again before they were sent.
    one.sync.send_tasks(keys[count - 2..].iter().cloned());
    one.tasks
        .show(&[ready(&format!("t{}", count - 1), 10, &["https://x/1"])]);
    two.until_received(count).await;
    let received: Vec<Task> = two
        .received()
        .iter()
        .filter_map(|text| sent_task(text))
        .collect();
    let received_keys: Vec<_> = received.iter().map(|task| task.key.clone()).collect();
    assert_eq!(received_keys, keys);
    assert_eq!(received[0], tasks[0]);
    let last = &received[count - 1];
    assert!(last.state.is_terminal(), "outdated: {last:?}");
}

fn sent_task(text: &str) -> Option<Task> {
    match TabMessage::read(text) {
        Some(TabMessage::Task(task)) => Some(*task),
        _ => None,
    }
}

/// A follower must not send tasks, because the new leader has newer states of them.
#[wasm_bindgen_test]
async fn unsent_tasks_are_not_sent_after_a_tab_stops_leading() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.request_leadership();
    one.until_leader().await;
    let tasks: Vec<_> = (0..=MAX_CHUNK_TASKS)
        .map(|n| task(&format!("t{n}"), 10))
        .collect();
    one.tasks.show(&tasks);
    one.sync
        .send_tasks(tasks.iter().map(|task| task.key.clone()));
    one.sync.resign();
    two.sync.send(&TabMessage::Wake);
    one.until_received(2).await;
    assert_eq!(two.received(), [""; 0]);
}

#[wasm_bindgen_test]
async fn requests_are_remembered_until_they_are_confirmed() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    let (queued, other) = (task("a", 10), task("b", 20));
    two.sync.request_action(&queued.key, Action::Cancel);
    two.sync.request_action(&other.key, Action::Cancel);
    two.sync.request_from_leader(TabMessage::Wake);
    one.until_received(4).await;
    let requests = [
        r#"{"Act":["a","cancel"]}"#,
        r#"{"Act":["b","cancel"]}"#,
        r#""Wake""#,
    ];
    assert_eq!(one.received()[1..], requests);
    // The first task can still be cancelled, so the leader has not cancelled it. The other task was deleted.
    two.sync.confirm_actions(&queued.key, Some(&queued));
    two.sync.confirm_actions(&other.key, None);
    assert_eq!(
        texts(&two.sync.take_unconfirmed_requests()),
        [requests[0], requests[2]]
    );
    // A request that no task can confirm is repeated once. An action on a task is repeated until it is confirmed.
    assert_eq!(texts(&two.sync.take_unconfirmed_requests()), [requests[0]]);
    two.sync
        .confirm_actions(&queued.key, Some(&ready("a", 10, &[])));
    assert_eq!(texts(&two.sync.take_unconfirmed_requests()), [""; 0]);
}

/// The user would pay for each attempt.
#[wasm_bindgen_test]
async fn second_attempt_is_requested_once() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    two.sync.request_action(&key("a"), Action::Resubmit);
    one.until_received(2).await;
    assert_eq!(one.received()[1..], [r#"{"Act":["a","resubmit"]}"#]);
    assert_eq!(texts(&two.sync.take_unconfirmed_requests()), [""; 0]);
}

/// A tab that is taking over must execute the request itself, because there is no other leader.
#[wasm_bindgen_test]
async fn tab_that_takes_over_remembers_a_second_attempt() {
    reset_browser().await;
    let tab = Tab::open();
    let granted = Rc::new(RefCell::new(false));
    let taking_over = granted.clone();
    tab.sync
        .request_leadership(move |_| *taking_over.borrow_mut() = true);
    until("the right to lead", || *granted.borrow()).await;
    tab.sync.request_action(&key("a"), Action::Resubmit);
    assert_eq!(
        texts(&tab.sync.take_unconfirmed_requests()),
        [r#"{"Act":["a","resubmit"]}"#]
    );
}

#[wasm_bindgen_test]
async fn tab_neither_sends_nor_leads_after_the_app_was_unmounted() {
    reset_browser().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.request_leadership();
    one.until_leader().await;
    one.owner.cleanup();
    assert_eq!(one.sync.try_leads(), None);
    assert!(!one.sync.leads() && !one.sync.defer("anything"));
    assert_eq!(one.sync.generation(), None);
    one.sync.send(&TabMessage::Wake);
    one.sync.send_tasks([key("a")]);
    one.sync.confirm_actions(&key("a"), None);
    assert!(one.sync.take_unconfirmed_requests().is_empty());
    pause().await;
    assert_eq!(two.received(), [""; 0]);
}
