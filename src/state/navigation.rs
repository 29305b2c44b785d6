//! The current page of the app and its query, as signals.

use atelier_studio::navigation::route::{self, Route};
use leptos::prelude::*;

use crate::browser::location;
use crate::reactive::boxed::memo;

#[derive(Clone, Copy)]
pub struct Navigation {
    path: RwSignal<String>,
    query: RwSignal<String>,
    route: Memo<Route>,
}

impl Navigation {
    /// Follows the address bar as long as the current owner lives.
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

    /// Returns the page to show; tracked.
    pub fn route(&self) -> Route {
        self.route.get()
    }

    /// Returns a value of the query; tracked.
    pub fn query(&self, name: &str) -> Option<String> {
        route::query_value(&self.query.read(), name)
    }

    /// Sets a value of the query, without an entry in the browser's history.
    pub fn set_query(&self, name: &str, value: Option<&str>) {
        let query = route::with_query_value(&self.query.read_untracked(), name, value);
        if *self.query.read_untracked() != query {
            location::replace(&format!("{}{query}", self.path.read_untracked()));
            self.query.set(query);
        }
    }

    /// Sets a value of the query with an entry in the browser's history: Back removes the value.
    pub fn push_query(&self, name: &str, value: &str) {
        let query = route::with_query_value(&self.query.read_untracked(), name, Some(value));
        if *self.query.read_untracked() != query {
            let address = format!("{}{query}", self.path.read_untracked());
            // The note of the entry names the added value, because the entry may be reached again after a reload or with
            // Forward.
            location::push(&address, &format!("{} {name}", location::note()));
            self.query.set(query);
        }
    }

    /// Removes a value that [`Self::push_query`] has added. Goes back if that is possible, so that the history has no entry
    /// without effect.
    pub fn pop_query(&self, name: &str) {
        if untrack(|| self.query(name)).is_none() {
            return;
        }
        let note = location::note();
        let is_set = |added: &&str| untrack(|| self.query(added)).is_some();
        match note.split_whitespace().rev().find(is_set) == Some(name) {
            true => location::back(),
            false => self.set_query(name, None),
        }
    }

    /// Opens another page of the app, scrolled to its top.
    pub fn go(&self, target: &str) {
        location::push(target, "");
        location::to_top();
        self.read();
    }

    /// Reads the address bar.
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
