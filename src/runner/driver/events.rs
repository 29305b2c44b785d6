//! Opens the stream of events for the engine, and passes the events to it. In the part of the program with the pages that
//! show tasks; until it is loaded, tasks are only polled.

use atelier_contract::path;
use atelier_engine::StreamAction;
use leptos::prelude::*;

use super::Driver;
use crate::browser::event_stream::EventStream;
use crate::browser::{clock, random};
use crate::reactive::boxed::effect;
use crate::state::catalog::Catalog;

impl Driver {
    /// Follows the tasks through the service's stream from now on, if the service announces one.
    pub fn follow_events(self, catalog: Catalog) {
        self.state
            .update_value(|state| state.check_stream = Some(check));
        effect(move || {
            let models = catalog.models();
            let is_offered = models.loaded().is_some_and(|list| list.has_events);
            self.change(|engine| engine.set_stream_offered(is_offered));
        });
    }

    fn set_stream(self, stream: Option<EventStream>) {
        self.state.try_update_value(|state| state.stream = stream);
    }
}

/// Opens or closes the stream, if the engine decides so.
fn check(driver: Driver) {
    let has_credentials = untrack(|| driver.session.credentials()).is_some();
    let action = driver.state.try_update_value(|state| {
        let is_open = state.stream.is_some();
        (state.engine).stream_action(is_open, has_credentials, clock::now(), random::unit())
    });
    match action.flatten() {
        Some(StreamAction::Open(last_event)) => open(driver, last_event.as_deref()),
        Some(StreamAction::Close) => driver.set_stream(None),
        None => {}
    }
}

fn open(driver: Driver, last_event: Option<&str>) {
    let Some(credentials) = untrack(|| driver.session.credentials()) else {
        return;
    };
    let address = driver.session.settings_untracked().address;
    let uid = path::segment(&credentials.uid);
    let url = address.url(&format!("{}?uid={uid}", path::EVENTS));
    let stream = EventStream::open(
        &url,
        &credentials,
        last_event,
        Box::new(move |events| {
            driver.change(|engine| engine.stream_received(events, clock::now(), random::unit()));
        }),
        Box::new(move |error| {
            driver.set_stream(None);
            driver
                .change(|engine| engine.stream_ended(error.as_ref(), clock::now(), random::unit()));
        }),
    );
    driver.set_stream(stream.ok());
}
