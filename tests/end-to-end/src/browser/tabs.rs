//! The tabs of a browser. Commands go to the current tab.

use fantoccini::wd::WindowHandle;

use super::Browser;
use crate::Result;
use crate::engine::Engine;

impl Browser {
    /// Opens an address in a new tab of the same profile, makes it current, and returns its handle.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn open_tab(&self, address: &str) -> Result<WindowHandle> {
        // WebKit's driver does not bring the current tab to the front. Each window is visible.
        let as_tab = self.engine != Engine::WebKit;
        let tab = self.client.new_window(as_tab).await?.handle;
        self.client.switch_to_window(tab.clone()).await?;
        self.open(address).await?;
        Ok(tab)
    }

    /// Returns the current tab.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn tab(&self) -> Result<WindowHandle> {
        Ok(self.client.window().await?)
    }

    /// Switches to another tab.
    ///
    /// # Errors
    ///
    /// There is no such tab, or the driver does not answer.
    pub async fn switch_to(&self, tab: &WindowHandle) -> Result<()> {
        Ok(self.client.switch_to_window(tab.clone()).await?)
    }

    /// Closes the current tab. Call [`Self::switch_to`] next.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn close_tab(&self) -> Result<()> {
        Ok(self.client.close_window().await?)
    }
}
