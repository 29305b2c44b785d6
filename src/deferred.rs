//! The part of the program that the list of models does not need: the other pages, and all that
//! drives tasks. With the feature `split` (release builds) it is a wasm file of its own, which is
//! fetched once the list is shown, but soon anyway; other builds have all in one.
//!
//! There is one way in: [`Program`], whose functions can only be had once their code is here.

use atelier_contract::Model;
use atelier_engine::release::Lack;
use atelier_engine::route::Route;
use leptos::prelude::*;

use crate::contexts::{Contexts, contexts};
use crate::{model_order, offline, shapes};

#[cfg(feature = "split")]
mod fetch;

/// What the deferred part does for the first one.
#[derive(Clone, Copy)]
pub struct Program {
    /// Begins to drive tasks.
    begin: fn(Contexts),
    /// The picture of a model's card, and what a person can do there.
    pub card: fn(Model) -> AnyView,
    /// Makes a first picture with a model.
    pub first_picture: fn(Contexts, Model),
    /// A page behind the list of models.
    pub page: fn(Route) -> AnyView,
    /// What stands above every page while calls or storage are held up, and the dialogs of every page.
    pub status: fn() -> AnyView,
    /// How many tasks are under way, beside the link to them.
    pub task_count: fn() -> AnyView,
}

impl Program {
    fn new() -> Self {
        use crate::view::{
            card_keys, dialogs, first_picture, model_card, pages, shortcuts, status,
        };
        Self {
            begin: |contexts| {
                contexts.runner.begin();
                model_order::follow(contexts);
                shapes::follow(contexts);
                card_keys::listen();
                shortcuts::listen(contexts.navigation);
                offline::begin();
            },
            card: model_card::card,
            first_picture: first_picture::make,
            page: pages::page,
            status: || (status::status(), dialogs::dialogs()).into_any(),
            task_count: status::task_count,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not asked for yet, so that it does not compete with the first view.
    Waiting,
    Coming,
    Here,
    /// It could not be fetched; if somebody has asked for it, it is known why.
    Missing(Option<Lack>),
    /// A newer Atelier has taken its place: the page is about to load itself anew.
    Leaving,
}

#[derive(Clone, Copy)]
pub struct Deferred {
    state: RwSignal<State>,
    program: StoredValue<Option<Program>>,
    /// A person wants to see what is in it.
    #[cfg_attr(not(feature = "split"), expect(dead_code))]
    is_wanted: StoredValue<bool>,
    /// What drives tasks belongs to the root, like all [`Contexts`].
    root: StoredValue<Option<Owner>>,
}

impl Deferred {
    pub fn new() -> Self {
        Self {
            state: RwSignal::new(State::Waiting),
            program: StoredValue::new(None),
            is_wanted: StoredValue::new(false),
            root: StoredValue::new(Owner::current()),
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
            root.with(|| (program.begin)(contexts()));
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
    pub fn start(self) {
        self.arrive(Program::new());
    }

    pub fn load(self) {}

    pub fn want(self) {}
}
