//! Fetches the parts. The part that drives tasks is fetched soon after the first page is shown. Each part is fetched
//! immediately when the user needs it, and again after a failure. If the file of a part no longer exists, the page is reloaded
//! to get the newer release.

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

/// The storage key of the releases for which this tab was reloaded.
const TRIED: &str = "atelier.releases-tried";

/// How long fetching the part waits for the list of models, in milliseconds. No task runs before the part is loaded.
const MAX_WAIT_MS: u32 = 1_000;

/// How long the page shows that it is about to reload, in milliseconds: long enough to read, and longer than the delay
/// after which typed text is stored.
const READ_MS: u32 = 600;

/// How long the page waits for a reload, in milliseconds.
const MAX_RELOAD_MS: u32 = 5_000;

/// Fetches the functions of a part; `None` if the file can't be fetched.
pub type Loader<F> = fn() -> LocalBoxFuture<'static, Option<F>>;

impl Deferred<Program> {
    /// Fetches the part once the list of models is shown or has failed, or after [`MAX_WAIT_MS`]: on a slow processor it
    /// would delay the first cards. After a failure, fetches it again when the page becomes visible or the network returns.
    pub fn start(self, load: Loader<Program>, catalog: Catalog) {
        self.set_loader(load);
        let load = move || self.load_early();
        effect(move || {
            if !matches!(catalog.models(), Load::Loading) {
                // The first cards are rendered in the next frame, and those below them in the one after it.
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
    /// Sets the function that fetches the part. The current owner is the root.
    pub fn set_loader(self, load: Loader<F>) {
        self.root.set_value(Owner::current());
        self.loader.set_value(Some(load));
    }

    /// Fetches the part if that was not tried yet, because it will probably be needed.
    pub fn load_early(self) {
        if self.state.try_get_untracked() == Some(State::Waiting) {
            self.load();
        }
    }

    /// Fetches the part, also again after a failure.
    pub fn load(self) {
        self.state.set(State::Loading);
        let Some(load) = self.loader.get_value() else {
            return;
        };
        spawn(async move {
            // The part must not be shown without its styles.
            match future::join(load(), style_of(F::STYLE)).await {
                (Some(functions), true) => self.set_loaded(functions),
                _ if self.is_wanted.get_value() => self.handle_failure().await,
                _ => self.state.set(State::Missing(None)),
            }
        });
    }

    /// Fetches the part because the user needs it now. Failures are shown only after this call.
    pub fn want(self) {
        self.is_wanted.set_value(true);
        let state = self.state.get_untracked();
        if matches!(state, State::Waiting | State::Missing(None)) {
            self.load();
        }
    }

    /// Handles a failed fetch: reloads the page if there is a newer release, or else sets the reason of the failure.
    async fn handle_failure(self) {
        let page = http::get_fresh_text("/").await.unwrap_or_default();
        let tried = LocalStore::Tab.read(TRIED).unwrap_or_default();
        let remedy = release::remedy(
            head::release().as_deref(),
            release::release_of_page(&page),
            &tried,
        );
        let newest = match remedy {
            Remedy::Reload(_) if F::would_lose_input() => {
                return self.state.set(State::Missing(Some(MissingReason::Newer)));
            }
            Remedy::Reload(newest) => newest,
            Remedy::Stay(reason) => return self.state.set(State::Missing(Some(reason))),
        };
        self.leave(Some(release::with_tried(&tried, &newest))).await;
    }

    /// Reloads the page at the user's request.
    pub fn reload(self) {
        spawn(self.leave(None));
    }

    /// Reloads the page. `tried`: the releases to store as tried, for an automatic reload.
    async fn leave(self, tried: Option<String>) {
        self.state.set(State::Reloading);
        TimeoutFuture::new(READ_MS).await;
        let root = self.root.get_value();
        let may_leave = root.map_or_else(F::may_leave, |root| root.with(F::may_leave));
        // Reloads only if the attempt could be stored. Otherwise, the page might reload endlessly.
        let is_remembered = |tried: String| LocalStore::Tab.write(TRIED, &tried);
        if may_leave.await && tried.is_none_or(is_remembered) {
            location::reload();
            // The browser may ask the user, who may stay.
            TimeoutFuture::new(MAX_RELOAD_MS).await;
        }
        self.state.set(State::Missing(Some(MissingReason::Newer)));
    }
}

async fn style_of(part: &str) -> bool {
    match head::meta(part) {
        Some(address) => style::load(&address).await,
        None => true,
    }
}
