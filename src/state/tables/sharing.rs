//! Notifies the tables of this tab when the page is shown, hidden or closed, and when other tabs have stored a table.

use std::cell::RefCell;

use atelier_studio::compose::revision::TableStored;
use gloo_events::EventListener;
use leptos::prelude::window;

use crate::browser::tabs::channel::Channel;
use crate::browser::{self, lifecycle, random};

const CHANNEL: &str = "atelier-tables";

/// Callbacks of a table for events of the page and of other tabs.
pub(super) trait Shared {
    /// Called when the page becomes visible. While it was frozen, messages of other tabs may have been lost.
    fn catch_up(&'static self);
    /// Called when the page is hidden.
    fn write_soon(&'static self);
    /// Called when the page is closed or enters the back/forward cache.
    fn write_at_once(&'static self);
    /// Called when the stored table may be lost, for example because the user has cleared the site's data.
    fn may_be_gone(&'static self);
    /// Called when another tab has stored this table or the table of another model.
    fn on_message(&'static self, stored: &TableStored);
}

thread_local! {
    static SHARED: Sharing = Sharing::start();
}

struct Sharing {
    tables: RefCell<Vec<&'static dyn Shared>>,
    /// A random name of this tab.
    me: String,
    channel: Channel,
    _listener: EventListener,
}

impl Sharing {
    fn start() -> Self {
        lifecycle::on_change(|| {
            for table in tables() {
                if lifecycle::is_visible() {
                    table.catch_up();
                } else {
                    table.write_soon();
                }
            }
        });
        browser::storage::tables::on_gone(|| {
            for table in tables() {
                table.may_be_gone();
            }
        });
        Self {
            tables: RefCell::default(),
            me: random::key(),
            channel: Channel::open(CHANNEL, |text| {
                if let Some(stored) = TableStored::read(&text) {
                    for table in tables() {
                        table.on_message(&stored);
                    }
                }
            }),
            _listener: EventListener::new(&window(), "pagehide", |_| {
                for table in tables() {
                    table.write_at_once();
                }
            }),
        }
    }
}

fn tables() -> Vec<&'static dyn Shared> {
    SHARED.with(|shared| shared.tables.borrow().clone())
}

/// Registers a table for all further events.
pub(super) fn add(table: &'static dyn Shared) {
    SHARED.with(|shared| shared.tables.borrow_mut().push(table));
}

/// Returns the name of this tab.
pub(super) fn me() -> String {
    SHARED.with(|shared| shared.me.clone())
}

/// Notifies the other tabs that this one has stored a table.
pub(super) fn notify(stored: &TableStored) {
    SHARED.with(|shared| shared.channel.post(&stored.to_text()));
}
