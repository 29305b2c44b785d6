//! A headless browser with a profile and a download folder of its own.

use crate::Result;
use crate::chromedriver::Chromedriver;
use crate::wait::{Seen, until};
use fantoccini::wd::{WebDriverCompatibleCommand, WindowHandle};
use fantoccini::{Client, ClientBuilder};
use hyper::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use url::{ParseError, Url};

/// Without these Chromium looks for updates and talks to the world, which is slow where it cannot.
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

// The order of the fields is the order of ending: driver (and with it the browser), then its files.
pub struct Browser {
    pub client: Client,
    driver: Chromedriver,
    profile: TempDir,
    downloads: TempDir,
}

impl Browser {
    pub async fn start() -> Result<Self> {
        Self::in_profile(tempfile::tempdir()?).await
    }

    async fn in_profile(profile: TempDir) -> Result<Self> {
        let mut driver = Chromedriver::start()?;
        let mut args: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else {
            unreachable!("it is written as an object above");
        };
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.address())
            .await?;
        driver.own(client.session_id().await?.ok_or("no session")?);
        let browser = Self {
            client,
            driver,
            profile,
            downloads: tempfile::tempdir()?,
        };
        browser.keep_downloads().await?;
        Ok(browser)
    }

    /// Ends the browser and starts another one on the same profile, as on another day: what the page
    /// has stored is there again, all that was in memory is gone.
    pub async fn start_again(self) -> Result<Self> {
        let Self {
            client,
            driver,
            profile,
            ..
        } = self;
        drop(client);
        drop(driver);
        Self::in_profile(profile).await
    }

    pub async fn open(&self, address: &str) -> Result<()> {
        Ok(self.client.goto(address).await?)
    }

    /// Runs a script with arguments and gives its value; a promise is waited for.
    pub async fn run(&self, script: &str, args: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute(script, args).await?)
    }

    /// Runs a script in this tab before those of every page that it opens from now on.
    pub async fn before_each_page(&self, script: &str) -> Result<()> {
        let source = json!({ "source": script });
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source)
            .await?;
        Ok(())
    }

    /// Sends one command of the Chrome DevTools protocol.
    pub async fn devtools(&self, command: &str, params: Value) -> Result<Value> {
        self.command(
            Method::POST,
            "goog/cdp/execute",
            Some(json!({ "cmd": command, "params": params })),
        )
        .await
    }

    pub async fn command(
        &self,
        method: Method,
        path: impl Into<String>,
        body: Option<Value>,
    ) -> Result<Value> {
        Ok(self
            .client
            .issue_cmd(Command {
                method,
                path: path.into(),
                body,
            })
            .await?)
    }

    /// Cuts the network of the tab off, or brings it back; the page sees `offline` and `online`.
    pub async fn set_offline(&self, offline: bool) -> Result<()> {
        let conditions = json!({ "offline": offline, "latency": 0, "throughput": -1 });
        self.command(
            Method::POST,
            "chromium/network_conditions",
            Some(json!({ "network_conditions": conditions })),
        )
        .await?;
        Ok(())
    }

    /// Opens a further tab in the same profile, goes there, and gives its handle.
    pub async fn open_tab(&self, address: &str) -> Result<WindowHandle> {
        let tab = self.client.new_window(true).await?.handle;
        self.client.switch_to_window(tab.clone()).await?;
        self.open(address).await?;
        Ok(tab)
    }

    /// Goes on in another tab.
    pub async fn switch_to(&self, tab: &WindowHandle) -> Result<()> {
        Ok(self.client.switch_to_window(tab.clone()).await?)
    }

    /// Closes the tab; go on with [`Self::switch_to`].
    pub async fn close_tab(&self) -> Result<()> {
        Ok(self.client.close_window().await?)
    }

    /// What the page wrote to its console since the last call, one line an entry.
    pub async fn console(&self) -> Result<Vec<String>> {
        let entries = self
            .command(Method::POST, "se/log", Some(json!({ "type": "browser" })))
            .await?;
        let line = |entry: &Value| {
            let part = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            format!("{} {}", part("level"), part("message"))
        };
        Ok(entries.as_array().into_iter().flatten().map(line).collect())
    }

    pub async fn prefer(&self, scheme: Scheme) -> Result<()> {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )
        .await?;
        Ok(())
    }

    pub async fn set_size(&self, width: u32, height: u32) -> Result<()> {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await?;
        Ok(())
    }

    pub fn downloads(&self) -> &Path {
        self.downloads.path()
    }

    /// Waits until so many downloads with this ending are complete.
    pub async fn downloaded(&self, count: usize, ending: &str) -> Result<Vec<PathBuf>> {
        let what = format!("{count} downloads …{ending}");
        until(what, Duration::from_secs(60), async || {
            let mut complete = Vec::new();
            for entry in std::fs::read_dir(self.downloads())? {
                let path = entry?.path();
                // A download under way has another ending until it is complete.
                if path.to_string_lossy().ends_with(ending) && path.metadata()?.len() > 0 {
                    complete.push(path);
                }
            }
            Ok(if complete.len() == count {
                Seen::Yes(complete)
            } else {
                Seen::NotYet(format!("there are {complete:?}"))
            })
        })
        .await
    }

    /// Keeps a picture of what is on the screen. Synchronous, so that it can be used while a test
    /// is failing.
    pub fn screenshot(&self, path: &Path) -> Result<()> {
        crate::look::write_picture(&self.driver.screenshot()?, path)
    }

    async fn keep_downloads(&self) -> Result<()> {
        let params = json!({ "behavior": "allow", "downloadPath": self.downloads.path() });
        self.devtools("Browser.setDownloadBehavior", params).await?;
        Ok(())
    }
}

/// A WebDriver command that fantoccini has no method for.
#[derive(Debug)]
struct Command {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> std::result::Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (
            self.method.clone(),
            self.body.as_ref().map(Value::to_string),
        )
    }
}

/// What a page is told about the person's preference.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Light,
    Dark,
}
