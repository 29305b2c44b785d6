//! Starts Chromium, and sends commands of its DevTools protocol.

use crate::Result;
use crate::browser::{Browser, Scheme};
use crate::driver::{Port, Program};
use crate::engine::Capability;
use hyper::Method;
use serde_json::{Value, json};
use std::path::Path;

/// Flags that mostly turn off update checks and other network traffic, which is slow without internet access.
const FLAGS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--lang=en",
    "--window-size=1280,900",
];

pub(crate) fn driver() -> Program {
    let port = Port::Printed("started successfully on port ");
    let mut program = Program::named("CHROMEDRIVER", "chromedriver", port);
    program.command.args(["--port=0", "--log-level=SEVERE"]);
    program
}

pub(crate) fn capabilities(profile: &Path) -> Value {
    let mut args: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
    args.push(format!("--user-data-dir={}", profile.display()));
    json!({
        "goog:chromeOptions": { "args": args },
        "goog:loggingPrefs": { "browser": "ALL" },
    })
}

impl Browser {
    /// Sends a command of the Chrome DevTools protocol.
    ///
    /// # Errors
    ///
    /// The engine is not Chromium ([`Browser::needs`]), or the command is rejected.
    pub async fn devtools(&self, command: &str, params: Value) -> Result<Value> {
        self.needs(Capability::DevTools)?;
        self.command(
            Method::POST,
            "goog/cdp/execute",
            Some(json!({ "cmd": command, "params": params })),
        )
        .await
    }

    /// Crashes the current tab's process and closes the tab. No event handler of the page runs.
    ///
    /// # Errors
    ///
    /// The tab did not crash, or there is no other tab to switch to.
    pub async fn crash(&self) -> Result<()> {
        let tab = String::from(self.client.window().await?);
        match self.devtools("Page.crash", json!({})).await {
            Err(error) if error.to_string().contains("tab crashed") => {}
            other => return Err(format!("the tab did not crash: {other:?}").into()),
        }
        let others = self.client.windows().await?.into_iter();
        let mut others = others.filter(|other| String::from(other.clone()) != tab);
        let other = others.next().ok_or("there is no other tab")?;
        self.switch_to(&other).await?;
        let target = json!({ "targetId": tab });
        self.devtools("Target.closeTarget", target).await?;
        Ok(())
    }
}

/// Makes the browser save downloads in its download folder.
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn set_download_folder(browser: &Browser) -> Result<()> {
    let params = json!({ "behavior": "allow", "downloadPath": browser.downloads() });
    browser
        .devtools("Browser.setDownloadBehavior", params)
        .await?;
    Ok(())
}

/// See [`Browser::before_each_page`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn before_each_page(browser: &Browser, script: &str) -> Result<()> {
    let source = json!({ "source": script });
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", source)
        .await?;
    Ok(())
}

/// See [`Browser::set_offline`].
///
/// # Errors
///
/// The driver does not answer, or rejects the command.
pub(crate) async fn set_offline(browser: &Browser, offline: bool) -> Result<()> {
    let conditions = json!({ "offline": offline, "latency": 0, "throughput": -1 });
    browser
        .command(
            Method::POST,
            "chromium/network_conditions",
            Some(json!({ "network_conditions": conditions })),
        )
        .await?;
    Ok(())
}

/// See [`Browser::clear_databases`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn clear_databases(browser: &Browser, origin: &str) -> Result<()> {
    clear(browser, origin, "indexeddb").await
}

/// See [`Browser::clear_site`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn clear_site(browser: &Browser, origin: &str) -> Result<()> {
    clear(browser, origin, "all").await
}

async fn clear(browser: &Browser, origin: &str, what: &str) -> Result<()> {
    let params = json!({ "origin": origin, "storageTypes": what });
    browser
        .devtools("Storage.clearDataForOrigin", params)
        .await?;
    Ok(())
}

/// See [`Browser::clear_cache`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn clear_cache(browser: &Browser) -> Result<()> {
    browser
        .devtools("Network.clearBrowserCache", json!({}))
        .await?;
    Ok(())
}

/// See [`Browser::console`].
///
/// # Errors
///
/// The driver does not answer, or rejects the command.
pub(crate) async fn console(browser: &Browser) -> Result<Vec<String>> {
    let entries = browser
        .command(Method::POST, "se/log", Some(json!({ "type": "browser" })))
        .await?;
    let line = |entry: &Value| {
        let part = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", part("level"), part("message"))
    };
    Ok(entries.as_array().into_iter().flatten().map(line).collect())
}

/// See [`Browser::set_color_scheme`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn set_color_scheme(browser: &Browser, scheme: Scheme) -> Result<()> {
    let features = json!([{ "name": "prefers-color-scheme", "value": scheme.name() }]);
    browser
        .devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )
        .await?;
    Ok(())
}

/// See [`Browser::set_size`].
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn set_size(browser: &Browser, width: u32, height: u32) -> Result<()> {
    let size = json!({
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
    });
    browser
        .devtools("Emulation.setDeviceMetricsOverride", size)
        .await?;
    Ok(())
}

/// Inserts a text at the focus, all at once.
///
/// # Errors
///
/// As for [`Browser::devtools`].
pub(crate) async fn paste(browser: &Browser, text: &str) -> Result<()> {
    browser
        .devtools("Input.insertText", json!({ "text": text }))
        .await?;
    Ok(())
}
