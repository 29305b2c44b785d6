//! A headless browser with its own profile and download folder.

use crate::driver::Driver;
use crate::engine::{Capability, Engine};
use crate::wait::{Seen, until};
use crate::{Result, chromium, firefox, webkit};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use url::{ParseError, Url};

mod conditions;
mod tabs;

// Fields are dropped in order: first the driver, which ends the browser, then the files.
pub struct Browser {
    pub client: Client,
    pub engine: Engine,
    driver: Driver,
    profile: TempDir,
    downloads: TempDir,
}

impl Browser {
    /// Starts a browser with a new profile.
    ///
    /// # Errors
    ///
    /// The driver or the browser can't be started.
    pub async fn start() -> Result<Self> {
        Self::in_profile(tempfile::tempdir()?, None).await
    }

    /// Starts a browser in this time zone.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`].
    pub async fn start_in_zone(zone: &str) -> Result<Self> {
        Self::in_profile(tempfile::tempdir()?, Some(zone)).await
    }

    async fn in_profile(profile: TempDir, zone: Option<&str>) -> Result<Self> {
        let engine = Engine::from_env()?;
        let downloads = tempfile::tempdir()?;
        let folders = (profile.path(), downloads.path());
        let mut attempts = 0;
        let (driver, client) = loop {
            let (mut program, capabilities) = match engine {
                Engine::Chromium => (chromium::driver(), chromium::capabilities(folders.0)),
                Engine::Firefox => (
                    firefox::driver(),
                    firefox::capabilities(folders.0, folders.1),
                ),
                Engine::WebKit => (
                    webkit::driver(folders.0, folders.1)?,
                    webkit::capabilities(),
                ),
            };
            if let Some(zone) = zone {
                program.command.env("TZ", zone);
            }
            let Value::Object(capabilities) = capabilities else {
                unreachable!("capabilities are always objects");
            };
            let mut driver = match Driver::start(program) {
                Ok(driver) => driver,
                // Another program may have taken the free port meanwhile. Then the driver exits at once.
                Err(reason) if attempts < 2 => {
                    eprintln!("starting the driver of {engine:?} again: {reason}");
                    attempts += 1;
                    continue;
                }
                Err(reason) => return Err(reason),
            };
            let connector = hyper_util::client::legacy::connect::HttpConnector::new();
            let mut builder = ClientBuilder::new(connector);
            let builder = builder.capabilities(capabilities);
            let session =
                match tokio::time::timeout(START, builder.connect(&driver.address())).await {
                    Ok(session) => session.map_err(|error| error.to_string()),
                    // WebKit's driver waits forever for a browser that crashed at start.
                    Err(_) => Err("the driver did not start a browser in time".to_owned()),
                };
            match session {
                Ok(client) => {
                    driver.set_session(client.session_id().await?.ok_or("no session")?);
                    break (driver, client);
                }
                // The test has not started yet, so a retry is safe. On a busy machine about one start in some
                // hundreds fails.
                Err(reason) if attempts < 2 => {
                    eprintln!("starting {engine:?} again: {reason}");
                    attempts += 1;
                }
                Err(reason) => return Err(reason.into()),
            }
        };
        let browser = Self {
            client,
            engine,
            driver,
            profile,
            downloads,
        };
        if engine == Engine::Chromium {
            chromium::set_download_folder(&browser).await?;
        } else {
            // Chromium gets its size from the command line.
            browser.set_size(1280, 900).await?;
        }
        Ok(browser)
    }

    /// Skips the test unless the engine supports `capability`. Call it before slow steps.
    ///
    /// # Errors
    ///
    /// As for [`Engine::needs`].
    pub fn needs(&self, capability: Capability) -> Result<()> {
        self.engine.needs(capability)
    }

    /// Ends the browser and starts another one with the same profile. Stored data stays, memory is lost.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; also if the engine can't reuse a profile ([`Engine::needs`]).
    pub async fn start_again(self) -> Result<Self> {
        self.needs(Capability::Profile)?;
        let Self {
            client,
            driver,
            profile,
            ..
        } = self;
        drop(client);
        drop(driver);
        Self::in_profile(profile, None).await
    }

