//! The clock of the page that is open.

use crate::Result;
use crate::browser::Browser;
use crate::fault::FaultProxy;
use serde_json::json;
use std::time::Duration;

const CLOCK: &str = include_str!("page_clock.js");

impl Browser {
    /// Stops the clock of the page that is open: what it offers for some seconds is offered until the clock goes on,
    /// however busy the machine is. Returns when that was, in ms since 1970. Timers stop too if the page was loaded
    /// after [`FaultProxy::control_clock`].
    ///
    /// # Errors
    ///
    /// The driver does not answer, or the page's time is no number.
    pub async fn stop_clock(&self) -> Result<u64> {
        let script = "
            if (window.testClock) return window.testClock.stop();
            window.runningClock ??= window.Date.now;
            const at = window.Date.now();
            window.Date.now = () => at;
            return at";
        let at = self.run(script, vec![]).await?;
        at.as_u64().ok_or_else(|| format!("no time: {at}").into())
    }

    /// Has the clock of the page that is open go on; see [`Browser::stop_clock`].
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn start_clock(&self) -> Result<()> {
        let script = "
            if (window.testClock) window.testClock.start();
            if (window.runningClock) window.Date.now = window.runningClock";
        self.run(script, vec![]).await.map(drop)
    }
}

impl FaultProxy {
    /// Gives the pages that the present tab loads from now on, through this proxy, a clock that
    /// [`FaultProxy::advance_clock`] moves.
    ///
    /// # Errors
    ///
    /// As for [`FaultProxy::before_each_page`].
    pub async fn control_clock(&self, browser: &Browser) -> Result<()> {
        self.before_each_page(browser, CLOCK).await
    }

    /// Lets time pass, second by second: what the page does in between meets the proxy at that time.
    ///
    /// # Errors
    ///
    /// As for [`FaultProxy::advance_clock`].
    pub async fn let_pass(&self, browser: &Browser, time: Duration) -> Result<()> {
        for _ in 0..time.as_secs() {
            self.advance_clock(browser, Duration::from_secs(1)).await?;
        }
        Ok(())
    }

    /// Moves the clocks of this proxy and of all tabs forward. The timers of the present tab that are due on the way
    /// have fired when this returns. The page has to be loaded after [`FaultProxy::control_clock`].
    ///
    /// # Errors
    ///
    /// The present page has no such clock, or the driver does not answer.
    pub async fn advance_clock(&self, browser: &Browser, by: Duration) -> Result<()> {
        // First: a call that a page makes at its new time is not to come early.
        self.skip(by);
        let script = "return window.testClock.advance(arguments[0])";
        let ms = u64::try_from(by.as_millis())?;
        browser.run(script, vec![json!(ms)]).await.map(drop)
    }
}
