//! The status that every tab shows above its pages: why the leader makes no calls, and why tasks are only in memory.

use atelier_engine::BlockReason;
use leptos::prelude::*;

use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use crate::browser::storage::StorageError;

#[derive(Clone, Copy)]
pub(super) struct Status {
    tabs: TabSync,
    block_reason: RwSignal<Option<BlockReason>>,
    storage_error: RwSignal<Option<StorageError>>,
    /// The storage error of the leader, while this tab is a follower.
    leader_storage_error: RwSignal<Option<StorageError>>,
    /// Another tab leads and stores all tasks.
    leader_stores: RwSignal<bool>,
    /// This tab has read the tasks that were stored when it was opened.
    has_read: RwSignal<bool>,
    is_superseded: RwSignal<bool>,
}

impl Status {
    pub fn new(tabs: TabSync) -> Self {
        Self {
            tabs,
            block_reason: RwSignal::new(None),
            storage_error: RwSignal::new(None),
            leader_storage_error: RwSignal::new(None),
            leader_stores: RwSignal::new(false),
            has_read: RwSignal::new(false),
            is_superseded: RwSignal::new(false),
        }
    }

    pub fn block_reason(self) -> RwSignal<Option<BlockReason>> {
        self.block_reason
    }

    /// Returns why tasks are only in memory, in this tab or in the leader; tracked.
    pub fn storage_error(self) -> Option<StorageError> {
        // If the leader stores all tasks and this tab has read them, an error of this tab's storage does no harm.
        let is_stored = self.leader_stores.get() && self.has_read.get();
        let own = self.storage_error.get();
        let own = own.filter(|error| !is_stored || *error == StorageError::Newer);
        own.or(self.leader_storage_error.get())
    }

    /// Returns why tasks are only in memory in this tab; tracked.
    pub fn own_storage_error(self) -> Option<StorageError> {
        self.storage_error.get()
    }

    /// Returns whether a newer version stores the tasks, or did during this visit; tracked. If so, this tab makes no calls
    /// any more.
    pub fn is_superseded(self) -> bool {
        self.is_superseded.get()
    }

    /// Records that a newer version stores the tasks. This can't be undone until the page is reloaded.
    pub fn supersede(self) {
        self.is_superseded.set(true);
        // Clears the reason, because this tab makes no calls any more.
        self.block_reason.set(None);
    }

    pub fn leader_cannot_write(self) -> bool {
        let error = self.leader_storage_error.try_get_untracked();
        error.flatten().is_some()
    }

    /// Sets the reason why no calls are made. Returns whether it has changed.
    pub fn set_block_reason(self, block_reason: Option<BlockReason>) -> bool {
        let before = self.block_reason.try_get_untracked();
        let has_changed = before.is_some_and(|before| before != block_reason);
        if has_changed {
            self.block_reason.set(block_reason);
        }
        has_changed
    }

    pub fn set_storage_error(self, error: Option<StorageError>) {
        // Storage may respond after the app was unmounted.
        let before = self.storage_error.try_get_untracked();
        if before.is_some_and(|before| before != error) {
            self.storage_error.set(error);
            self.send();
        }
    }

    /// Clears the previous leader's state, because this tab is the leader now.
    pub fn lead(self) {
        self.leader_storage_error.set(None);
        self.leader_stores.set(false);
        self.send();
    }

    /// Sends the status to the other tabs, if this tab leads.
    pub fn send(self) {
        if self.tabs.generation().is_some() {
            self.tabs.send(&TabMessage::State(
                self.block_reason.get_untracked(),
                self.storage_error.get_untracked(),
            ));
        }
    }

    /// Returns whether this tab has read the stored tasks; tracked.
    pub fn has_read(self) -> bool {
        self.has_read.get()
    }

    /// Records that this tab has read the stored tasks.
    pub fn read(self) {
        self.has_read.set(true);
    }

