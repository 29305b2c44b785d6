//! Clearing what a browser keeps of a site, for an engine whose driver can't do that: an answer of the
//! proxy tells the browser to, which does it to pages that are open as well.

use super::FaultProxy;
use crate::Result;
use crate::browser::Browser;
use crate::engine::Engine;
use serde_json::json;

pub(super) const CACHE: &str = "/__clear/cache";
pub(super) const STORAGE: &str = "/__clear/storage";

impl FaultProxy {
    /// Clears all that this origin has stored, as a person does in the browser's settings. The
    /// present tab shows a page of it.
    ///
    /// # Errors
    ///
    /// The page does not say in time that it is done, or the driver refuses.
    pub async fn clear_site(&self, browser: &Browser) -> Result<()> {
        if browser.engine != Engine::WebKit {
            return browser.clear_site(&self.address()).await;
        }
        ask(browser, STORAGE).await
    }

    /// Has the browser forget the files that it keeps. The present tab shows a page of this origin.
    ///
    /// # Errors
    ///
    /// As for [`Self::clear_site`].
    pub async fn clear_cache(&self, browser: &Browser) -> Result<()> {
        if browser.engine != Engine::WebKit {
            return browser.clear_cache().await;
        }
        ask(browser, CACHE).await
    }
}

async fn ask(browser: &Browser, path: &str) -> Result<()> {
    // The answer is given out when it is done.
    let script = "return fetch(arguments[0]).then(answer => answer.text())";
    browser.run(script, vec![json!(path)]).await?;
    Ok(())
}
