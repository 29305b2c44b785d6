//! Clears site data and the HTTP cache. For an engine whose driver can't do that, the proxy sends a response with
//! `Clear-Site-Data`, which also applies to open pages.

use super::FaultProxy;
use crate::Result;
use crate::browser::Browser;
use crate::engine::Engine;
use serde_json::json;

pub(super) const CACHE: &str = "/__clear/cache";
pub(super) const STORAGE: &str = "/__clear/storage";

impl FaultProxy {
    /// Clears all site data of this origin, as the browser's settings do. The current tab must show a page of this
    /// origin.
    ///
    /// # Errors
    ///
    /// The request does not finish in time, or the driver rejects the command.
    pub async fn clear_site(&self, browser: &Browser) -> Result<()> {
        if browser.engine != Engine::WebKit {
            return browser.clear_site(&self.address()).await;
        }
        request(browser, STORAGE).await
    }

    /// Clears the browser's HTTP cache. The current tab must show a page of this origin.
    ///
    /// # Errors
    ///
    /// As for [`Self::clear_site`].
    pub async fn clear_cache(&self, browser: &Browser) -> Result<()> {
        if browser.engine != Engine::WebKit {
            return browser.clear_cache().await;
        }
        request(browser, CACHE).await
    }
}

async fn request(browser: &Browser, path: &str) -> Result<()> {
    // The response is complete when the data is cleared.
    let script = "return fetch(arguments[0]).then(answer => answer.text())";
    browser.run(script, vec![json!(path)]).await?;
    Ok(())
}