    /// Sets the status to that of the leader.
    pub fn set_leader_status(
        self,
        block_reason: Option<BlockReason>,
        storage_error: Option<StorageError>,
    ) {
        self.leader_stores.set(storage_error.is_none());
        self.block_reason.set(block_reason);
        self.leader_storage_error.set(storage_error);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::browser::tabs::channel::Channel;
    use crate::runner::task_store::TaskStore;
    use crate::runner::testing::{owner, pause, reset_browser, until};

    /// A tab, with the messages that another tab receives from it.
    struct TestTab {
        owner: Owner,
        tabs: TabSync,
        status: Status,
        received: Rc<RefCell<Vec<String>>>,
        _channel: Channel,
    }

    impl TestTab {
        fn new() -> Self {
            let received = Rc::new(RefCell::new(Vec::new()));
            let receiver = received.clone();
            let channel = Channel::open("atelier", move |text| receiver.borrow_mut().push(text));
            let owner = owner();
            owner.set();
            let tabs = TabSync::new(TaskStore::new());
            on_cleanup(move || tabs.resign());
            tabs.listen(|_| ());
            Self {
                status: Status::new(tabs),
                owner,
                tabs,
                received,
                _channel: channel,
            }
        }

        async fn until_leader(&self) {
            let tabs = self.tabs;
            tabs.request_leadership(move |generation| {
                generation.and_then(|generation| tabs.lead(generation));
            });
            until("the right to lead", || tabs.leads()).await;
        }

        /// Waits until the tab has sent at least `count` states, and returns all of them.
        async fn states(&self, count: usize) -> Vec<String> {
            let states = || -> Vec<String> {
                let received = self.received.borrow();
                let states = received.iter().filter(|text| text.contains("State\":"));
                states.cloned().collect()
            };
            until("the states", || states().len() >= count).await;
            // The tab must not send more states.
            pause().await;
            states()
        }
    }

    impl Drop for TestTab {
        fn drop(&mut self) {
            self.owner.cleanup();
        }
    }

    #[wasm_bindgen_test]
    async fn block_reason_is_shown_and_sent_once() {
        reset_browser().await;
        let tab = TestTab::new();
        tab.until_leader().await;
        let status = tab.status;
        let shown = Memo::new(move |_| status.block_reason().get());
        assert_eq!(shown.get(), None);
        let paused = Some(BlockReason::Unanswered(7));
        assert!(status.set_block_reason(paused.clone()));
        status.send();
        assert_eq!(shown.get(), paused);
        assert!(
            !status.set_block_reason(paused),
            "the reason has not changed"
        );
        assert!(status.set_block_reason(None), "the reason has changed");
        status.send();
        assert_eq!(shown.get(), None);
        assert_eq!(
            tab.states(2).await,
            [
                r#"{"State":{"hindrance":{"Unanswered":7}}}"#,
                r#"{"State":{}}"#
            ]
        );
    }

    #[wasm_bindgen_test]
    async fn storage_error_is_shown_until_storage_works_and_sent_once() {
        reset_browser().await;
        let tab = TestTab::new();
        tab.until_leader().await;
        let status = tab.status;
        let shown = Memo::new(move |_| status.storage_error());
        assert_eq!(shown.get(), None);
        status.set_storage_error(Some(StorageError::Full));
        status.set_storage_error(Some(StorageError::Full));
        assert_eq!(shown.get(), Some(StorageError::Full));
        status.set_block_reason(Some(BlockReason::Offline));
        status.set_block_reason(None);
        assert_eq!(shown.get(), Some(StorageError::Full));
        status.set_storage_error(None);
        assert_eq!(shown.get(), None);
        assert_eq!(
            tab.states(2).await,
            [r#"{"State":{"storage_error":"full"}}"#, r#"{"State":{}}"#]
        );
    }

    #[wasm_bindgen_test]
    async fn follower_sends_no_status_and_shows_its_own_and_the_leaders_storage_error() {
        reset_browser().await;
        let tab = TestTab::new();
        let status = tab.status;
        let shown = Memo::new(move |_| status.storage_error());
        assert_eq!(shown.get(), None);
        status.set_leader_status(Some(BlockReason::Offline), Some(StorageError::Silent));
        assert_eq!(shown.get(), Some(StorageError::Silent));
        assert!(status.leader_cannot_write());
        assert_eq!(
            status.block_reason().get_untracked(),
            Some(BlockReason::Offline)
        );
        // A tab's own error comes before the leader's, because the user can act on it here.
        status.set_storage_error(Some(StorageError::Newer));
        assert_eq!(shown.get(), Some(StorageError::Newer));
        status.set_storage_error(None);
        assert_eq!(shown.get(), Some(StorageError::Silent));
        status.set_storage_error(Some(StorageError::Full));
        assert_eq!(shown.get(), Some(StorageError::Full));
        status.set_leader_status(None, None);
        assert_eq!(
            shown.get(),
            Some(StorageError::Full),
            "this tab has not read the stored tasks"
        );
        // The leader stores the tasks of this tab as well.
        status.read();
        assert_eq!(shown.get(), None);
        assert!(!status.leader_cannot_write());
        assert_eq!(tab.states(0).await, [""; 0]);
    }

    #[wasm_bindgen_test]
    async fn leader_ignores_the_storage_errors_of_other_tabs() {
        reset_browser().await;
        let tab = TestTab::new();
        let status = tab.status;
        status.set_leader_status(None, Some(StorageError::Closed));
        tab.until_leader().await;
        status.lead();
        assert_eq!(untrack(|| status.storage_error()), None);
        assert!(!status.leader_cannot_write());
        assert_eq!(
            tab.states(1).await,
            [r#"{"State":{}}"#],
            "the leader sends its status"
        );
    }
}
