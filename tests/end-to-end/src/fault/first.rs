//! Runs scripts in a tab before the scripts of each of its pages. For an engine whose driver can't do that, the proxy
//! inserts them into the page. The tab's `window.name` lists the numbers of its scripts, each followed by a space.
//! Site data is not used, because a test may clear it.

use super::FaultProxy;
use super::proxy::Shared;
use super::reply::{self, Reply};
use crate::Result;
use crate::browser::Browser;
use crate::engine::Engine;
use http_body_util::BodyExt;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use serde_json::json;
use std::fmt::Write;

pub(super) const PATH: &str = "/__first.js";

impl FaultProxy {
    /// Runs a script before the scripts of every page that the current tab opens through this proxy from now on.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn before_each_page(&self, browser: &Browser, script: &str) -> Result<()> {
        if browser.engine != Engine::WebKit {
            return browser.before_each_page(script).await;
        }
        let number = {
            let mut scripts = self.shared().first_scripts();
            scripts.push(script.to_owned());
            scripts.len() - 1
        };
        let address = browser.client.current_url().await?;
        if address.origin() != self.address().parse::<url::Url>()?.origin() {
            browser
                .open(&format!("{}/__counts", self.address()))
                .await?;
        }
        let remember = "window.name += `${arguments[0]} `";
        browser.run(remember, vec![json!(number)]).await?;
        Ok(())
    }
}

/// Returns the response with all scripts. Each runs only in its own tab.
pub(super) fn scripts(shared: &Shared) -> Reply {
    let mut all = String::from("const mine = window.name.split(' ');\n");
    for (number, script) in shared.first_scripts().iter().enumerate() {
        let _ = writeln!(all, "if (mine.includes('{number}')) {{ {script} }}");
    }
    // In a block, so that `mine` is no global variable.
    reply::script(format!("{{ {all} }}"))
}

/// Inserts a script element that loads the scripts at the start of an HTML page.
pub(super) async fn insert_into(page: Reply) -> Reply {
    let kind = page.headers().get(CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")) {
        return page;
    }
    let (mut parts, body) = page.into_parts();
    let Ok(body) = body.collect().await;
    let body = String::from_utf8_lossy(&body.to_bytes()).replacen(
        "<head>",
        &format!("<head><script src={PATH}></script>"),
        1,
    );
    parts.headers.remove(CONTENT_LENGTH);
    Reply::from_parts(parts, body.into_bytes().into())
}
