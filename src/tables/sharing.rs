//! What all tables of this tab have in common.

use std::cell::RefCell;

use atelier_engine::compose::revision::News;
use gloo_events::EventListener;
use leptos::prelude::window;

use super::KeptTable;
use crate::browser::tabs::Channel;
use crate::browser::{lifecycle, random, tables};

const CHANNEL: &str = "atelier-tables";

thread_local! {
    static KNOWN: RefCell<Vec<&'static KeptTable>> = const { RefCell::new(Vec::new()) };
    static SHARED: Sharing = Sharing::start();
}

struct Sharing {
    me: String,
    channel: Channel,
    _listener: EventListener,
}

impl Sharing {
    fn start() -> Self {
        lifecycle::on_change(|| {
            for kept in known() {
                if lifecycle::is_visible() {
                    // A page that slept has not heard what other tabs said.
                    kept.catch_up();
                } else {
                    kept.write_soon();
                }
            }
        });
        tables::on_gone(|| {
            for kept in known() {
                kept.may_be_gone();
            }
        });
        Self {
            me: random::key(),
            channel: Channel::open(CHANNEL, |text| {
                if let Some(news) = News::read(&text) {
                    for kept in known() {
                        kept.hear(&news);
                    }
                }
            }),
            _listener: EventListener::new(&window(), "pagehide", |_| {
                for kept in known() {
                    kept.write_at_once();
                }
            }),
        }
    }
}

pub(super) fn known() -> Vec<&'static KeptTable> {
    KNOWN.with_borrow(Clone::clone)
}

pub(super) fn add(kept: &'static KeptTable) {
    KNOWN.with_borrow_mut(|known| known.push(kept));
    // From now on it hears of what happens.
    SHARED.with(|_| ());
}

/// This tab, among those of the browser.
pub(super) fn me() -> String {
    SHARED.with(|shared| shared.me.clone())
}

pub(super) fn tell(news: &News) {
    SHARED.with(|shared| shared.channel.post(&news.to_text()));
}
