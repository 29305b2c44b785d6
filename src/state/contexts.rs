//! The state that every view can access.

use leptos::prelude::*;

use crate::boot::deferred::{Deferred, MorePages, Pages, Program};
use crate::runner::Runner;
use crate::state::catalog::Catalog;
use crate::state::navigation::Navigation;
use crate::state::notices::Notices;
use crate::state::session::Session;
use crate::state::theme::Theme;

/// The state of the app. It is created once, at the root, so that tasks continue when a view is dropped.
#[derive(Clone, Copy)]
pub struct Contexts {
    pub session: Session,
    pub catalog: Catalog,
    pub navigation: Navigation,
    pub runner: Runner,
    pub notices: Notices,
    /// A text that the browser did not allow to be copied, for the user to copy manually.
    pub uncopied: RwSignal<Option<String>>,
    pub deferred: Deferred<Program>,
    pub theme: RwSignal<Theme>,
}

impl Contexts {
    /// Creates the contexts, and provides them to all views.
    pub fn provide() -> Self {
        let session = Session::start();
        let notices = Notices::new();
        let navigation = Navigation::start();
        let catalog = Catalog::new(session);
        let runner = Runner::new(session, notices);
        let deferred = Deferred::default();
        let this = Self {
            session,
            catalog,
            navigation,
            runner,
            notices,
            uncopied: RwSignal::new(None),
            deferred,
            theme: Theme::follow(),
        };
        provide_context(this);
        this
    }
}

/// Returns the contexts that [`Contexts::provide`] has created.
pub fn contexts() -> Contexts {
    expect_context::<Contexts>()
}

/// Returns the deferred pages: those with forms and tasks. Only the part of the program that contains the runner can
/// fetch them.
pub fn pages() -> Deferred<Pages> {
    expect_context::<Deferred<Pages>>()
}

/// Returns the deferred pages and dialogs that a first generation does not need. Only the part of the program with the other
/// pages can fetch them.
pub fn more_pages() -> Deferred<MorePages> {
    expect_context::<Deferred<MorePages>>()
}
