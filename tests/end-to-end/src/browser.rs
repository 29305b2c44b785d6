//! A headless browser with a profile and a download folder of its own.

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

// The order of the fields is the order of ending: driver (and with it the browser), then its files.
pub struct Browser {
    pub client: Client,
    pub engine: Engine,
    driver: Driver,
    profile: TempDir,
    downloads: TempDir,
}

impl Browser {
    /// Starts a browser with a profile of its own.
    ///
    /// # Errors
    ///
    /// The driver or the browser can't be started.
    pub async fn start() -> Result<Self> {
        Self::in_profile(tempfile::tempdir()?, None).await
    }

    /// Starts one whose clock shows the time of this zone.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`].
    pub async fn start_in_zone(zone: &str) -> Result<Self> {
        Self::in_profile(tempfile::tempdir()?, Some(zone)).await
    }

    async fn in_profile(profile: TempDir, zone: Option<&str>) -> Result<Self> {
        let engine = Engine::of_this_run()?;
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
                unreachable!("they are written as objects");
            };
            let mut driver = match Driver::start(program) {
                Ok(driver) => driver,
                // The port that it has found free may be another program's by now: then it ends as it begins.
                Err(reason) if attempts < 2 => {
                    eprintln!("the driver of {engine:?} is started again: {reason}");
                    attempts += 1;
                    continue;
                }
                Err(reason) => return Err(reason),
            };
            let connector = hyper_util::client::legacy::connect::HttpConnector::new();
            let mut builder = ClientBuilder::new(connector);
            let session = builder.capabilities(capabilities);
            let begun = match tokio::time::timeout(START, session.connect(&driver.address())).await
            {
                Ok(begun) => begun.map_err(|error| error.to_string()),
                // WebKit's driver waits for ever for a browser that has ended as it began.
                Err(_) => Err("the driver starts no browser".to_owned()),
            };
            match begun {
                Ok(client) => {
                    driver.own(client.session_id().await?.ok_or("no session")?);
                    break (driver, client);
                }
                // Nothing of a test has begun yet: on a busy machine a browser ends now and then as it begins,
                // of some hundreds one.
                Err(reason) if attempts < 2 => {
                    eprintln!("{engine:?} is started again: {reason}");
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
            chromium::keep_downloads(&browser).await?;
        } else {
            // Chromium has it from its command line.
            browser.set_size(1280, 900).await?;
        }
        Ok(browser)
    }

    /// Leaves the test out where the engine can't be put through it; say so before long work.
    ///
    /// # Errors
    ///
    /// As for [`Engine::needs`].
    pub fn needs(&self, capability: Capability) -> Result<()> {
        self.engine.needs(capability)
    }

    /// Ends the browser and starts another one on the same profile, as on another day: what the page
    /// has stored is there again, all that was in memory is gone.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; also where the engine keeps no profile ([`Engine::needs`]).
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

    /// Opens an address in this tab.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn open(&self, address: &str) -> Result<()> {
        Ok(self.client.goto(address).await?)
    }

    /// Runs a script with arguments and gives its value; a promise is waited for.
    ///
    /// # Errors
    ///
    /// The script throws, its promise is rejected, or the driver does not answer.
    pub async fn run(&self, script: &str, args: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute(script, args).await?)
    }

    /// Runs a script in this tab before those of every page that it opens from now on.
    ///
    /// # Errors
    ///
    /// The engine can't do it ([`Engine::needs`]), or the driver refuses.
    pub async fn before_each_page(&self, script: &str) -> Result<()> {
        self.needs(Capability::FirstScript)?;
        match self.engine {
            Engine::Firefox => firefox::before_each_page(self, script).await,
            _ => chromium::before_each_page(self, script).await,
        }
    }

    /// Sends a command of WebDriver.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
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

    /// Loads the page anew, as its reader does: the drivers' own way passes by a service worker in Firefox.
    ///
    /// # Errors
    ///
    /// The page is not there anew within a minute.
    pub async fn reload(&self) -> Result<()> {
        self.run("window.isBefore = true; location.reload()", vec![])
            .await?;
        until("the page anew", Duration::from_secs(60), async || {
            let is_anew = "return document.readyState === 'complete' && !window.isBefore";
            Ok(match self.run(is_anew, vec![]).await? == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("the page of before".to_owned()),
            })
        })
        .await
    }

    /// Waits until the program has taken over what the page begins with: until then, what is found may be
    /// drawn anew.
    ///
    /// # Errors
    ///
    /// It has not within a minute.
    pub async fn is_at_work(&self) -> Result<()> {
        until("the program", Duration::from_secs(60), async || {
            let has_begun = "return !document.getElementById('boot')";
            Ok(match self.run(has_begun, vec![]).await? == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("the page still begins".into()),
            })
        })
        .await
    }

    /// What the page wrote to its console since the last call, one line an entry.
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

    /// Puts a text where the focus is, at once.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
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

    /// Waits until so many downloads with this ending are complete.
    ///
    /// # Errors
    ///
    /// There are fewer, or more, after a minute.
    pub async fn downloaded(&self, count: usize, ending: &str) -> Result<Vec<PathBuf>> {
        let what = format!("{count} downloads …{ending}");
        let mut before = (Instant::now(), BTreeMap::new());
        until(what, Duration::from_secs(60), async || {
            let mut complete = BTreeMap::new();
            for entry in std::fs::read_dir(self.downloads())? {
                let path = entry?.path();
                // A download under way has another ending until it is complete.
                let size = path.metadata()?.len();
                if path.to_string_lossy().ends_with(ending) && size > 0 {
                    complete.insert(path, size);
                }
            }
            if complete != before.1 {
                before = (Instant::now(), complete.clone());
            }
            // In WebKit it has not: there it is complete once nothing more comes.
            let rests = self.engine != Engine::WebKit || before.0.elapsed() > RESTS;
            Ok(if rests && complete.len() == count {
                Seen::Yes(complete.into_keys().collect())
            } else {
                Seen::NotYet(format!("there are {complete:?}"))
            })
        })
        .await
    }

    /// Keeps a picture of what is on the screen. Synchronous, so that it can be used while a test
    /// is failing.
    ///
    /// # Errors
    ///
    /// The driver gives no picture, or the file can't be written.
    pub fn screenshot(&self, path: &Path) -> Result<()> {
        crate::look::write_picture(&self.driver.screenshot()?, path)
    }
}

/// How long a browser may take to start, on a busy machine.
const START: Duration = Duration::from_secs(90);

/// A download to which nothing was added for this long.
const RESTS: Duration = Duration::from_secs(1);

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

impl Scheme {
    /// Its name in CSS.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }
}
