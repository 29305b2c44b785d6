//! Controls the clock of a page.

use crate::Result;
use crate::browser::Browser;
use crate::fault::FaultProxy;
use serde_json::json;
use std::time::Duration;

const CLOCK: &str = include_str!("page_clock.js");

impl Browser {
    /// Stops the clock of the open page, and returns its time in ms since 1970. A button that the page shows for some
    /// seconds then stays until the clock is started again. Timers stop too if the page was loaded after
    /// [`FaultProxy::control_clock`].
    ///
    /// # Errors
    ///
    /// The driver does not answer, or the page's time is not a number.
    pub async fn stop_clock(&self) -> Result<u64> {
        let script = "
            if (window.testClock) return window.testClock.stop();
            window.runningClock ??= window.Date.now;
            const at = window.Date.now();
            window.Date.now = () => at;
            return at";
        let at = self.run(script, vec![]).await?;
        at.as_u64()
            .ok_or_else(|| format!("the page's time is not a number: {at}").into())
    }

    /// Starts the clock of the open page after [`Browser::stop_clock`].
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn start_clock(&self) -> Result<()> {
        let script = "
            if (window.testClock) window.testClock.start();
            if (window.runningClock) window.Date.now = window.runningClock";
        self.run(script, vec![]).await.map(drop)
    }
}

impl FaultProxy {
    /// Installs a fake clock in the pages that the current tab loads through this proxy from now on.
    /// [`FaultProxy::advance_clock`] moves it. Hides the stream of events, which would change tasks while the clock stands
    /// still.
    ///
    /// # Errors
    ///
    /// As for [`FaultProxy::before_each_page`].
    pub async fn control_clock(&self, browser: &Browser) -> Result<()> {
        self.hide_events();
        self.before_each_page(browser, CLOCK).await
    }

    /// Advances the clock in steps of a second, so that calls that the page makes in the meantime reach the proxy at
    /// the right time.
    ///
    /// # Errors
    ///
    /// As for [`FaultProxy::advance_clock`].
    pub async fn advance_clock_by_seconds(&self, browser: &Browser, time: Duration) -> Result<()> {
        for _ in 0..time.as_secs() {
            self.advance_clock(browser, Duration::from_secs(1)).await?;
        }
        Ok(())
    }

    /// Moves the clocks of this proxy and of all tabs forward. Before it returns, the timers of the current tab that
    /// have become due are fired. The page must be loaded after [`FaultProxy::control_clock`].
    ///
    /// # Errors
    ///
    /// The current page has no fake clock, or the driver does not answer.
    pub async fn advance_clock(&self, browser: &Browser, by: Duration) -> Result<()> {
        // Moves the clock of the proxy first. Otherwise, a call that the page sends at its new time would be too early
        // for the proxy.
        self.skip(by);
        let script = "return window.testClock.advance(arguments[0])";
        let ms = u64::try_from(by.as_millis())?;
        browser.run(script, vec![json!(ms)]).await.map(drop)
    }
}
