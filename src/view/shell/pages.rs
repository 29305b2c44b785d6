use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use crate::view::batch::page::BatchPage;
use crate::view::gallery::GalleryPage;
use crate::view::model::ModelPage;
use crate::view::settings::SettingsPage;
use crate::view::shell::missing::MissingPage;
use crate::view::tasks::{TaskPage, TasksPage};

/// Returns the page of a route. These pages are in the last part of the program; the list of models is in the first.
pub fn page(route: Route) -> AnyView {
    match route {
        Route::Model(model) => view! { <ModelPage model /> }.into_any(),
        Route::Tasks => view! { <TasksPage /> }.into_any(),
        Route::Task(key) => view! { <TaskPage task_key=key /> }.into_any(),
        Route::Batch(key) => view! { <BatchPage batch_key=key /> }.into_any(),
        Route::Gallery => view! { <GalleryPage /> }.into_any(),
        Route::Settings => view! { <SettingsPage /> }.into_any(),
        Route::Models | Route::Missing => view! { <MissingPage /> }.into_any(),
    }
}
