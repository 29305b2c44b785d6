//! A person at the page, a fault proxy, and the service behind it: what the suites share in which
//! nothing may be lost and nothing sent twice. Each has its own words for what the person does.

use crate::browser::Browser;
use crate::fault::{Call, FaultProxy};
use crate::ledger::{Ledger, is_generate};
use crate::service::Service;
use crate::story::drive;
use crate::wait::{Seen, until};
use crate::{Result, hearing};
use fantoccini::wd::WindowHandle;
use std::collections::BTreeMap;
use std::time::Duration;

/// Enough for anything that is under way, on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Pictures of full size would take most of the time of the tests.
const SMALL: [&str; 2] = ["--draw-scale", "0.25"];

/// The page of the model that is used.
pub const MODEL: &str = "/models/image/tessera";
pub const MODEL_NAME: &str = "Tessera";

pub struct Studio<'a> {
    pub browser: &'a Browser,
    pub service: Service,
    pub proxy: FaultProxy,
    pub ledger: Ledger,
}

/// A person's steps in a suite that has words of its own for them.
pub trait Suite {
    type Studio<'a>;

    /// Opens the page on which the steps begin.
    ///
    /// # Errors
    ///
    /// The page does not show what it begins with.
    fn begin(studio: Studio<'_>) -> impl Future<Output = Result<Self::Studio<'_>>>;

    /// Lets everything come to its end and balances the ledger.
    ///
    /// # Errors
    ///
    /// Something does not come to its end, or the ledger does not balance.
    fn close(studio: Self::Studio<'_>, name: &str) -> impl Future<Output = Result<()>>;
}

/// Runs the steps, lets everything come to its end, and balances the ledger. Without keys, the service says
/// nothing of idempotency keys, as most don't.
pub async fn play<S: Suite>(
    name: &str,
    service: &[&str],
    has_keys: bool,
    steps: impl AsyncFnOnce(&mut S::Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = S::begin(Studio::new(browser, service, has_keys).await?).await?;
        steps(&mut studio).await?;
        S::close(studio, name).await
    })
    .await;
}

/// Runs the steps; what they send need not come to an end.
pub async fn visit<S: Suite>(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut S::Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = S::begin(Studio::new(browser, service, true).await?).await?;
        steps(&mut studio).await
    })
    .await;
}

impl<'a> Studio<'a> {
    /// Starts the service and the proxy; the tab is as it was.
    ///
    /// # Errors
    ///
    /// As for [`Service::with_site`] and [`FaultProxy::start`].
    pub async fn start(browser: &'a Browser, service: &[&str]) -> Result<Self> {
        let service = Service::with_site(&[&SMALL, service].concat()).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        Ok(Self {
            browser,
            service,
            proxy,
            ledger: Ledger::default(),
        })
    }

    /// The same in a tab that says what it has heard, and that is high enough for a list. Without keys, the
    /// service says nothing of idempotency keys, as most don't.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; also if the driver refuses.
    pub async fn new(browser: &'a Browser, service: &[&str], has_keys: bool) -> Result<Self> {
        let studio = Self::start(browser, service).await?;
        hearing::listen(browser, &studio.proxy).await?;
        if !has_keys {
            studio.proxy.hide_keys();
        }
        studio.make_room().await?;
        Ok(studio)
    }

    /// Makes the tab so high that a list, of which only what is near the screen exists, is there as
    /// a whole.
    ///
    /// # Errors
    ///
    /// As for [`Browser::set_size`].
    pub async fn make_room(&self) -> Result<()> {
        self.browser.set_size(1280, 4000).await
    }

    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// Opens a page in this tab, afresh.
    ///
    /// # Errors
    ///
    /// As for [`Browser::open`].
    pub async fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&self.address(path)).await
    }

    /// Opens a page in a further tab.
    ///
    /// # Errors
    ///
    /// As for [`Browser::open_tab`].
    pub async fn open_tab(&self, path: &str) -> Result<WindowHandle> {
        let tab = self.browser.open_tab("about:blank").await?;
        hearing::listen(self.browser, &self.proxy).await?;
        self.open(path).await?;
        Ok(tab)
    }

    /// Waits until the proxy has seen what is wanted.
    ///
    /// # Errors
    ///
    /// It has not within [`TIMEOUT`].
    pub async fn sees(&self, what: &str, seen: impl Fn(&[Call]) -> bool) -> Result<()> {
        until(what, TIMEOUT, async || {
            let calls = self.proxy.calls();
            Ok(if seen(&calls) {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("there were {} calls", calls.len()))
            })
        })
        .await
    }

    /// The generate calls so far.
    pub fn generate_calls(&self) -> Vec<Call> {
        let calls = self.proxy.calls();
        calls.into_iter().filter(is_generate).collect()
    }

    /// The prompts of all generate calls, in order.
    pub fn prompts_sent(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.prompts).collect()
    }

    /// Balances the ledger against the states that the page shows at the end. The result of the wait for that end
    /// comes second: a task that is lost explains it.
    ///
    /// # Errors
    ///
    /// The ledger does not balance, with what it says; else that with which the wait ended.
    pub fn balance(
        &self,
        name: &str,
        states: &BTreeMap<String, String>,
        settled: Result<()>,
    ) -> Result<()> {
        let calls = self.proxy.calls();
        let counts = self.ledger.balance(&calls, states);
        if !counts.is_clean() {
            for call in calls.iter().filter(|call| call.is_v2()) {
                eprintln!("{call:?}");
            }
            return Err(format!("{name}: {counts}; the page shows {states:?}").into());
        }
        settled
    }
}
