//! The part of the program that the list of models does not need: the other pages, and all that
//! drives tasks. With the feature `split` (release builds) it is a wasm file of its own, which is
//! fetched once the list is shown, but soon anyway; other builds have all in one.
//!
//! There is one way in: [`Program`], whose functions can only be had once their code is here. What
//! they are is said in `program.rs` alone, which imports every view: views import this file.

use atelier_contract::Model;
use atelier_engine::release::MissingReason;
use atelier_engine::route::Route;
use leptos::prelude::*;

use crate::catalog::Catalog;
use crate::navigation::Navigation;
use crate::runner::Runner;

#[cfg(feature = "split")]
mod fetch;

/// What the deferred part does for the first one.
#[derive(Clone, Copy)]
pub struct Program {
    /// Begins to drive tasks.
    pub begin: fn(),
    /// The picture of a model's card, and what a person can do there.
    pub card: fn(Model) -> AnyView,
    /// Makes a first picture with a model.
    pub first_picture: fn(Catalog, Navigation, Runner, Model),
    /// In what order the list of models stands, and that it is as it was kept, while it is.
    pub models_said: fn() -> AnyView,
    /// A page behind the list of models.
    pub page: fn(Route) -> AnyView,
    /// What stands above every page while calls or storage are held up, and the dialogs of every page.
    pub status: fn() -> AnyView,
    /// How many tasks are under way, beside the link to them.
    pub task_count: fn() -> AnyView,
}

/// Brings its functions: at once, where they are part of the one file.
#[cfg(not(feature = "split"))]
pub type Loader = fn() -> Program;

#[cfg(feature = "split")]
pub use fetch::Loader;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not asked for yet, so that it does not compete with the first view.
    Waiting,
    Coming,
    Here,
    /// It could not be fetched; if somebody has asked for it, it is known why.
    Missing(Option<MissingReason>),
    /// A newer Atelier has taken its place: the page is about to load itself anew.
    Leaving,
}

#[derive(Clone, Copy)]
pub struct Deferred {
    state: RwSignal<State>,
    program: StoredValue<Option<Program>>,
    #[cfg(feature = "split")]
    loader: StoredValue<Option<Loader>>,
    /// A person wants to see what is in it.
    #[cfg_attr(not(feature = "split"), expect(dead_code))]
    is_wanted: StoredValue<bool>,
    /// What drives tasks belongs to the root. Held from the start until the part is here alone.
    root: StoredValue<Option<Owner>>,
}

impl Deferred {
    pub fn new() -> Self {
        Self {
            state: RwSignal::new(State::Waiting),
            program: StoredValue::new(None),
            #[cfg(feature = "split")]
            loader: StoredValue::new(None),
            is_wanted: StoredValue::new(false),
            root: StoredValue::new(None),
        }
    }

    /// Tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// Its functions, once they are here; tracked.
    pub fn program(self) -> Option<Program> {
        self.state.track();
        self.program.get_value()
    }

    fn arrive(self, program: Program) {
        // Not held any longer: an owner that its own values hold is never cleaned up.
        let root = self.root.try_update_value(Option::take).flatten();
        if let Some(root) = root {
            root.with(program.begin);
        }
        self.program.set_value(Some(program));
        self.state.set(State::Here);
    }
}

impl Default for Deferred {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(feature = "split"))]
impl Deferred {
    /// It is part of the one file.
    pub fn start(self, load: Loader, _catalog: Catalog) {
        self.root.set_value(Owner::current());
        self.arrive(load());
    }

    pub fn load(self) {}

    pub fn want(self) {}
}
