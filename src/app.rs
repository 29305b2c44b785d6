use atelier_engine::route::Route;
use leptos::prelude::*;

use crate::catalog::Catalog;
use crate::erased::dynamic;
use crate::later::Later;
use crate::navigation::Navigation;
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
    pub navigation: Navigation,
    pub runner: Runner,
    pub notices: Notices,
    pub later: Later,
}

impl Contexts {
    pub fn provide() -> Self {
        let session = Session::load();
        let notices = Notices::new();
        let navigation = Navigation::start();
        let catalog = Catalog::new(session);
        let runner = Runner::start(session, notices);
        let this = Self {
            session,
            catalog,
            navigation,
            runner,
            notices,
            later: Later::start(),
        };
        provide_context(this);
        this
    }
}

/// What [`Contexts::provide`] made.
pub fn contexts() -> Contexts {
    expect_context::<Contexts>()
}

#[component]
pub fn App() -> impl IntoView {
    let navigation = Contexts::provide().navigation;
    let page = dynamic(move || match navigation.route() {
        Route::Models => view! { <ModelsPage /> }.into_any(),
        Route::Model(model) => view! { <ModelPage model /> }.into_any(),
        Route::Tasks => view! { <TasksPage /> }.into_any(),
        Route::Task(key) => view! { <TaskPage task_key=key /> }.into_any(),
        Route::Settings => view! { <SettingsPage /> }.into_any(),
        Route::Missing => view! { <MissingPage /> }.into_any(),
    });
    view! { <Shell page /> }
}
