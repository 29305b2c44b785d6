//! Where in the app the person is, as signals.

use atelier_engine::route::{self, Route};
use leptos::prelude::*;

use crate::boxed::memo;
use crate::browser::location;

#[derive(Clone, Copy)]
pub struct Navigation {
    path: RwSignal<String>,
    query: RwSignal<String>,
    route: Memo<Route>,
}

impl Navigation {
    /// Follows the address bar for as long as its owner lives.
    pub fn start() -> Self {
        let (path, query) = location::current();
        let path = RwSignal::new(path);
        let this = Self {
            path,
            query: RwSignal::new(query),
            route: memo(move || Route::parse(&path.read())),
        };
        StoredValue::new_local([
            location::on_pop(move || this.read()),
            location::on_link(move |target| this.go(&target)),
        ]);
        this
    }

    /// The page to show; tracked.
    pub fn route(&self) -> Route {
        self.route.get()
    }

    /// One value of the query; tracked.
    pub fn query(&self, name: &str) -> Option<String> {
        route::query_value(&self.query.read(), name)
    }

    /// Sets one value of the query, without a step in the person's history.
    pub fn set_query(&self, name: &str, value: Option<&str>) {
        let query = route::with_query_value(&self.query.read_untracked(), name, value);
        if *self.query.read_untracked() != query {
            location::replace(&format!("{}{query}", self.path.read_untracked()));
            self.query.set(query);
        }
    }

    /// Sets one value of the query as a step in the person's history: Back takes it out again.
    pub fn push_query(&self, name: &str, value: &str) {
        let query = route::with_query_value(&self.query.read_untracked(), name, Some(value));
        if *self.query.read_untracked() != query {
            location::push(&format!("{}{query}", self.path.read_untracked()));
            self.query.set(query);
        }
    }

    /// Goes to another page of the app, at its top.
    pub fn go(&self, target: &str) {
        location::push(target);
        location::to_top();
        self.read();
    }

    fn read(&self) {
        let (path, query) = location::current();
        if *self.query.read_untracked() != query {
            self.query.set(query);
        }
        if *self.path.read_untracked() != path {
            self.path.set(path);
        }
    }
}
