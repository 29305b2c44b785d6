//! Exchanges the records of batches between tabs. Each tab receives all of them, whichever page it shows.

use atelier_contract::json::{self, Record};
use atelier_engine::BatchKey;
use leptos::prelude::*;

use super::records::Records;
use super::status::Status;
use super::tab_sync::TabSync;
use crate::browser::tabs::channel::Channel;

/// The name of the channel on which tabs send the records that they write.
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
    on_record: Option<fn(&str)>,
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

    /// Starts to receive records from other tabs.
    pub fn listen(self) {
        let channel = Channel::open(CHANNEL, move |text| self.receive(text));
        self.state
            .update_value(|state| state.channel = Some(channel));
    }

    /// Calls back with each record that another tab sends.
    pub fn on_record(self, act: fn(&str)) {
        self.state.update_value(|state| state.on_record = Some(act));
    }

    /// Writes a record, and sends it to the other tabs.
    pub fn store(self, key: &BatchKey, text: String) {
        self.send(&text);
        self.records.store_batch(key, text);
    }

    /// Sends all records that this tab knows to the other tabs.
    pub fn tell_all(self) {
        for text in self.records.batches() {
            self.send(&text);
        }
    }

    fn send(self, text: &str) {
        self.state.try_with_value(|state| {
            if let Some(channel) = &state.channel {
                channel.post(text);
            }
        });
    }

    /// Handles a record from another tab. The leading tab writes it: the tab that sent it may be unable to, or may be
    /// closed too early. If the leader can't write, this tab writes it, because it may replace the leader.
    fn receive(self, text: String) {
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
        if let Some(act) = self.state.with_value(|state| state.on_record) {
            act(&text);
        }
        if self.records.has_batch_record(&key, &text) {
            return;
        }
        match leads || self.status.leader_cannot_write() {
            true => self.records.store_batch(&key, text),
            false => self.records.remember_batch(&key, text),
        }
    }
}
