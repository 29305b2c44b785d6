//! What every view may ask for.

use leptos::prelude::*;

use crate::boot::deferred::{Deferred, Pages, Program};
use crate::runner::Runner;
use crate::state::catalog::Catalog;
use crate::state::navigation::Navigation;
use crate::state::notices::Notices;
use crate::state::session::Session;
use crate::state::theme::Theme;

/// Made once, at the root, so that nothing a view drops takes a task
/// with it.
#[derive(Clone, Copy)]
pub struct Contexts {
    pub session: Session,
    pub catalog: Catalog,
    pub navigation: Navigation,
    pub runner: Runner,
    pub notices: Notices,
    /// A text that the browser did not let be copied, for a person to copy it.
    pub uncopied: RwSignal<Option<String>>,
    pub deferred: Deferred<Program>,
    pub theme: RwSignal<Theme>,
}

impl Contexts {
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

/// What [`Contexts::provide`] made.
pub fn contexts() -> Contexts {
    expect_context::<Contexts>()
}

/// The pages behind the list of models. Only what drives tasks knows how to fetch them.
pub fn pages() -> Deferred<Pages> {
    expect_context::<Deferred<Pages>>()
}
