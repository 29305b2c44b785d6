//! The service's models and their schemas, fetched once and shared by all views. While the service is unavailable, cached
//! replies are used, and marked as such.

mod slot;

use std::collections::HashMap;
use std::sync::Arc;

use crate::reactive::boxed::{effect, spawn};
use atelier_contract::{ApiError, Model, ModelId, ModelList, Schema, ServiceAddress, path};
use atelier_engine::{Idempotency, Millis};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::browser::http::{self, Body};
use crate::browser::lifecycle;
use crate::state::cached_models;
use crate::state::session::Session;
use slot::Slot;
pub use slot::{AsOf, Load};

/// The wait before the first retry, in milliseconds. The waits double up to [`LONGEST_RETRY_MS`].
pub const FIRST_RETRY_MS: u32 = 2_500;
/// The longest wait before a retry, in milliseconds.
pub const LONGEST_RETRY_MS: u32 = 60_000;
/// A refused list is requested again until the wait would be this long, in milliseconds: after 2.5, 5, 10 and 20 s.
const LAST_REFUSAL_MS: u32 = 40_000;

#[derive(Clone, Copy)]
pub struct Catalog {
    session: Session,
    models: StoredValue<Slot<ModelList>>,
    fetching: StoredValue<Fetching, LocalStorage>,
    /// The cache was searched for a list of models.
    has_looked: RwSignal<bool>,
    schemas: StoredValue<HashMap<ModelId, Slot<Schema>>>,
}

/// The state of the requests for the list of models.
#[derive(Default)]
struct Fetching {
    /// The body of the last list, for the cache.
    body: Option<Body>,
    /// The list is being requested again, because another call could not reach the service.
    is_rechecked: bool,
}

impl Catalog {
    pub fn new(session: Session) -> Self {
        let this = Self {
            session,
            models: StoredValue::new(Slot::new()),
            fetching: StoredValue::new_local(Fetching::default()),
            has_looked: RwSignal::new(false),
            schemas: StoredValue::new(HashMap::new()),
        };
        let requested = StoredValue::new(None);
        effect(move || {
            let address = session.settings().address;
            let before = requested.get_value();
            if before.as_ref() != Some(&address) {
                requested.set_value(Some(address));
                // Another address is another service, so all data is outdated. At the first run, no data is outdated, but
                // the page of a model may already have requested its schema.
                if before.is_some() {
                    this.schemas.update_value(HashMap::clear);
                    this.has_looked.set(false);
                    this.models.get_value().reset();
                }
                this.load_models();
            }
        });
        // If the service was unavailable when the page was opened, the page retries automatically.
        lifecycle::on_change(move || this.ask_again());
        this
    }

    /// Requests the list again immediately, unless the current list is loaded.
    pub fn ask_again(&self) {
        let slot = self.models.try_get_value();
        if slot.is_some_and(|slot| slot.is_missing()) {
            self.load_models();
        }
    }

    /// Returns the list of models; tracked. It is a cached one if [`Catalog::models_as_of`] returns a value.
    pub fn models(&self) -> Load<Arc<ModelList>> {
        self.models.get_value().load.get()
    }

    /// Returns the age of a cached list of models; tracked. `None` if the list is current. The guest account and the support
    /// for idempotency keys in a cached list may be outdated.
    pub fn models_as_of(&self) -> Option<AsOf> {
        let as_of = self.models.get_value().as_of.get();
        as_of.outage.is_some().then_some(as_of)
    }

    /// Returns a model of the list; tracked.
    pub fn model(&self, id: &ModelId) -> Option<Model> {
        let models = self.models.get_value().load;
        let models = models.read();
        let list = models.loaded()?;
        list.models.iter().find(|model| model.id == *id).cloned()
    }

    /// Returns whether the cache was searched for a list of models; tracked.
    pub fn has_looked(&self) -> bool {
        self.has_looked.get()
    }

    /// Uses a cached list of models, if there is one, until the service returns a list.
    pub fn use_cached_models(&self, address: &ServiceAddress, cached: Option<(ModelList, Millis)>) {
        if self.session.settings_untracked().address != *address {
            return;
        }
        let slot = self.models.get_value();
        if matches!(&*slot.load.read_untracked(), Load::Loading) {
            return; // A request is in flight. If it fails, the cache is searched again.
        }
        self.has_looked.set(true);
        let error = match &*slot.load.read_untracked() {
            Load::Failed(error) if error.is_outage() => Some(error.clone()),
            _ => None,
        };
        if let (Some(error), Some((list, since))) = (error, cached) {
            if let Some(guest) = list.guest.clone() {
                self.session.use_cached_guest(address, guest);
            }
            slot.set_cached(list, since, error);
        }
    }

    /// Takes the body of the last list that the service has returned.
    pub fn take_body(&self) -> Option<Body> {
        let body = self
            .fetching
            .try_update_value(|fetching| fetching.body.take());
        body.flatten()
    }

    /// Fetches the list, for the first time or again.
    pub fn load_models(&self) {
        let slot = self.models.get_value();
        if !slot.is_loaded() {
            slot.load.set(Load::Loading);
        }
        self.fetch_models(FIRST_RETRY_MS, false);
    }

