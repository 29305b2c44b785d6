//! The service's models and their schemas, fetched once and shared by all views. Where the service can't be
//! reached, what it said last stands in, as long as it says so.

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

/// The waits between tries to get what can't be had at present: doubling.
pub const FIRST_RETRY_MS: u32 = 2_500;
pub const LONGEST_RETRY_MS: u32 = 60_000;
/// A list that is refused is asked for until the wait would be so long: after 2.5, 5, 10 and 20 s.
const LAST_REFUSAL_MS: u32 = 40_000;

#[derive(Clone, Copy)]
pub struct Catalog {
    session: Session,
    models: StoredValue<Slot<ModelList>>,
    fetching: StoredValue<Fetching, LocalStorage>,
    /// It was looked for a list that was kept.
    has_looked: RwSignal<bool>,
    schemas: StoredValue<HashMap<ModelId, Slot<Schema>>>,
}

/// How the list of models is asked for.
#[derive(Default)]
struct Fetching {
    /// The last list as it was given, for the cache.
    body: Option<Body>,
    /// It is asked for once more, because a call found no service there.
    is_in_doubt: bool,
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
        let asked = StoredValue::new(None);
        effect(move || {
            let address = session.settings().address;
            let before = asked.get_value();
            if before.as_ref() != Some(&address) {
                asked.set_value(Some(address));
                // Another address is another service, of which nothing known holds. At first
                // nothing is known: a page that opens at a model has asked for its schema already.
                if before.is_some() {
                    this.schemas.update_value(HashMap::clear);
                    this.has_looked.set(false);
                    this.models.get_value().forget();
                }
                this.load_models();
            }
        });
        // A page that opened while the service was away finds it again by itself.
        lifecycle::on_change(move || this.ask_again());
        this
    }

    /// Asks for the list again at once, where it is not known as it is now.
    pub fn ask_again(&self) {
        let slot = self.models.try_get_value();
        if slot.is_some_and(|slot| slot.is_missing()) {
            self.load_models();
        }
    }

    /// The list of models, tracked; as it was kept where [`Catalog::models_as_of`] says so.
    pub fn models(&self) -> Load<Arc<ModelList>> {
        self.models.get_value().load.get()
    }

    /// Since when the list of models is as it is shown, where it was kept; tracked. What such a list says of
    /// accounts and keys is not to be believed.
    pub fn models_as_of(&self) -> Option<AsOf> {
        let as_of = self.models.get_value().as_of.get();
        as_of.outage.is_some().then_some(as_of)
    }

    /// One model of the list, tracked.
    pub fn model(&self, id: &ModelId) -> Option<Model> {
        let models = self.models.get_value().load;
        let models = models.read();
        let list = models.loaded()?;
        list.models.iter().find(|model| model.id == *id).cloned()
    }

    /// It was looked for a kept list; tracked.
    pub fn has_looked(&self) -> bool {
        self.has_looked.get()
    }

    /// What was kept of this service's list, where anything was. It stands in until the service gives one.
    pub fn recall_models(&self, address: &ServiceAddress, kept: Option<(ModelList, Millis)>) {
        if self.session.settings_untracked().address != *address {
            return;
        }
        let slot = self.models.get_value();
        if matches!(&*slot.load.read_untracked(), Load::Loading) {
            return; // It is being asked for once more; if that fails, it is looked for again.
        }
        self.has_looked.set(true);
        let error = match &*slot.load.read_untracked() {
            Load::Failed(error) if error.is_outage() => Some(error.clone()),
            _ => None,
        };
        if let (Some(error), Some((list, since))) = (error, kept) {
            if let Some(guest) = list.guest.clone() {
                self.session.recall_guest(address, guest);
            }
            slot.recall(list, since, error);
        }
    }

    /// The last list as the service has given it; it can be had once.
    pub fn take_body(&self) -> Option<Body> {
        let body = self
            .fetching
            .try_update_value(|fetching| fetching.body.take());
        body.flatten()
    }

    /// Fetches the list, at first or once more.
    pub fn load_models(&self) {
        let slot = self.models.get_value();
        if !slot.is_loaded() {
            slot.load.set(Load::Loading);
        }
        self.fetch_models(FIRST_RETRY_MS, false);
    }

    /// Where the service can't be reached, it is asked again by itself, less and less often: tasks may
    /// wait for what its list says of guests and of idempotency keys.
    fn fetch_models(&self, retry_ms: u32, was_refused: bool) {
        let (this, session) = (*self, self.session);
        let slot = self.models.get_value();
        let address = session.settings_untracked().address;
        let is_last_asked = slot.ask();
        // The page may be gone by then.
        let is_latest = move || is_last_asked() && this.models.try_get_value().is_some();
        spawn(async move {
            let url = address.url(path::MODELS);
            let answer = http::get_models(&url).await;
            let is_current = || is_latest() && session.settings_untracked().address == address;
            if !is_current() {
                return; // This is the answer of a service that is no longer asked.
            }
            this.fetching
                .update_value(|fetching| fetching.is_in_doubt = false);
            let error = match answer.and_then(|body| this.read(body)) {
                Ok(list) => {
                    session.set_guest(address.clone(), list.guest.clone());
                    let honoured = list.idempotent_for_ms.map(Idempotency::For);
                    let honoured = honoured.unwrap_or(Idempotency::Unsupported);
                    session.set_idempotency(address.clone(), honoured);
                    return slot.arrive(list);
                }
                Err(error) => error,
            };
            // A refusal may come from a restart, or from something that stands in for the service. A service that has
            // given the list before is asked for as long as the page lives, any other for half a minute.
            let is_refused = !error.is_retryable();
            // An outage before the refusal does not count towards the half minute.
            let retry_ms = match is_refused == was_refused {
                true => retry_ms,
                false => FIRST_RETRY_MS,
            };
            let before = untrack(|| session.idempotency());
            let said = match error.is_unreachable() {
                true => Idempotency::Unreachable,
                // Where no service was there, it is reported once more: a service that refuses it may take calls.
                false if is_refused => before,
                false => Idempotency::Unknown,
            };
            slot.fail(error);
            if is_refused && !slot.was_given() && retry_ms >= LAST_REFUSAL_MS {
                return session.set_idempotency(address, Idempotency::Unsupported);
            }
            // What was said holds while there is an answer of any kind.
            if said == Idempotency::Unreachable || !before.is_known() {
                session.set_idempotency(address, said);
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

    /// A model's schema, tracked; fetched at the first call. As it was kept where
    /// [`Catalog::schema_as_of`] says so.
    pub fn schema(&self, model: &ModelId) -> Load<Arc<Schema>> {
        self.schema_slot(model).load.get()
    }

    /// Since when a model's schema is as it is shown, where it was kept; tracked.
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

    /// Fetches a schema once more.
    pub fn ask_for_schema(&self, model: &ModelId) {
        self.load_schema(model);
    }

    /// Fetches the schemas that are not known as they are now.
    pub fn ask_for_missing_schemas(&self) {
        let missing: Vec<ModelId> = self.schemas.with_value(|schemas| {
            let missing = schemas.iter().filter(|(_, slot)| slot.is_awaited());
            missing.map(|(model, _)| model.clone()).collect()
        });
        for model in &missing {
            self.load_schema(model);
        }
    }

    /// There was no answer, though the list was given: whether the service is there now is asked at no risk, before
    /// something is sent.
    pub fn doubt(&self) {
        let slot = self.models.get_value();
        let is_live = slot.is_loaded() && !slot.is_missing();
        // Many schemas may be asked for at the same time.
        let is_first =
            |fetching: &mut Fetching| !std::mem::replace(&mut fetching.is_in_doubt, true);
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
        let is_latest = slot.ask();
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
                        slot.arrive(schema);
                        return cached_models::keep(url, body);
                    }
                    Err(error) => error,
                };
                if error.is_unreachable() {
                    this.doubt();
                }
                if error.is_outage() && !slot.is_loaded() {
                    let kept = cached_models::schema(&url, model).await;
                    // Meanwhile the service may have given it after all.
                    if !is_latest() {
                        return;
                    }
                    if let Some((schema, since)) = kept {
                        return slot.recall(schema, since, error);
                    }
                }
                slot.fail(error);
            }
        });
        slot
    }
}
