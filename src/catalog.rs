//! The service's models and their schemas, fetched once and shared by all views.

use std::collections::HashMap;
use std::sync::Arc;

use crate::boxed::{effect, spawn};
use atelier_contract::{ApiError, Model, ModelId, ModelList, Schema, path};
use atelier_engine::Idempotency;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::browser::{http, lifecycle};
use crate::session::Session;

/// The waits between tries to get the list of models of a service that can't be reached: doubling.
const FIRST_RETRY_MS: u32 = 5_000;
const LONGEST_RETRY_MS: u32 = 60_000;

/// How often the list is asked for again while it says that a model is away.
const AWAY_MS: u32 = 30_000;

/// Something that is fetched.
#[derive(Debug, Clone, PartialEq)]
pub enum Load<T> {
    Loading,
    Loaded(T),
    Failed(ApiError),
}

impl<T> Load<T> {
    pub fn loaded(&self) -> Option<&T> {
        match self {
            Load::Loaded(value) => Some(value),
            _ => None,
        }
    }
}

type Slot<T> = ArcRwSignal<Load<Arc<T>>>;

#[derive(Clone, Copy)]
pub struct Catalog {
    session: Session,
    models: StoredValue<Slot<ModelList>>,
    /// How often the list was asked for: the latest answer counts.
    fetches: StoredValue<u32>,
    schemas: StoredValue<HashMap<ModelId, Slot<Schema>>>,
}

impl Catalog {
    pub fn new(session: Session) -> Self {
        let this = Self {
            session,
            models: StoredValue::new(ArcRwSignal::new(Load::Loading)),
            fetches: StoredValue::new(0),
            schemas: StoredValue::new(HashMap::new()),
        };
        let asked = StoredValue::new(None);
        effect(move || {
            let address = session.settings().address;
            let before = asked.get_value();
            if before.as_ref() != Some(&address) {
                asked.set_value(Some(address));
                // Another address is another service: nothing of the old one holds. At first
                // nothing is old: a page that opens at a model has asked for its schema already.
                if before.is_some() {
                    this.schemas.update_value(HashMap::clear);
                }
                this.load_models();
            }
        });
        // A page that opened while the service was away finds it again by itself.
        lifecycle::on_change(move || {
            let models = this.models.try_get_value();
            if models.is_some_and(|models| matches!(&*models.read_untracked(), Load::Failed(_))) {
                this.load_models();
            }
        });
        this
    }

    /// The list of models, tracked.
    pub fn models(&self) -> Load<Arc<ModelList>> {
        self.models.get_value().get()
    }

    /// One model of the list, tracked.
    pub fn model(&self, id: &ModelId) -> Option<Model> {
        let models = self.models.get_value();
        let models = models.read();
        let list = models.loaded()?;
        list.models.iter().find(|model| model.id == *id).cloned()
    }

    /// Fetches the list, at first or once more.
    pub fn load_models(&self) {
        let slot = self.models.get_value();
        if slot.with_untracked(|load| load.loaded().is_none()) {
            slot.set(Load::Loading);
        }
        self.fetch_models(FIRST_RETRY_MS);
    }

    /// Where the service can't be reached, it is asked again by itself, less and less often: tasks may
    /// wait for what its list says of guests and of idempotency keys.
    fn fetch_models(&self, retry_ms: u32) {
        let (this, session) = (*self, self.session);
        let slot = self.models.get_value();
        let address = session.settings_untracked().address;
        let fetch = self.fetches.try_update_value(|fetches| {
            *fetches += 1;
            *fetches
        });
        spawn(async move {
            let answer = http::get_models(&address.url(path::MODELS)).await;
            let is_latest = || this.fetches.try_get_value() == fetch;
            let is_current = || is_latest() && session.settings_untracked().address == address;
            if !is_current() {
                return; // The answer of a service that is no longer asked.
            }
            let error = match answer {
                Ok(list) => {
                    session.set_guest(address.clone(), list.guest.clone());
                    let honoured = list.idempotent_for_ms.map(Idempotency::For);
                    let honoured = honoured.unwrap_or(Idempotency::Unsupported);
                    session.set_idempotency(address.clone(), honoured);
                    let mut is_away = has_one_away(&list);
                    slot.set(Load::Loaded(Arc::new(list)));
                    // What is known holds until there is something newer.
                    while is_away {
                        TimeoutFuture::new(AWAY_MS).await;
                        if !is_current() {
                            return;
                        }
                        let Ok(list) = http::get_models(&address.url(path::MODELS)).await else {
                            continue;
                        };
                        if !is_current() {
                            return;
                        }
                        is_away = has_one_away(&list);
                        // The same list once more is no reason to build anything again.
                        if slot.with_untracked(|load| {
                            load.loaded().is_none_or(|known| **known != list)
                        }) {
                            slot.set(Load::Loaded(Arc::new(list)));
                        }
                    }
                    return;
                }
                Err(error) => error,
            };
            let is_retryable = error.is_retryable();
            slot.set(Load::Failed(error));
            if !is_retryable {
                return session.set_idempotency(address, Idempotency::Unsupported);
            }
            if untrack(|| session.idempotency()) == Idempotency::Asked {
                session.set_idempotency(address, Idempotency::Unknown);
            }
            TimeoutFuture::new(retry_ms).await;
            if is_latest() {
                this.fetch_models((retry_ms * 2).min(LONGEST_RETRY_MS));
            }
        });
    }

    /// A model's schema, tracked; fetched at the first call.
    pub fn schema(&self, model: &ModelId) -> Load<Arc<Schema>> {
        let known = self
            .schemas
            .with_value(|schemas| schemas.get(model).cloned());
        known.unwrap_or_else(|| self.load_schema(model)).get()
    }

    /// Fetches a schema, at first or once more.
    pub fn load_schema(&self, model: &ModelId) -> Slot<Schema> {
        let slot = self.schemas.try_update_value(|schemas| {
            schemas
                .entry(model.clone())
                .or_insert_with(|| ArcRwSignal::new(Load::Loading))
                .clone()
        });
        let slot = slot.unwrap_or_else(|| ArcRwSignal::new(Load::Loading));
        let url = self
            .session
            .settings_untracked()
            .address
            .url(&path::schema(model));
        spawn({
            let (slot, model) = (slot.clone(), model.clone());
            async move {
                let answer = http::get_json(&url).await;
                let answer = answer.and_then(|body| Schema::from_body(body, model));
                slot.set(answer.map_or_else(Load::Failed, |schema| Load::Loaded(Arc::new(schema))));
            }
        });
        slot
    }
}

fn has_one_away(list: &ModelList) -> bool {
    list.models.iter().any(|model| !model.away.is_empty())
}
