use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::catalog::Catalog;
use crate::notices::Notices;
use crate::runner::Runner;
use crate::session::Session;
use crate::view::missing::MissingPage;
use crate::view::model::ModelPage;
use crate::view::models::ModelsPage;
use crate::view::settings::SettingsPage;
use crate::view::shell::Shell;
use crate::view::tasks::{TaskPage, TasksPage};

/// What every view may ask for. Made once, at the root, so that nothing a view drops takes a task
/// with it.
#[derive(Clone, Copy)]
pub struct Contexts {
    pub session: Session,
    pub catalog: Catalog,
    pub runner: Runner,
    pub notices: Notices,
}

impl Contexts {
    pub fn provide() -> Self {
        let session = Session::load();
        let notices = Notices::new();
        let catalog = Catalog::new(session);
        let runner = Runner::start(session, notices);
        provide_context(session);
        provide_context(notices);
        provide_context(catalog);
        provide_context(runner);
        Self {
            session,
            catalog,
            runner,
            notices,
        }
    }
}

#[component]
pub fn App() -> impl IntoView {
    Contexts::provide();
    view! {
        <Router>
            <Shell>
                <Routes fallback=MissingPage>
                    <Route path=path!("/") view=ModelsPage />
                    <Route path=path!("/models/:category/:subcategory") view=ModelPage />
                    <Route path=path!("/tasks") view=TasksPage />
                    <Route path=path!("/tasks/:key") view=TaskPage />
                    <Route path=path!("/settings") view=SettingsPage />
                </Routes>
            </Shell>
        </Router>
    }
}