    /// Opens an address in the current tab.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn open(&self, address: &str) -> Result<()> {
        Ok(self.client.goto(address).await?)
    }

    /// Runs a script with arguments and returns its value. Awaits a promise.
    ///
    /// # Errors
    ///
    /// The script throws, its promise is rejected, or the driver does not answer.
    pub async fn run(&self, script: &str, args: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute(script, args).await?)
    }

    /// Runs a script before the scripts of every page that the current tab opens from now on.
    ///
    /// # Errors
    ///
    /// The engine can't do it ([`Engine::needs`]), or the driver rejects the command.
    pub async fn before_each_page(&self, script: &str) -> Result<()> {
        self.needs(Capability::FirstScript)?;
        match self.engine {
            Engine::Firefox => firefox::before_each_page(self, script).await,
            _ => chromium::before_each_page(self, script).await,
        }
    }

    /// Sends a WebDriver command.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
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

    /// Reloads the page from a script. In Firefox, the WebDriver command would bypass a service worker.
    ///
    /// # Errors
    ///
    /// The page does not load again within a minute.
    pub async fn reload(&self) -> Result<()> {
        self.run("window.isPrevious = true; location.reload()", vec![])
            .await?;
        until("the page to reload", Duration::from_secs(60), async || {
            let is_reloaded = "return document.readyState === 'complete' && !window.isPrevious";
            Ok(match self.run(is_reloaded, vec![]).await? == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("still the previous page".to_owned()),
            })
        })
        .await
    }

    /// Waits until the app has replaced the static start page. Elements found earlier may be replaced.
    ///
    /// # Errors
    ///
    /// The app does not start within a minute.
    pub async fn wait_until_started(&self) -> Result<()> {
        until("the app to start", Duration::from_secs(60), async || {
            let is_started = "return !document.getElementById('boot')";
            Ok(match self.run(is_started, vec![]).await? == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("still the static start page".into()),
            })
        })
        .await
    }

    /// Returns what the page wrote to its console since the last call, one line per entry.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`].
    pub async fn console(&self) -> Result<Vec<String>> {
        self.needs(Capability::Console)?;
        match self.engine {
            Engine::Firefox => firefox::console(self).await,
            _ => chromium::console(self).await,
        }
    }

    /// Inserts a text at the focus, all at once.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub(crate) async fn insert(&self, text: &str) -> Result<()> {
        if self.engine == Engine::Chromium {
            return chromium::paste(self, text).await;
        }
        let script = "document.execCommand('insertText', false, arguments[0])";
        self.run(script, vec![json!(text)]).await?;
        Ok(())
    }

    pub fn downloads(&self) -> &Path {
        self.downloads.path()
    }

    /// Waits until `count` downloads with this file extension are complete.
    ///
    /// # Errors
    ///
    /// There are fewer, or more, within a minute.
    pub async fn wait_for_downloads(&self, count: usize, extension: &str) -> Result<Vec<PathBuf>> {
        let what = format!("{count} downloads with extension {extension}");
        let mut last_change = (Instant::now(), BTreeMap::new());
        until(what, Duration::from_secs(60), async || {
            let mut complete = BTreeMap::new();
            for entry in std::fs::read_dir(self.downloads())? {
                let path = entry?.path();
                // An unfinished download has another file extension.
                let size = path.metadata()?.len();
                if path.to_string_lossy().ends_with(extension) && size > 0 {
                    complete.insert(path, size);
                }
            }
            if complete != last_change.1 {
                last_change = (Instant::now(), complete.clone());
            }
            // Except in WebKit, where it is complete if it has stopped growing.
            let is_stable = self.engine != Engine::WebKit || last_change.0.elapsed() > UNCHANGED;
            Ok(if is_stable && complete.len() == count {
                Seen::Yes(complete.into_keys().collect())
            } else {
                Seen::NotYet(format!("complete: {complete:?}"))
            })
        })
        .await
    }

    /// Saves a screenshot. Synchronous, so that it also works while a test is failing.
    ///
    /// # Errors
    ///
    /// The driver returns no picture, or the file can't be written.
    pub fn screenshot(&self, path: &Path) -> Result<()> {
        crate::screenshot::write_picture(&self.driver.screenshot()?, path)
    }
}

/// The time limit for starting a browser.
const START: Duration = Duration::from_secs(90);

/// A download is complete if it has not changed for this long.
const UNCHANGED: Duration = Duration::from_secs(1);

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

/// A preferred color scheme.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Light,
    Dark,
}

impl Scheme {
    /// Returns the CSS value.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }
}
