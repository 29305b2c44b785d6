//! The browser, the fault proxy and the service of a test, shared by the suites that check that no task is lost or
//! sent twice. Each suite adds methods for its user actions.

use crate::browser::Browser;
use crate::fault::{Call, FaultProxy};
use crate::ledger::{Ledger, is_generate};
use crate::service::Service;
use crate::story::drive;
use crate::wait::{Seen, until};
use crate::{Result, received_refusals};
use fantoccini::wd::WindowHandle;
use std::collections::BTreeMap;
use std::time::Duration;

/// The time limit for any task, also on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Smaller outputs. Drawing full-size images would take most of the time of the tests.
const SMALL: [&str; 2] = ["--draw-scale", "0.25"];

/// The path of the model page that the tests use.
pub const MODEL: &str = "/models/image/tessera";
pub const MODEL_NAME: &str = "Tessera";

pub struct Studio<'a> {
    pub browser: &'a Browser,
    pub service: Service,
    pub proxy: FaultProxy,
    pub ledger: Ledger,
}

/// A test suite with its own type for user actions.
pub trait Suite {
    type Studio<'a>;

    /// Opens the start page.
    ///
    /// # Errors
    ///
    /// The page does not load as expected.
    fn begin(studio: Studio<'_>) -> impl Future<Output = Result<Self::Studio<'_>>>;

    /// Waits until all tasks have ended, then checks the ledger.
    ///
    /// # Errors
    ///
    /// A task does not end, or the ledger does not balance.
    fn close(studio: Self::Studio<'_>, name: &str) -> impl Future<Output = Result<()>>;
}

/// Runs the steps, waits until all tasks have ended, and checks the ledger. Unless `has_keys`, the proxy hides the
/// service's support for idempotency keys.
pub async fn run_until_settled<S: Suite>(
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

/// Runs the steps. Their tasks may still be running at the end.
pub async fn run_steps<S: Suite>(
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
    /// Starts the service and the proxy. Does not change the tab.
    ///
    /// # Errors
    ///
    /// As for [`Service::start_with_site`] and [`FaultProxy::start`].
    pub async fn start(browser: &'a Browser, service: &[&str]) -> Result<Self> {
        let service = Service::start_with_site(&[&SMALL, service].concat()).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        Ok(Self {
            browser,
            service,
            proxy,
            ledger: Ledger::default(),
        })
    }

    /// As [`Self::start`], and makes the tab report the refusals that it has received ([`received_refusals`]) and tall
    /// enough for a whole list. Unless `has_keys`, the proxy hides the service's support for idempotency keys.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; also if the driver rejects a command.
    pub async fn new(browser: &'a Browser, service: &[&str], has_keys: bool) -> Result<Self> {
        let studio = Self::start(browser, service).await?;
        received_refusals::report(browser, &studio.proxy).await?;
        if !has_keys {
            studio.proxy.hide_idempotency_keys();
        }
        studio.enlarge_tab().await?;
        Ok(studio)
    }

    /// Makes the tab so tall that a virtual list renders all its rows.
    ///
    /// # Errors
    ///
    /// As for [`Browser::set_size`].
    pub async fn enlarge_tab(&self) -> Result<()> {
        self.browser.set_size(1280, 4000).await
    }

    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// Loads a page in the current tab.
    ///
    /// # Errors
    ///
    /// As for [`Browser::open`].
    pub async fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&self.address(path)).await
    }

    /// Opens a page in a new tab.
    ///
    /// # Errors
    ///
    /// As for [`Browser::open_tab`].
    pub async fn open_tab(&self, path: &str) -> Result<WindowHandle> {
        let tab = self.browser.open_tab("about:blank").await?;
        received_refusals::report(self.browser, &self.proxy).await?;
        self.open(path).await?;
        Ok(tab)
    }

    /// Waits until `seen` accepts the calls that the proxy has recorded.
    ///
    /// # Errors
    ///
    /// `seen` does not accept the calls within [`TIMEOUT`].
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

    /// Returns the generate calls so far.
    pub fn generate_calls(&self) -> Vec<Call> {
        let calls = self.proxy.calls();
        calls.into_iter().filter(is_generate).collect()
    }

    /// Returns the prompts of all generate calls, in order.
    pub fn sent_prompts(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.prompts).collect()
    }

    /// Compares the ledger with the states that the page shows at the end. `settled` is the result of waiting for
    /// that end. An unbalanced ledger is reported first, because a lost task explains why the wait failed.
    ///
    /// # Errors
    ///
    /// The ledger does not balance; or else the error in `settled`.
    pub fn balance(
        &self,
        name: &str,
        states: &BTreeMap<String, String>,
        settled: Result<()>,
    ) -> Result<()> {
        let calls = self.proxy.calls();
        let counts = self.ledger.balance(&calls, states);
        if !counts.is_clean() {
            for call in calls.iter().filter(|call| call.is_api_call()) {
                eprintln!("{call:?}");
            }
            return Err(format!("{name}: {counts}; the page shows {states:?}").into());
        }
        settled
    }
}
