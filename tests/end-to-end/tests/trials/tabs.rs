//! The tabs of one person, in the order in which they were loaded: the first one leads.

use crate::conditions::{Conditions, STORED_TASKS};
use crate::plan::Tab;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::hearing;
use atelier_end_to_end::wait::{Seen, until};
use fantoccini::wd::WindowHandle;
use serde_json::{Value, json};
use std::time::Duration;

/// Enough for a page to be loaded and a browser to answer, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

pub const MODEL: &str = "/models/image/tessera";

/// How many tasks a model's page shows next to its form.
const SHOWN_BESIDE_FORM: u64 = 6;

/// What the page says while it can't keep tasks.
const NOT_KEPT: &str = "Tasks are not being kept";

pub struct Tabs<'a> {
    pub browser: &'a Browser,
    /// Of the page.
    origin: String,
    open: Vec<OpenTab>,
    conditions: Conditions,
}

struct OpenTab {
    handle: WindowHandle,
    /// The script that it runs first.
    script: String,
}

impl<'a> Tabs<'a> {
    /// With the browser's first tab, at the model's page.
    pub async fn start(browser: &'a Browser, origin: String) -> Result<Self> {
        let mut tabs = Self {
            browser,
            origin,
            open: Vec::new(),
            conditions: Conditions::default(),
        };
        let first = browser.client.window().await?;
        tabs.enter(first, 0).await?;
        Ok(tabs)
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn which(&self, tab: Tab) -> usize {
        match tab {
            Tab::Leader => 0,
            Tab::Number(number) => number % self.open.len(),
        }
    }

    pub async fn switch_to(&self, at: usize) -> Result<()> {
        self.browser.switch_to(&self.open[at].handle).await
    }

    /// Opens a further tab, which is to show what is stored: so many tasks.
    pub async fn open(&mut self, known: u64) -> Result<()> {
        let handle = self.browser.client.new_window(true).await?.handle;
        self.enter(handle, known).await
    }

    async fn enter(&mut self, handle: WindowHandle, known: u64) -> Result<()> {
        self.browser.switch_to(&handle).await?;
        // So high that the list of tasks, of which only what is near the screen exists, is there
        // as a whole.
        self.browser.set_size(1280, 8000).await?;
        self.browser.before_each_page(&hearing::script()).await?;
        let script = self.run_first().await?;
        self.open.push(OpenTab { handle, script });
        self.load().await?;
        self.loaded(known).await
    }

    /// It becomes the last one; see [`Self::loaded`].
    pub async fn reload(&mut self, at: usize) -> Result<()> {
        let tab = self.open.remove(at);
        self.browser.switch_to(&tab.handle).await?;
        self.open.push(tab);
        self.load().await
    }

    async fn load(&self) -> Result<()> {
        self.browser.open(&self.address(MODEL)).await
    }

    /// Waits until the present tab, just loaded, shows what is stored: so many tasks.
    pub async fn loaded(&self, known: u64) -> Result<()> {
        until("the form to be there", TIMEOUT, async || {
            // A question may come before it.
            self.answer().await?;
            let form = self
                .browser
                .find_all(&starting("textbox", "prompt"))
                .await?;
            Ok(if form.is_empty() {
                Seen::NotYet("there is none".into())
            } else {
                Seen::Yes(())
            })
        })
        .await?;
        until("what is stored to be shown", TIMEOUT, async || {
            let count = "return document.querySelectorAll('article').length";
            let shown = self.browser.run(count, vec![]).await?;
            let is_shown = shown.as_u64() >= Some(known.min(SHOWN_BESIDE_FORM));
            Ok(if is_shown || self.says_unkept().await? {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("{shown} of {known} tasks"))
            })
        })
        .await
    }

    /// Loads the list of tasks afresh.
    pub async fn open_list(&self) -> Result<()> {
        self.browser.open(&self.address("/tasks")).await?;
        let heading = by("heading", "Tasks");
        self.browser.find_for(&heading, TIMEOUT).await?;
        Ok(())
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Ends the tab's process; the page gets no chance to do anything.
    pub async fn crash(&mut self, at: usize) -> Result<()> {
        self.switch_to(at).await?;
        self.browser.crash().await?;
        self.open.remove(at);
        self.switch_to(0).await
    }

    /// Closes the tab without asking the page.
    pub async fn close(&mut self, at: usize) -> Result<()> {
        let tab = self.open.remove(at);
        self.switch_to(0).await?;
        let target = json!({ "targetId": String::from(tab.handle) });
        self.browser.devtools("Target.closeTarget", target).await?;
        Ok(())
    }

    pub fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// The same in all tabs, and in those to come.
    pub async fn set_conditions(&mut self, conditions: Conditions) -> Result<()> {
        self.conditions = conditions;
        for at in 0..self.open.len() {
            self.switch_to(at).await?;
            self.browser.run(&conditions.script(), vec![]).await?;
            let script = self.run_first().await?;
            let before = std::mem::replace(&mut self.open[at].script, script);
            let before = json!({ "identifier": before });
            self.browser
                .devtools("Page.removeScriptToEvaluateOnNewDocument", before)
                .await?;
        }
        Ok(())
    }

    async fn run_first(&self) -> Result<String> {
        let source = json!({ "source": self.conditions.first_script() });
        let added = self
            .browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", source)
            .await?;
        let name = added["identifier"].as_str().ok_or("no script was added")?;
        Ok(name.to_owned())
    }

    /// Clears what the browser has stored, and waits until the page has seen it: it says so, or has
    /// written everything once more.
    pub async fn clear_storage(&self, types: &str) -> Result<()> {
        self.switch_to(0).await?;
        let before = self.stored().await?.len();
        let what = json!({ "origin": self.origin, "storageTypes": types });
        self.browser
            .devtools("Storage.clearDataForOrigin", what)
            .await?;
        until("what was cleared to be noticed", TIMEOUT, async || {
            let now = self.stored().await?.len();
            Ok(if now >= before || self.says_unkept().await? {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("{now} of {before} tasks are stored"))
            })
        })
        .await
    }

    /// The records of all tasks.
    pub async fn stored(&self) -> Result<Vec<Value>> {
        let records = self.browser.run(STORED_TASKS, vec![]).await?;
        let records = records.as_array().ok_or("no list of records")?;
        let text = |record: &Value| record.as_str().unwrap_or_default().to_owned();
        let read = |record| Ok(serde_json::from_str(&text(record))?);
        records.iter().map(read).collect()
    }

    /// Whether the present tab says that it can't keep tasks.
    pub async fn says_unkept(&self) -> Result<bool> {
        let shown = "return document.body.innerText";
        let shown = self.browser.run(shown, vec![]).await?;
        Ok(shown.as_str().is_some_and(|text| text.contains(NOT_KEPT)))
    }

    /// Whether any tab says so.
    pub async fn any_says_unkept(&self) -> Result<bool> {
        for at in 0..self.open.len() {
            self.switch_to(at).await?;
            if self.says_unkept().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
