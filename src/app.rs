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
use crate::view::models::ModelsPage;
use crate::view::pages;
use crate::view::parts::later::later;
use crate::view::shell::Shell;

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
        let session = Session::start();
        let notices = Notices::new();
        let navigation = Navigation::start();
        let catalog = Catalog::new(session);
        let later = Later::start();
        let runner = Runner::start(session, notices, later);
        let this = Self {
            session,
            catalog,
            navigation,
            runner,
            notices,
            later,
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
        Route::Missing => view! { <MissingPage /> }.into_any(),
        route => later(move || pages::page(route.clone())),
    });
    view! { <Shell page /> }
}
