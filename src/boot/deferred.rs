//! The parts of the program that the list of models does not need: what drives tasks, and the pages behind the
//! list. With the feature `split` (release builds) each is a wasm file of its own; other builds have all in one. What
//! drives tasks is fetched once the list is shown, but soon anyway; the pages are fetched when one is wanted.
//!
//! There is one way into each: [`Program`] and [`Pages`], whose functions can only be had once their code is here.
//! What they are is said in `program.rs` alone, which imports every view: views import this file.

#[cfg(feature = "split")]
mod fetch;

use atelier_contract::Model;
use atelier_studio::fault::release::MissingReason;
use atelier_studio::navigation::route::Route;
use futures::future::{self, LocalBoxFuture};
use leptos::prelude::*;

use crate::runner::Runner;
use crate::state::catalog::Catalog;
use crate::state::navigation::Navigation;

/// What the list of models takes from the part that drives tasks.
#[derive(Clone, Copy)]
pub struct Program {
    /// Begins to drive tasks.
    pub begin: fn(),
    /// The picture of a model's card, and what a person can do there.
    pub card: fn(Model) -> AnyView,
    /// Makes a first picture with a model.
    pub first_picture: fn(Catalog, Navigation, Runner, Model),
    /// In what order the list of models stands, and that it is as it was kept, while it is.
    pub list_note: fn(Signal<bool>) -> AnyView,
    /// A page behind the list of models, once it is here.
    pub page: fn(Route) -> AnyView,
    /// What stands above every page while calls or storage are held up, and the dialogs of every page.
    pub status: fn() -> AnyView,
    /// How many tasks are under way, next to the link to them.
    pub task_count: fn() -> AnyView,
}

/// What is only there where it is looked at.
#[derive(Clone, Copy)]
pub struct Pages {
    /// The dialogs that may lie over any page.
    pub dialogs: fn() -> AnyView,
    /// A page behind the list of models.
    pub page: fn(Route) -> AnyView,
}

/// The functions that a part brings.
pub trait Functions: Copy + Send + Sync + 'static {
    /// Where a release build names the style sheet of the part.
    const STYLE: &str;

    /// Once, when they are here; what it begins lives as long as the page.
    fn begin(self);

    /// Waits until the page may be loaded anew without an end to a request that must not be cut off; whether it
    /// may. Asked for only while they are not here.
    fn may_leave() -> LocalBoxFuture<'static, bool>;
}

impl Functions for Program {
    const STYLE: &str = "deferred-style";

    fn begin(self) {
        (self.begin)();
    }

    /// It is what makes such requests.
    fn may_leave() -> LocalBoxFuture<'static, bool> {
        Box::pin(future::ready(true))
    }
}

/// Brings its functions: at once, where they are part of the one file.
#[cfg(not(feature = "split"))]
pub type Loader<F> = fn() -> F;

#[cfg(feature = "split")]
pub use fetch::Loader;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not asked for yet, so that it does not compete with the first view.
    Waiting,
    Coming,
    Here,
    /// It could not be fetched; if a person has asked for it, it is known why.
    Missing(Option<MissingReason>),
    /// A newer Atelier has taken its place: the page is about to load itself anew.
    Leaving,
}

/// A part of the program.
pub struct Deferred<F: 'static> {
    state: RwSignal<State>,
    functions: StoredValue<Option<F>>,
    #[cfg(feature = "split")]
    loader: StoredValue<Option<Loader<F>>>,
    /// A person wants to see what is in it.
    #[cfg_attr(not(feature = "split"), expect(dead_code))]
    is_wanted: StoredValue<bool>,
    /// What it begins belongs to the root. Held from the start until the part is here alone.
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
    /// Tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// Its functions, once they are here; tracked.
    pub fn functions(self) -> Option<F> {
        self.state.track();
        self.functions.get_value()
    }

    fn arrive(self, functions: F) {
        // Not held any longer: an owner that its own values hold is never cleaned up.
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
    /// It is part of the one file. The present owner is the root.
    pub fn offer(self, load: Loader<F>) {
        self.root.set_value(Owner::current());
        self.arrive(load());
    }

    pub fn load(self) {}

    pub fn reload(self) {}

    pub fn load_early(self) {}

    pub fn want(self) {}
}

#[cfg(not(feature = "split"))]
impl Deferred<Program> {
    pub fn start(self, load: Loader<Program>, _catalog: Catalog) {
        self.offer(load);
    }
}
