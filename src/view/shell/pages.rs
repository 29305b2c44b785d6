use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use crate::state::contexts::more_pages;
use crate::view::batch::page::BatchPage;
use crate::view::gallery::GalleryPage;
use crate::view::model::ModelPage;
use crate::view::parts::deferred::deferred;
use crate::view::settings::SettingsPage;
use crate::view::shell::missing::MissingPage;
use crate::view::tasks::{TaskPage, TasksPage};

/// Returns the page of a route. The list of models is in the first part of the program.
pub fn page(route: Route) -> AnyView {
    match route {
        Route::Model(model) => view! { <ModelPage model /> }.into_any(),
        Route::Tasks => view! { <TasksPage /> }.into_any(),
        Route::Task(key) => view! { <TaskPage task_key=key /> }.into_any(),
        Route::Models | Route::Missing => view! { <MissingPage /> }.into_any(),
        route => deferred(more_pages(), move |more| (more.page)(route.clone())),
    }
}

/// Returns a page of the last part of the program.
pub fn more_page(route: Route) -> AnyView {
    match route {
        Route::Batch(key) => view! { <BatchPage batch_key=key /> }.into_any(),
        Route::Gallery => view! { <GalleryPage /> }.into_any(),
        Route::Settings => view! { <SettingsPage /> }.into_any(),
        _ => view! { <MissingPage /> }.into_any(),
    }
}
