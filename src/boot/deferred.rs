//! The parts of the program that the list of models does not need: the part that drives tasks, the pages with forms and
//! tasks, and all other pages and dialogs. With the feature `split` (release builds), each is a separate wasm file; other
//! builds have one file. The part that drives tasks is fetched once the list is shown, or after a second; the others are
//! fetched when they are needed.
//!
//! [`Program`], [`Pages`] and [`MorePages`] are the only entries to these parts. Their functions are available once the code is loaded.
//! `program.rs` sets them: it imports every view, while views import this file.

#[cfg(feature = "split")]
mod fetch;

use std::sync::Arc;

use atelier_contract::{Draft, Model, ModelId, Schema};
use atelier_studio::fault::release::MissingReason;
use atelier_studio::navigation::route::Route;
use futures::future::{self, LocalBoxFuture};
use leptos::prelude::*;

use crate::runner::Runner;
use crate::state::catalog::Catalog;
use crate::state::navigation::Navigation;

/// The functions of the part that drives tasks.
#[derive(Clone, Copy)]
pub struct Program {
    /// Starts to drive tasks.
    pub begin: fn(),
    /// The picture and the actions on the card of a model.
    pub card: fn(Model) -> AnyView,
    /// Generates the first picture with a model.
    pub first_picture: fn(Catalog, Navigation, Runner, Model),
    /// The order of the list of models, and a note while the list is stale.
    pub list_note: fn(Signal<bool>) -> AnyView,
    /// A page other than the list of models, shown once it is loaded.
    pub page: fn(Route) -> AnyView,
    /// The messages above every page while calls or storage are blocked, and the dialogs of every page.
    pub status: fn() -> AnyView,
    /// The number of tasks under way, next to the link to Tasks.
    pub task_count: fn() -> AnyView,
}

/// The functions of the part with the pages that show forms and tasks.
#[derive(Clone, Copy)]
pub struct Pages {
    /// The dialogs that can open over any page.
    pub dialogs: fn() -> AnyView,
    /// A page other than the list of models.
    pub page: fn(Route) -> AnyView,
    /// Called once, when the part is loaded.
    pub begin: fn(),
}

/// The functions of the part with the pages and dialogs that a first generation does not need.
#[derive(Clone, Copy)]
pub struct MorePages {
    /// The dialogs that only the user opens.
    pub dialogs: fn() -> AnyView,
    /// The gallery, the settings, or the page of a batch.
    pub page: fn(Route) -> AnyView,
    /// The batch mode of a model's page, with the draft of the single form.
    pub batch: fn(ModelId, Arc<Schema>, RwSignal<Draft>) -> AnyView,
    /// The integrations of a model's page, with the draft of the single form.
    pub integrations: fn(ModelId, RwSignal<Draft>) -> AnyView,
}

/// The functions of a part.
pub trait Functions: Copy + Send + Sync + 'static {
    /// The name of the `meta` element with the address of the part's style sheet, in release builds.
    const STYLE: &str;

    /// Called once, when the functions are loaded. Everything it starts lives as long as the page.
    fn begin(self);

    /// Whether a reload would lose what the user has typed. Called only while the part is not loaded.
    fn would_lose_input() -> bool;

    /// Waits until the page can be reloaded without aborting a request that must complete, and returns whether it can.
    /// Called only while the part is not loaded.
    fn may_leave() -> LocalBoxFuture<'static, bool>;
}

impl Functions for Program {
    const STYLE: &str = "deferred-style";

    fn begin(self) {
        (self.begin)();
    }

    /// There is no form before this part is loaded.
    fn would_lose_input() -> bool {
        false
    }

    /// Only this part makes requests that must complete, so there are none before it is loaded.
    fn may_leave() -> LocalBoxFuture<'static, bool> {
        Box::pin(future::ready(true))
    }
}

/// Returns the functions of a part, which is in the same file.
#[cfg(not(feature = "split"))]
pub type Loader<F> = fn() -> F;

#[cfg(feature = "split")]
pub use fetch::Loader;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The part is not requested yet, so that it does not delay the first page.
    Waiting,
    Loading,
    Here,
    /// The part could not be fetched. The reason is set if the user needs the part.
    Missing(Option<MissingReason>),
    /// A newer release has replaced it: the page is about to reload.
    Reloading,
}

/// A part of the program.
pub struct Deferred<F: 'static> {
    state: RwSignal<State>,
    functions: StoredValue<Option<F>>,
    #[cfg(feature = "split")]
    loader: StoredValue<Option<Loader<F>>>,
    /// Whether the user needs the part now.
    #[cfg_attr(not(feature = "split"), expect(dead_code))]
    is_wanted: StoredValue<bool>,
    /// The owner of everything that the part starts. Kept only until the part is loaded.
    root: StoredValue<Option<Owner>>,
}

impl<F> Clone for Deferred<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Deferred<F> {}

impl<F: Functions> Default for Deferred<F> {
    fn default() -> Self {
        Self {
            state: RwSignal::new(State::Waiting),
            functions: StoredValue::new(None),
            #[cfg(feature = "split")]
            loader: StoredValue::new(None),
            is_wanted: StoredValue::new(false),
            root: StoredValue::new(None),
        }
    }
}

impl<F: Functions> Deferred<F> {
    /// Returns the state; tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// Returns the functions once they are loaded; tracked.
    pub fn functions(self) -> Option<F> {
        self.state.track();
        self.functions.get_value()
    }

    fn set_loaded(self, functions: F) {
        // Releases the owner. As long as one of its own values refers to it, it is never disposed.
        let root = self.root.try_update_value(Option::take).flatten();
        if let Some(root) = root {
            root.with(|| functions.begin());
        }
        self.functions.set_value(Some(functions));
        self.state.set(State::Here);
    }
}

#[cfg(not(feature = "split"))]
impl<F: Functions> Deferred<F> {
    /// Uses the functions immediately, because they are in the same file. The current owner is the root.
    pub fn set_loader(self, load: Loader<F>) {
        self.root.set_value(Owner::current());
        self.set_loaded(load());
    }

    pub fn load(self) {}

    pub fn reload(self) {}

    pub fn load_early(self) {}

    pub fn want(self) {}
}

#[cfg(not(feature = "split"))]
impl Deferred<Program> {
    pub fn start(self, load: Loader<Program>, _catalog: Catalog) {
        self.set_loader(load);
    }
}
