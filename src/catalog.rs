//! The service's models and their schemas, fetched once and shared by all views.

use std::collections::HashMap;
use std::sync::Arc;

use crate::erased::{effect, spawn};
use atelier_contract::{ApiError, Model, ModelId, ModelList, Schema, path};
use atelier_engine::Idempotency;
use leptos::prelude::*;

use crate::browser::{http, lifecycle};
use crate::session::Session;

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
    schemas: StoredValue<HashMap<ModelId, Slot<Schema>>>,
}

impl Catalog {
    pub fn new(session: Session) -> Self {
        let this = Self {
            session,
            models: StoredValue::new(ArcRwSignal::new(Load::Loading)),
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
        let session = self.session;
        let slot = self.models.get_value();
        let address = session.settings_untracked().address;
        if slot.with_untracked(|load| load.loaded().is_none()) {
            slot.set(Load::Loading);
        }
        spawn(async move {
            let answer = http::get_json(&address.url(path::MODELS)).await;
            if session.settings_untracked().address != address {
                return; // The answer of a service that is no longer asked.
            }
            slot.set(match answer.and_then(ModelList::from_body) {
                Ok(list) => {
                    session.set_guest(address.clone(), list.guest.clone());
                    let honoured = list.idempotent_for_ms.map(Idempotency::For);
                    session.set_idempotency(address, honoured.unwrap_or(Idempotency::Unsupported));
                    Load::Loaded(Arc::new(list))
                }
                Err(error) => {
                    if !error.is_retryable() {
                        session.set_idempotency(address, Idempotency::Unsupported);
                    } else if untrack(|| session.idempotency()) == Idempotency::Asked {
                        session.set_idempotency(address, Idempotency::Unknown);
                    }
                    Load::Failed(error)
                }
            });
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
            let slot = slot.clone();
            async move {
                let answer = http::get_json(&url).await.and_then(Schema::from_body);
                slot.set(answer.map_or_else(Load::Failed, |schema| Load::Loaded(Arc::new(schema))));
            }
        });
        slot
    }
}
