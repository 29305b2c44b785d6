//! Says above every page, in every tab, why the tab that makes the calls is held back, and why tasks are kept in
//! memory alone.

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
    /// The same in the tab that leads, where this one follows.
    leader_storage_error: RwSignal<Option<StorageError>>,
    /// Another tab leads and stores all tasks.
    leader_keeps: RwSignal<bool>,
    /// This tab knows what was stored when it was opened.
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
            leader_keeps: RwSignal::new(false),
            has_read: RwSignal::new(false),
            is_superseded: RwSignal::new(false),
        }
    }

    pub fn block_reason(self) -> RwSignal<Option<BlockReason>> {
        self.block_reason
    }

    /// Why tasks are kept in memory alone, here or in the tab that makes the calls; tracked.
    pub fn storage_error(self) -> Option<StorageError> {
        // Whatever has happened to this tab's storage since it was read.
        let is_kept = self.leader_keeps.get() && self.has_read.get();
        let own = self.storage_error.get();
        let own = own.filter(|error| !is_kept || *error == StorageError::Newer);
        own.or(self.leader_storage_error.get())
    }

    /// The same of this tab alone; tracked.
    pub fn own_storage_error(self) -> Option<StorageError> {
        self.storage_error.get()
    }

    /// A newer Atelier keeps the tasks, or did in this visit: this tab makes no calls any more; tracked.
    pub fn is_superseded(self) -> bool {
        self.is_superseded.get()
    }

    /// Notes for as long as the page lives that a newer Atelier keeps the tasks.
    pub fn supersede(self) {
        self.is_superseded.set(true);
        // The error held up calls that are no longer made.
        self.block_reason.set(None);
    }

    pub fn leader_cannot_write(self) -> bool {
        let error = self.leader_storage_error.try_get_untracked();
        error.flatten().is_some()
    }

    /// Takes over the leader's reason. Gives whether it is another one than before.
    pub fn set_block_reason(self, block_reason: Option<BlockReason>) -> bool {
        let before = self.block_reason.try_get_untracked();
        let is_other = before.is_some_and(|before| before != block_reason);
        if is_other {
            self.block_reason.set(block_reason);
        }
        is_other
    }

    pub fn set_storage_error(self, error: Option<StorageError>) {
        // Storage may answer once the page that it belongs to has been taken away.
        let before = self.storage_error.try_get_untracked();
        if before.is_some_and(|before| before != error) {
            self.storage_error.set(error);
            self.tell();
        }
    }

    /// This tab leads: no other one's storage matters.
    pub fn lead(self) {
        self.leader_storage_error.set(None);
        self.leader_keeps.set(false);
        self.tell();
    }

    /// Tells the other tabs, if this one leads.
    pub fn tell(self) {
        if self.tabs.generation().is_some() {
            self.tabs.tell(&TabMessage::State(
                self.block_reason.get_untracked(),
                self.storage_error.get_untracked(),
            ));
        }
    }

    /// Whether this tab has read what was stored; tracked.
    pub fn has_read(self) -> bool {
        self.has_read.get()
    }

    /// This tab has read what was stored, before or after the leader's first word.
    pub fn read(self) {
        self.has_read.set(true);
    }

    /// The leader has reported its state.
    pub fn on_message(
        self,
        block_reason: Option<BlockReason>,
        storage_error: Option<StorageError>,
    ) {
        self.leader_keeps.set(storage_error.is_none());
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
    use crate::runner::testing::{owner, pause, start_afresh, until};

    /// The messages of a tab, as another one hears them.
    struct Said {
        owner: Owner,
        tabs: TabSync,
        status: Status,
        heard: Rc<RefCell<Vec<String>>>,
        _channel: Channel,
    }

    impl Said {
        fn new() -> Self {
            let heard = Rc::new(RefCell::new(Vec::new()));
            let hear = heard.clone();
            let channel = Channel::open("atelier", move |text| hear.borrow_mut().push(text));
            let owner = owner();
            owner.set();
            let tabs = TabSync::new(TaskStore::new());
            on_cleanup(move || tabs.resign());
            tabs.listen(|_| ());
            Self {
                status: Status::new(tabs),
                owner,
                tabs,
                heard,
                _channel: channel,
            }
        }

        async fn leads(&self) {
            let tabs = self.tabs;
            tabs.stand_for_leading(move |generation| {
                generation.and_then(|generation| tabs.lead(generation));
            });
            until("the right to lead", || tabs.leads()).await;
        }

        /// Gives the states that the tab has told, once there are so many of them.
        async fn states(&self, count: usize) -> Vec<String> {
            let states = || -> Vec<String> {
                let heard = self.heard.borrow();
                let states = heard.iter().filter(|text| text.contains("State\":"));
                states.cloned().collect()
            };
            until("what is told", || states().len() >= count).await;
            // It says nothing more.
            pause().await;
            states()
        }
    }

    impl Drop for Said {
        fn drop(&mut self) {
            self.owner.cleanup();
        }
    }

    #[wasm_bindgen_test]
    async fn what_holds_the_leader_back_is_shown_and_told_once() {
        start_afresh().await;
        let said = Said::new();
        said.leads().await;
        let status = said.status;
        let shown = Memo::new(move |_| status.block_reason().get());
        assert_eq!(shown.get(), None);
        let paused = Some(BlockReason::Unanswered(7));
        assert!(status.set_block_reason(paused.clone()));
        status.tell();
        assert_eq!(shown.get(), paused);
        assert!(!status.set_block_reason(paused), "it is the same as before");
        assert!(status.set_block_reason(None), "it goes on");
        status.tell();
        assert_eq!(shown.get(), None);
        assert_eq!(
            said.states(2).await,
            [
                r#"{"State":{"hindrance":{"Unanswered":7}}}"#,
                r#"{"State":{}}"#
            ]
        );
    }

    #[wasm_bindgen_test]
    async fn a_storage_error_stays_until_it_is_mended_and_is_told_once() {
        start_afresh().await;
        let said = Said::new();
        said.leads().await;
        let status = said.status;
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
            said.states(2).await,
            [r#"{"State":{"storage_error":"full"}}"#, r#"{"State":{}}"#]
        );
    }

    #[wasm_bindgen_test]
    async fn a_follower_says_nothing_and_shows_what_the_leader_says_beside_its_own() {
        start_afresh().await;
        let said = Said::new();
        let status = said.status;
        let shown = Memo::new(move |_| status.storage_error());
        assert_eq!(shown.get(), None);
        status.on_message(Some(BlockReason::Offline), Some(StorageError::Silent));
        assert_eq!(shown.get(), Some(StorageError::Silent));
        assert!(status.leader_cannot_write());
        assert_eq!(
            status.block_reason().get_untracked(),
            Some(BlockReason::Offline)
        );
        // A tab's own error comes before the leader's, because a person can do something about it here.
        status.set_storage_error(Some(StorageError::Newer));
        assert_eq!(shown.get(), Some(StorageError::Newer));
        status.set_storage_error(None);
        assert_eq!(shown.get(), Some(StorageError::Silent));
        status.set_storage_error(Some(StorageError::Full));
        assert_eq!(shown.get(), Some(StorageError::Full));
        status.on_message(None, None);
        assert_eq!(
            shown.get(),
            Some(StorageError::Full),
            "what was stored is unknown"
        );
        // The leader stores this one's tasks as well.
        status.read();
        assert_eq!(shown.get(), None);
        assert!(!status.leader_cannot_write());
        assert_eq!(said.states(0).await, [""; 0]);
    }

    #[wasm_bindgen_test]
    async fn who_leads_cares_for_no_other_tabs_storage() {
        start_afresh().await;
        let said = Said::new();
        let status = said.status;
        status.on_message(None, Some(StorageError::Closed));
        said.leads().await;
        status.lead();
        assert_eq!(untrack(|| status.storage_error()), None);
        assert!(!status.leader_cannot_write());
        assert_eq!(said.states(1).await, [r#"{"State":{}}"#], "it says so");
    }
}
