//! How a part comes: what drives tasks after the first view, but soon; each at once where a person wants it; again
//! where it failed; or, where its file is gone, in the newer release.

use atelier_studio::fault::release::{self, MissingReason, Remedy};
use futures::future::{self, LocalBoxFuture};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::{Deferred, Functions, Program, State};
use crate::browser::frame::after_frame;
use crate::browser::local::LocalStore;
use crate::browser::{head, http, lifecycle, location, style};
use crate::reactive::boxed::{after, effect, spawn};
use crate::state::catalog::{Catalog, Load};

/// The releases that this tab was loaded anew for.
const TRIED: &str = "atelier.releases-tried";

/// How long it waits for the list of models at most: tasks wait for it.
const MAX_WAIT_MS: u32 = 1_000;

/// How long the page says that it is about to load itself anew: to be read, and longer than
/// anything that keeps what is typed may wait.
const READ_MS: u32 = 600;

/// Brings its functions; none if their file can't be fetched.
pub type Loader<F> = fn() -> LocalBoxFuture<'static, Option<F>>;

impl Deferred<Program> {
    /// Fetches it once the list of models is on the screen, or can't be had, or lets itself be waited
    /// for: where the processor is slow, it would take the time of the first cards. And again, where
    /// it was missed, when the page is looked at or the network comes back.
    pub fn start(self, load: Loader<Program>, catalog: Catalog) {
        self.offer(load);
        let load = move || self.load_early();
        effect(move || {
            if !matches!(catalog.models(), Load::Loading) {
                // The first cards come in the next frame, and those below them in the one after it.
                after_frame(move || after_frame(load));
            }
        });
        after(MAX_WAIT_MS, load).forget();
        lifecycle::on_change(move || {
            if self.state.try_get_untracked() == Some(State::Missing(None)) {
                self.load();
            }
        });
    }
}

impl<F: Functions> Deferred<F> {
    /// It can be fetched from now on. The present owner is the root.
    pub fn offer(self, load: Loader<F>) {
        self.root.set_value(Owner::current());
        self.loader.set_value(Some(load));
    }

    /// Fetches it, if that was not tried yet: it will be wanted.
    pub fn load_early(self) {
        if self.state.try_get_untracked() == Some(State::Waiting) {
            self.load();
        }
    }

    /// Fetches it, once more if it has failed before.
    pub fn load(self) {
        self.state.set(State::Coming);
        let Some(load) = self.loader.get_value() else {
            return;
        };
        spawn(async move {
            // Without its styles it must not be shown.
            match future::join(load(), style_of(F::STYLE)).await {
                (Some(functions), true) => self.arrive(functions),
                _ if self.is_wanted.get_value() => self.remedy().await,
                _ => self.state.set(State::Missing(None)),
            }
        });
    }

    /// A person wants to see what is in it. Until then no message is shown for its sake.
    pub fn want(self) {
        self.is_wanted.set_value(true);
        let state = self.state.get_untracked();
        if matches!(state, State::Waiting | State::Missing(None)) {
            self.load();
        }
    }

    /// It could not be fetched: goes on to the newer release that is there, or says why not.
    async fn remedy(self) {
        let page = http::get_fresh_text("/").await.unwrap_or_default();
        let tried = LocalStore::Tab.read(TRIED).unwrap_or_default();
        let remedy = release::remedy(head::release().as_deref(), release::of_page(&page), &tried);
        let newest = match remedy {
            Remedy::Reload(newest) => newest,
            Remedy::Stay(reason) => return self.state.set(State::Missing(Some(reason))),
        };
        self.leave(Some(release::with_tried(&tried, &newest))).await;
    }

    /// A person wants the page to load itself anew.
    pub fn reload(self) {
        spawn(self.leave(None));
    }

    /// `tried`: which releases the tab was loaded anew for, where it does so by itself.
    async fn leave(self, tried: Option<String>) {
        self.state.set(State::Leaving);
        TimeoutFuture::new(READ_MS).await;
        let root = self.root.get_value();
        let may_leave = root.map_or_else(F::may_leave, |root| root.with(F::may_leave));
        // Unless the attempt is remembered, the page would be reloaded again and again.
        let is_remembered = |tried: String| LocalStore::Tab.write(TRIED, &tried);
        if may_leave.await && tried.is_none_or(is_remembered) {
            location::reload();
        } else {
            self.state.set(State::Missing(Some(MissingReason::Newer)));
        }
    }
}

async fn style_of(part: &str) -> bool {
    match head::meta(part) {
        Some(address) => style::load(&address).await,
        None => true,
    }
}
