//! What is known of one thing that is fetched: as the service gives it now, or as it gave it some time ago.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use atelier_contract::ApiError;
use atelier_engine::Millis;
use leptos::prelude::*;

use crate::browser::clock;

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

/// That something is as the service gave it some time ago.
#[derive(Debug, Clone, PartialEq)]
pub struct AsOf {
    /// When it gave it last; 0 where it never did.
    pub since: Millis,
    /// Why there is nothing newer, where it gives nothing at present.
    pub outage: Option<ApiError>,
    /// How often it was asked for.
    pub tries: u32,
}

/// What is known of one thing that is fetched.
pub struct Slot<T: 'static> {
    pub load: ArcRwSignal<Load<Arc<T>>>,
    pub as_of: ArcRwSignal<AsOf>,
    /// How often it was asked for.
    asked: Arc<AtomicU32>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self {
            load: self.load.clone(),
            as_of: self.as_of.clone(),
            asked: Arc::clone(&self.asked),
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
            asked: Arc::default(),
        }
    }

    /// It is being asked for; whether it was not asked for once more since: the latest answer counts.
    pub fn ask(&self) -> impl Fn() -> bool + use<T> {
        let asked = Arc::clone(&self.asked);
        let count = asked.fetch_add(1, Ordering::Relaxed) + 1;
        move || asked.load(Ordering::Relaxed) == count
    }

    pub fn is_loaded(&self) -> bool {
        self.load.with_untracked(|load| load.loaded().is_some())
    }

    /// The service has given it before, be it in an earlier visit.
    pub fn was_given(&self) -> bool {
        self.as_of.read_untracked().since != 0
    }

    /// It is not known as it is now.
    pub fn is_missing(&self) -> bool {
        let is_failed = matches!(&*self.load.read_untracked(), Load::Failed(_));
        is_failed || self.is_kept()
    }

    /// The same, where the service may give it in a moment.
    pub fn is_awaited(&self) -> bool {
        let is_refused =
            matches!(&*self.load.read_untracked(), Load::Failed(error) if !error.is_retryable());
        self.is_missing() && !is_refused
    }

    /// What is loaded is not what the service says now.
    fn is_kept(&self) -> bool {
        self.as_of.read_untracked().outage.is_some()
    }

    /// When the service gave what is loaded, and why it gives nothing now, where that is so.
    fn set_as_of(&self, since: Millis, outage: Option<ApiError>) {
        self.as_of.update(|as_of| {
            as_of.tries += 1;
            as_of.since = since;
            as_of.outage = outage;
        });
    }

    /// The service has given it. The same once more is no reason to build anything again.
    pub fn arrive(&self, value: T) {
        self.set_as_of(clock::now(), None);
        let is_known = self
            .load
            .with_untracked(|load| load.loaded().is_some_and(|known| **known == value));
        if !is_known {
            self.load.set(Load::Loaded(Arc::new(value)));
        }
    }

    /// The service has not given it. Where that is no answer, what is known goes on standing in.
    pub fn fail(&self, error: ApiError) {
        let since = self.as_of.read_untracked().since;
        if error.is_outage() && self.is_loaded() {
            return self.set_as_of(since, Some(error));
        }
        self.set_as_of(since, None);
        self.load.set(Load::Failed(error));
    }

    /// What was kept stands in.
    pub fn recall(&self, value: T, since: Millis, error: ApiError) {
        self.set_as_of(since, Some(error));
        self.load.set(Load::Loaded(Arc::new(value)));
    }

    /// Of a service that is no longer asked.
    pub fn forget(&self) {
        self.set_as_of(0, None);
        self.load.set(Load::Loading);
    }
}
