//! The root component: provides the contexts of all views and shows the page of the address.

use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use crate::boot::program;
use crate::reactive::boxed::dynamic;
use crate::state::contexts::Contexts;
use crate::view::models::ModelsPage;
use crate::view::parts::deferred::deferred;
use crate::view::shell::Shell;
use crate::view::shell::missing::MissingPage;

#[component]
pub fn App() -> impl IntoView {
    let Contexts {
        catalog,
        navigation,
        deferred: deferred_part,
        ..
    } = Contexts::provide();
    deferred_part.start(program::load, catalog);
    let page = dynamic(move || match navigation.route() {
        Route::Models => view! { <ModelsPage /> }.into_any(),
        Route::Missing => view! { <MissingPage /> }.into_any(),
        route => deferred(deferred_part, move |program| (program.page)(route.clone())),
    });
    view! { <Shell page /> }
}
