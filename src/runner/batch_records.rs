//! The records of batches among the tabs: each hears of all, whatever page it shows.

use atelier_contract::json::{self, Record};
use atelier_engine::BatchKey;
use leptos::prelude::*;

use super::records::Records;
use super::status::Status;
use super::tab_sync::TabSync;
use crate::browser::tabs::channel::Channel;

/// Tabs tell each other the records that they write.
const CHANNEL: &str = "atelier-batches";

#[derive(Clone, Copy)]
pub(super) struct BatchRecords {
    tabs: TabSync,
    status: Status,
    records: Records,
    state: StoredValue<State, LocalStorage>,
}

#[derive(Default)]
struct State {
    channel: Option<Channel>,
    on_heard: Option<fn(&str)>,
}

impl BatchRecords {
    pub fn new(tabs: TabSync, status: Status, records: Records) -> Self {
        Self {
            tabs,
            status,
            records,
            state: StoredValue::new_local(State::default()),
        }
    }

    /// Hears the other tabs.
    pub fn listen(self) {
        let channel = Channel::open(CHANNEL, move |text| self.hear(text));
        self.state
            .update_value(|state| state.channel = Some(channel));
    }

    /// Calls back with each record that another tab sends.
    pub fn on_heard(self, act: fn(&str)) {
        self.state.update_value(|state| state.on_heard = Some(act));
    }

    /// Writes a record, and tells the other tabs.
    pub fn keep(self, key: &BatchKey, text: String) {
        self.tell(&text);
        self.records.store_batch(key, text);
    }

    /// Tells the other tabs all records that this tab knows.
    pub fn tell_all(self) {
        for text in self.records.batches() {
            self.tell(&text);
        }
    }

    fn tell(self, text: &str) {
        self.state.try_with_value(|state| {
            if let Some(channel) = &state.channel {
                channel.post(text);
            }
        });
    }

    /// The tab that leads writes the record, too: the one that sent it may be unable to, and be gone before it can. So
    /// does a tab that is about to lead in the place of one that can't write.
    fn hear(self, text: String) {
        let record = json::read(&text).and_then(Record::read);
        let Some(key) = record
            .and_then(|mut record| record.text("key"))
            .map(BatchKey)
        else {
            return;
        };
        let Some(leads) = self.tabs.try_leads() else {
            return;
        };
        if let Some(act) = self.state.with_value(|state| state.on_heard) {
            act(&text);
        }
        if self.records.knows_batch(&key, &text) {
            return;
        }
        match leads || self.status.leader_cannot_write() {
            true => self.records.store_batch(&key, text),
            false => self.records.know_batch(&key, text),
        }
    }
}
