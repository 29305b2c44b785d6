//! A fetched resource, fresh or cached.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use atelier_contract::ApiError;
use atelier_engine::Millis;
use leptos::prelude::*;

use crate::browser::clock;

/// The state of a fetched resource.
#[derive(Debug, Clone, PartialEq)]
pub enum Load<T> {
    Loading,
    Loaded(T),
    Failed(ApiError),
}

impl<T> Load<T> {
    /// Returns the value, if it is loaded.
    pub fn loaded(&self) -> Option<&T> {
        match self {
            Load::Loaded(value) => Some(value),
            _ => None,
        }
    }
}

/// The age of a fetched resource.
#[derive(Debug, Clone, PartialEq)]
pub struct AsOf {
    /// When the service last returned the resource, in ms since 1970; 0 if never.
    pub since: Millis,
    /// If a cached value is shown: why the service returns no newer one.
    pub outage: Option<ApiError>,
    /// How many requests have ended.
    pub tries: u32,
}

/// A fetched resource, with its age.
pub struct Slot<T: 'static> {
    pub load: ArcRwSignal<Load<Arc<T>>>,
    pub as_of: ArcRwSignal<AsOf>,
    /// How many requests were started.
    request_count: Arc<AtomicU32>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self {
            load: self.load.clone(),
            as_of: self.as_of.clone(),
            request_count: Arc::clone(&self.request_count),
        }
    }
}

impl<T: PartialEq + Send + Sync> Slot<T> {
    pub fn new() -> Self {
        Self {
            load: ArcRwSignal::new(Load::Loading),
            as_of: ArcRwSignal::new(AsOf {
                since: 0,
                outage: None,
                tries: 0,
            }),
            request_count: Arc::default(),
        }
    }

    /// Counts a request. The returned function returns whether the request is still the latest one: only its response
    /// is used.
    pub fn start_request(&self) -> impl Fn() -> bool + use<T> {
        let request_count = Arc::clone(&self.request_count);
        let own = request_count.fetch_add(1, Ordering::Relaxed) + 1;
        move || request_count.load(Ordering::Relaxed) == own
    }

    pub fn is_loaded(&self) -> bool {
        self.load.with_untracked(|load| load.loaded().is_some())
    }

    /// Returns whether the service has returned the resource before, possibly in an earlier visit.
    pub fn was_received(&self) -> bool {
        self.as_of.read_untracked().since != 0
    }

    /// Returns whether the resource failed to load, or a cached value is shown.
    pub fn is_missing(&self) -> bool {
        let is_failed = matches!(&*self.load.read_untracked(), Load::Failed(_));
        is_failed || self.is_cached()
    }

    /// Returns whether the resource is missing and another request may succeed.
    pub fn should_retry(&self) -> bool {
        let is_refused =
            matches!(&*self.load.read_untracked(), Load::Failed(error) if !error.is_retryable());
        self.is_missing() && !is_refused
    }

    /// Returns whether a cached value is shown.
    fn is_cached(&self) -> bool {
        self.as_of.read_untracked().outage.is_some()
    }

    /// Records the end of a request: when the service returned the value, and why it does not return a newer one.
    fn set_as_of(&self, since: Millis, outage: Option<ApiError>) {
        self.as_of.update(|as_of| {
            as_of.tries += 1;
            as_of.since = since;
            as_of.outage = outage;
        });
    }

    /// Sets the value that the service has returned. An equal value does not update the views.
    pub fn set_fresh(&self, value: T) {
        self.set_as_of(clock::now(), None);
        let is_known = self
            .load
            .with_untracked(|load| load.loaded().is_some_and(|known| **known == value));
        if !is_known {
            self.load.set(Load::Loaded(Arc::new(value)));
        }
    }

    /// Records a failed request. After an outage, a loaded value stays as a cached one.
    pub fn fail(&self, error: ApiError) {
        let since = self.as_of.read_untracked().since;
        if error.is_outage() && self.is_loaded() {
            return self.set_as_of(since, Some(error));
        }
        self.set_as_of(since, None);
        self.load.set(Load::Failed(error));
    }

    /// Sets a value from the cache.
    pub fn set_cached(&self, value: T, since: Millis, error: ApiError) {
        self.set_as_of(since, Some(error));
        self.load.set(Load::Loaded(Arc::new(value)));
    }

    /// Clears the resource, because another service is used now.
    pub fn reset(&self) {
        self.set_as_of(0, None);
        self.load.set(Load::Loading);
    }
}
