//! Tells all tables of this tab when the page comes or goes, and what other tabs have stored.

use std::cell::RefCell;

use atelier_studio::compose::revision::TableStored;
use gloo_events::EventListener;
use leptos::prelude::window;

use crate::browser::tabs::channel::Channel;
use crate::browser::{self, lifecycle, random};

const CHANNEL: &str = "atelier-tables";

/// A table, by what it does when something happens elsewhere.
pub(super) trait Shared {
    /// The page is looked at again: while it slept it has not heard what other tabs said.
    fn catch_up(&'static self);
    /// The page is looked at no longer.
    fn write_soon(&'static self);
    /// The page is closed, or put away.
    fn write_at_once(&'static self);
    /// The stored table may be gone, say because a person has cleared the browser's data.
    fn may_be_gone(&'static self);
    /// Another tab has written a table: this one, or another.
    fn on_message(&'static self, stored: &TableStored);
}

thread_local! {
    static SHARED: Sharing = Sharing::start();
}

struct Sharing {
    tables: RefCell<Vec<&'static dyn Shared>>,
    /// The name of this tab, among those of the browser.
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

/// The table hears of what happens from now on.
pub(super) fn add(table: &'static dyn Shared) {
    SHARED.with(|shared| shared.tables.borrow_mut().push(table));
}

/// The name of this tab, among those of the browser.
pub(super) fn me() -> String {
    SHARED.with(|shared| shared.me.clone())
}

pub(super) fn tell(stored: &TableStored) {
    SHARED.with(|shared| shared.channel.post(&stored.to_text()));
}