    /// Requests the list. After a failure, the request is repeated at increasing intervals: tasks may wait for the guest
    /// account and the support for idempotency keys that the list contains.
    fn fetch_models(&self, retry_ms: u32, was_refused: bool) {
        let (this, session) = (*self, self.session);
        let slot = self.models.get_value();
        let address = session.settings_untracked().address;
        let is_latest_request = slot.start_request();
        // The app may be unmounted by then.
        let is_latest = move || is_latest_request() && this.models.try_get_value().is_some();
        spawn(async move {
            let url = address.url(path::MODELS);
            let answer = http::get_models(&url).await;
            let is_current = || is_latest() && session.settings_untracked().address == address;
            if !is_current() {
                return; // The response is outdated, or from another service.
            }
            this.fetching
                .update_value(|fetching| fetching.is_rechecked = false);
            let error = match answer.and_then(|body| this.read(body)) {
                Ok(list) => {
                    session.set_guest(address.clone(), list.guest.clone());
                    let support = list.idempotent_for_ms.map(Idempotency::For);
                    let support = support.unwrap_or(Idempotency::Unsupported);
                    session.set_idempotency(address.clone(), support);
                    return slot.set_fresh(list);
                }
                Err(error) => error,
            };
            // A refusal may be caused by a restart or by a proxy. If the service has returned the list before, it is
            // requested again as long as the page is open, otherwise for half a minute.
            let is_refused = !error.is_retryable();
            // An outage before the refusal does not count towards the half minute.
            let retry_ms = match is_refused == was_refused {
                true => retry_ms,
                false => FIRST_RETRY_MS,
            };
            let before = untrack(|| session.idempotency());
            let support = match error.is_unreachable() {
                true => Idempotency::Unreachable,
                // The state is not changed. If it is `Unreachable`, subscribers are notified again, because a service that
                // refuses the list may accept calls.
                false if is_refused => before,
                false => Idempotency::Unknown,
            };
            slot.fail(error);
            if is_refused && !slot.was_received() && retry_ms >= LAST_REFUSAL_MS {
                return session.set_idempotency(address, Idempotency::Unsupported);
            }
            // A known state stays valid as long as the service responds at all.
            if support == Idempotency::Unreachable || !before.is_known() {
                session.set_idempotency(address, support);
            }
            TimeoutFuture::new(retry_ms).await;
            if is_latest() {
                this.fetch_models((retry_ms * 2).min(LONGEST_RETRY_MS), is_refused);
            }
        });
    }

    fn read(&self, body: Body) -> Result<ModelList, ApiError> {
        let list = ModelList::from_body(&body.bytes())?;
        self.fetching
            .update_value(|fetching| fetching.body = Some(body));
        Ok(list)
    }

    /// Returns a model's schema; tracked. The first call fetches it. It is a cached one if [`Catalog::schema_as_of`] returns
    /// a value.
    pub fn schema(&self, model: &ModelId) -> Load<Arc<Schema>> {
        self.schema_slot(model).load.get()
    }

    /// Returns the age of a cached schema; tracked. `None` if the schema is current.
    pub fn schema_as_of(&self, model: &ModelId) -> Option<AsOf> {
        let as_of = self.schema_slot(model).as_of.get();
        as_of.outage.is_some().then_some(as_of)
    }

    fn schema_slot(&self, model: &ModelId) -> Slot<Schema> {
        let known = self
            .schemas
            .with_value(|schemas| schemas.get(model).cloned());
        known.unwrap_or_else(|| self.load_schema(model))
    }

    /// Fetches a schema again.
    pub fn reload_schema(&self, model: &ModelId) {
        self.load_schema(model);
    }

    /// Fetches the schemas that failed to load or are cached ones, if a retry may help.
    pub fn reload_missing_schemas(&self) {
        let missing: Vec<ModelId> = self.schemas.with_value(|schemas| {
            let missing = schemas.iter().filter(|(_, slot)| slot.should_retry());
            missing.map(|(model, _)| model.clone()).collect()
        });
        for model in &missing {
            self.load_schema(model);
        }
    }

    /// Requests the list again if it is current, because another call got no response. This checks whether the service is
    /// reachable before a task is sent.
    pub fn suspect_outage(&self) {
        let slot = self.models.get_value();
        let is_live = slot.is_loaded() && !slot.is_missing();
        // Many requests for schemas may fail at the same time. The list is requested only once.
        let is_first =
            |fetching: &mut Fetching| !std::mem::replace(&mut fetching.is_rechecked, true);
        if is_live && self.fetching.try_update_value(is_first) == Some(true) {
            self.load_models();
        }
    }

    fn load_schema(&self, model: &ModelId) -> Slot<Schema> {
        let slot = self.schemas.try_update_value(|schemas| {
            schemas
                .entry(model.clone())
                .or_insert_with(Slot::new)
                .clone()
        });
        let slot = slot.unwrap_or_else(Slot::new);
        let url = self
            .session
            .settings_untracked()
            .address
            .url(&path::schema(model));
        let this = *self;
        let is_latest = slot.start_request();
        spawn({
            let (slot, model) = (slot.clone(), model.clone());
            async move {
                let body = http::get(&url).await;
                if !is_latest() || this.models.try_get_value().is_none() {
                    return;
                }
                let read = body.and_then(|body| {
                    let schema = cached_models::read_schema(&body.bytes(), model.clone())?;
                    Ok((schema, body))
                });
                let error = match read {
                    Ok((schema, body)) => {
                        slot.set_fresh(schema);
                        return cached_models::store(url, body);
                    }
                    Err(error) => error,
                };
                if error.is_unreachable() {
                    this.suspect_outage();
                }
                if error.is_outage() && !slot.is_loaded() {
                    let cached = cached_models::schema(&url, model).await;
                    // A later request may have succeeded in the meantime.
                    if !is_latest() {
                        return;
                    }
                    if let Some((schema, since)) = cached {
                        return slot.set_cached(schema, since, error);
                    }
                }
                slot.fail(error);
            }
        });
        slot
    }
}
