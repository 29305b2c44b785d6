//! The clock of the page that is open.

use crate::Result;
use crate::browser::Browser;

impl Browser {
    /// Stops the clock of the page that is open: what it offers for some seconds is offered until the clock goes on,
    /// however busy the machine is. When that was, in ms since 1970.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or the page's time is no number.
    pub async fn stop_clock(&self) -> Result<u64> {
        let script = "
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
        let script = "if (window.runningClock) window.Date.now = window.runningClock";
        self.run(script, vec![]).await.map(drop)
    }
}
