use std::cell::RefCell;

use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{owner, pause, ready, start_afresh, task, until};

/// What one tab knows of the others, without what it does about it.
struct Tab {
    owner: Owner,
    tasks: TaskStore,
    sync: TabSync,
    heard: Rc<RefCell<Vec<String>>>,
    /// Whether it leads, each time that it was told.
    told: Rc<RefCell<Vec<bool>>>,
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
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hear = heard.clone();
        sync.listen(move |text| hear.borrow_mut().push(text));
        Self {
            owner,
            tasks,
            sync,
            heard,
            told: Rc::default(),
        }
    }

    /// Asks to lead, and does so at once when it may.
    fn stand_for_leading(&self) {
        let (sync, told) = (self.sync, self.told.clone());
        sync.stand_for_leading(move |generation| {
            told.borrow_mut().push(generation.is_some());
            if let Some(generation) = generation {
                sync.lead(generation);
            }
        });
    }

    fn heard(&self) -> Vec<String> {
        self.heard.borrow().clone()
    }

    async fn hears(&self, count: usize) {
        until(&format!("{count} messages"), || {
            self.heard.borrow().len() >= count
        })
        .await;
        pause().await;
    }

    async fn leads(&self) {
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

fn words(messages: &[TabMessage]) -> Vec<String> {
    let texts = messages.iter();
    texts
        .map(|message| message.to_value().to_string())
        .collect()
}

#[wasm_bindgen_test]
async fn all_tabs_but_the_one_that_speaks_hear() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    // A new one asks how things stand.
    one.hears(1).await;
    assert_eq!(one.heard(), [r#""StateWanted""#]);
    assert_eq!(two.heard(), [""; 0]);
    two.sync.tell(&TabMessage::Wake);
    one.hears(2).await;
    assert_eq!(one.heard(), [r#""StateWanted""#, r#""Wake""#]);
    assert_eq!(two.heard(), [""; 0]);
    one.sync.tell(&TabMessage::Removed(key("a")));
    two.hears(1).await;
    assert_eq!(two.heard(), [r#"{"Removed":"a"}"#]);
}

#[wasm_bindgen_test]
async fn one_tab_leads_and_the_next_takes_over_when_it_goes() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.stand_for_leading();
    one.leads().await;
    two.stand_for_leading();
    for _ in 0..5 {
        pause().await;
    }
    assert!(one.sync.leads() && !two.sync.leads());
    assert!(one.sync.generation().is_some());
    assert_eq!(two.sync.generation(), None);
    let told = one.told.clone();
    drop(one);
    two.leads().await;
    assert_eq!(*told.borrow(), [true, false]);
    assert_eq!(*two.told.borrow(), [true]);
}

/// A tab that resigns does so for good: it could not write what it leads.
#[wasm_bindgen_test]
async fn who_has_resigned_does_not_lead_again() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.stand_for_leading();
    one.leads().await;
    one.sync.resign();
    assert!(!one.sync.leads());
    two.stand_for_leading();
    two.leads().await;
    drop(two);
    for _ in 0..5 {
        pause().await;
    }
    one.sync.check();
    assert!(!one.sync.leads());
    assert_eq!(*one.told.borrow(), [true, false]);
}

#[wasm_bindgen_test]
async fn what_is_said_while_a_tab_takes_over_waits_until_it_leads() {
    start_afresh().await;
    let tab = Tab::open();
    assert!(!tab.sync.defers("for whoever leads"));
    let begun = Rc::new(RefCell::new(None));
    let taking_over = begun.clone();
    tab.sync.stand_for_leading(move |generation| {
        *taking_over.borrow_mut() = generation;
    });
    until("the right to lead", || begun.borrow().is_some()).await;
    assert!(!tab.sync.leads(), "it has not read what was left");
    assert!(tab.sync.defers("first") && tab.sync.defers("second"));
    let generation = begun.borrow().expect("a generation");
    assert_eq!(tab.sync.lead(generation + 1), None, "of another generation");
    let put_off = tab.sync.lead(generation).expect("it leads");
    assert_eq!(put_off, ["first", "second"]);
    assert!(tab.sync.leads() && !tab.sync.defers("third"));
    assert_eq!(tab.sync.generation(), Some(generation));
}

#[wasm_bindgen_test]
async fn many_tasks_are_told_each_once_and_as_they_are_by_then() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    let count = MAX_CHUNK_TASKS * 2 + 50;
    let tasks: Vec<_> = (0..count).map(|n| task(&format!("t{n}"), 10)).collect();
    one.tasks.show(&tasks);
    let keys: Vec<_> = tasks.iter().map(|task| task.key.clone()).collect();
    one.sync.tell_tasks(keys.clone());
    // It asks again, before they were told.
    one.sync.tell_tasks(keys[count - 2..].iter().cloned());
    one.tasks
        .show(&[ready(&format!("t{}", count - 1), 10, &["https://x/1"])]);
    two.hears(count).await;
    let heard: Vec<Task> = two.heard().iter().filter_map(|text| told(text)).collect();
    let heard_keys: Vec<_> = heard.iter().map(|task| task.key.clone()).collect();
    assert_eq!(heard_keys, keys);
    assert_eq!(heard[0], tasks[0]);
    let last = &heard[count - 1];
    assert!(last.state.is_terminal(), "as it was: {last:?}");
}

fn told(text: &str) -> Option<Task> {
    match TabMessage::read(text) {
        Some(TabMessage::Task(task)) => Some(*task),
        _ => None,
    }
}

/// Who follows has nothing to tell of tasks: the tab that leads now knows better.
#[wasm_bindgen_test]
async fn what_a_tab_has_not_told_when_it_stops_leading_is_not_told() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.stand_for_leading();
    one.leads().await;
    let tasks: Vec<_> = (0..=MAX_CHUNK_TASKS)
        .map(|n| task(&format!("t{n}"), 10))
        .collect();
    one.tasks.show(&tasks);
    one.sync
        .tell_tasks(tasks.iter().map(|task| task.key.clone()));
    one.sync.resign();
    two.sync.tell(&TabMessage::Wake);
    one.hears(2).await;
    assert_eq!(two.heard(), [""; 0]);
}

#[wasm_bindgen_test]
async fn what_a_person_asks_for_is_remembered_until_it_is_seen_to_be_done() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    let (queued, other) = (task("a", 10), task("b", 20));
    two.sync.ask_to_act(&queued.key, Action::Cancel);
    two.sync.ask_to_act(&other.key, Action::Cancel);
    two.sync.ask_leader(TabMessage::Wake);
    one.hears(4).await;
    let asked = [
        r#"{"Act":["a","cancel"]}"#,
        r#"{"Act":["b","cancel"]}"#,
        r#""Wake""#,
    ];
    assert_eq!(one.heard()[1..], asked);
    // It may still be cancelled, so no tab has done it; the other one is gone.
    two.sync.on_message(&queued.key, Some(&queued));
    two.sync.on_message(&other.key, None);
    assert_eq!(
        words(&two.sync.take_unconfirmed_requests()),
        [asked[0], asked[2]]
    );
    // What is not seen by its task is asked for again once; the other until it is seen.
    assert_eq!(words(&two.sync.take_unconfirmed_requests()), [asked[0]]);
    two.sync.on_message(&queued.key, Some(&ready("a", 10, &[])));
    assert_eq!(words(&two.sync.take_unconfirmed_requests()), [""; 0]);
}

/// Each would be paid.
#[wasm_bindgen_test]
async fn a_second_attempt_is_asked_for_once() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    two.sync.ask_to_act(&key("a"), Action::Resubmit);
    one.hears(2).await;
    assert_eq!(one.heard()[1..], [r#"{"Act":["a","resubmit"]}"#]);
    assert_eq!(words(&two.sync.take_unconfirmed_requests()), [""; 0]);
}

/// A tab that is about to lead is asked by itself: no other tab does it.
#[wasm_bindgen_test]
async fn a_tab_that_takes_over_remembers_a_second_attempt_for_itself() {
    start_afresh().await;
    let tab = Tab::open();
    let begun = Rc::new(RefCell::new(false));
    let taking_over = begun.clone();
    tab.sync
        .stand_for_leading(move |_| *taking_over.borrow_mut() = true);
    until("the right to lead", || *begun.borrow()).await;
    tab.sync.ask_to_act(&key("a"), Action::Resubmit);
    assert_eq!(
        words(&tab.sync.take_unconfirmed_requests()),
        [r#"{"Act":["a","resubmit"]}"#]
    );
}

#[wasm_bindgen_test]
async fn a_tab_whose_app_is_gone_neither_speaks_nor_leads() {
    start_afresh().await;
    let (one, two) = (Tab::open(), Tab::open());
    one.stand_for_leading();
    one.leads().await;
    one.owner.cleanup();
    assert_eq!(one.sync.try_leads(), None);
    assert!(!one.sync.leads() && !one.sync.defers("anything"));
    assert_eq!(one.sync.generation(), None);
    one.sync.tell(&TabMessage::Wake);
    one.sync.tell_tasks([key("a")]);
    one.sync.on_message(&key("a"), None);
    assert!(one.sync.take_unconfirmed_requests().is_empty());
    pause().await;
    assert_eq!(two.heard(), [""; 0]);
}
