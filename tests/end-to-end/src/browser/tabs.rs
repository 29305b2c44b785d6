//! The tabs of a browser: commands go to one of them at a time.

use fantoccini::wd::WindowHandle;

use super::Browser;
use crate::Result;
use crate::engine::Engine;

impl Browser {
    /// Opens a further tab in the same profile, goes there, and gives its handle.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn open_tab(&self, address: &str) -> Result<WindowHandle> {
        // WebKit's driver does not bring a tab to the front that it goes on in; each window is seen.
        let as_tab = self.engine != Engine::WebKit;
        let tab = self.client.new_window(as_tab).await?.handle;
        self.client.switch_to_window(tab.clone()).await?;
        self.open(address).await?;
        Ok(tab)
    }

    /// The tab that it is in.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn tab(&self) -> Result<WindowHandle> {
        Ok(self.client.window().await?)
    }

    /// Goes on in another tab.
    ///
    /// # Errors
    ///
    /// There is no such tab, or the driver does not answer.
    pub async fn switch_to(&self, tab: &WindowHandle) -> Result<()> {
        Ok(self.client.switch_to_window(tab.clone()).await?)
    }

    /// Closes the tab; go on with [`Self::switch_to`].
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn close_tab(&self) -> Result<()> {
        Ok(self.client.close_window().await?)
    }
}
