//! The open tabs, in the order in which they were loaded. The first one is the leader.

use crate::conditions::{Conditions, STORED_TASKS};
use crate::plan::Tab;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::received_refusals;
use atelier_end_to_end::wait::{Seen, until};
use fantoccini::wd::WindowHandle;
use serde_json::{Value, json};
use std::time::Duration;

/// The time limit for a page to load, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

pub const MODEL: &str = "/models/image/tessera";

/// The number of tasks that a model's page shows next to its form.
const TASKS_NEXT_TO_FORM: u64 = 6;

/// The message of the page while it can't store tasks.
const NOT_STORED: &str = "Tasks are not being stored";

pub struct Tabs<'a> {
    pub browser: &'a Browser,
    /// The origin of the page.
    origin: String,
    open: Vec<OpenTab>,
    conditions: Conditions,
}

struct OpenTab {
    handle: WindowHandle,
    /// The identifier of the script that runs before those of its pages.
    script: String,
}

impl<'a> Tabs<'a> {
    /// Starts with the browser's first tab, at the model's page.
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

    /// Returns the index of a tab.
    pub fn index_of(&self, tab: Tab) -> usize {
        match tab {
            Tab::Leader => 0,
            Tab::Number(number) => number % self.open.len(),
        }
    }

    pub async fn switch_to(&self, at: usize) -> Result<()> {
        self.browser.switch_to(&self.open[at].handle).await
    }

    /// Opens a new tab, and waits until it shows the `known` stored tasks.
    pub async fn open(&mut self, known: u64) -> Result<()> {
        let handle = self.browser.client.new_window(true).await?.handle;
        self.enter(handle, known).await
    }

    async fn enter(&mut self, handle: WindowHandle, known: u64) -> Result<()> {
        self.browser.switch_to(&handle).await?;
        // So tall that the virtual list of tasks renders all its rows.
        self.browser.set_size(1280, 8000).await?;
        self.browser
            .before_each_page(&received_refusals::script())
            .await?;
        let script = self.add_first_script().await?;
        self.open.push(OpenTab { handle, script });
        self.load().await?;
        self.wait_until_loaded(known).await
    }

    /// Reloads a tab, which becomes the last one. Call [`Self::wait_until_loaded`] next.
    pub async fn reload(&mut self, at: usize) -> Result<()> {
        let tab = self.open.remove(at);
        self.browser.switch_to(&tab.handle).await?;
        self.open.push(tab);
        self.load().await
    }

    async fn load(&self) -> Result<()> {
        self.browser.open(&self.address(MODEL)).await
    }

    /// Waits until the current tab, just loaded, shows the `known` stored tasks.
    pub async fn wait_until_loaded(&self, known: u64) -> Result<()> {
        until("the form", TIMEOUT, async || {
            // A dialog may appear first.
            self.answer().await?;
            let form = self
                .browser
                .find_all(&starting("textbox", "prompt"))
                .await?;
            Ok(if form.is_empty() {
                Seen::NotYet("no form".into())
            } else {
                Seen::Yes(())
            })
        })
        .await?;
        until("the stored tasks", TIMEOUT, async || {
            let count = "return document.querySelectorAll('article').length";
            let shown = self.browser.run(count, vec![]).await?;
            let is_shown = shown.as_u64() >= Some(known.min(TASKS_NEXT_TO_FORM));
            Ok(if is_shown || self.shows_not_stored().await? {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("{shown} of {known} tasks"))
            })
        })
        .await
    }

    /// Loads the list of tasks.
    pub async fn open_list(&self) -> Result<()> {
        self.browser.open(&self.address("/tasks")).await?;
        let heading = by("heading", "Tasks");
        self.browser.find_with_limit(&heading, TIMEOUT).await?;
        Ok(())
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Crashes the tab's process. No event handler of the page runs.
    pub async fn crash(&mut self, at: usize) -> Result<()> {
        self.switch_to(at).await?;
        self.browser.crash().await?;
        self.open.remove(at);
        self.switch_to(0).await
    }

    /// Closes the tab without `beforeunload`.
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

    /// Sets the conditions in all open and future tabs.
    pub async fn set_conditions(&mut self, conditions: Conditions) -> Result<()> {
        self.conditions = conditions;
        for at in 0..self.open.len() {
            self.switch_to(at).await?;
            self.browser.run(&conditions.script(), vec![]).await?;
            let script = self.add_first_script().await?;
            let before = std::mem::replace(&mut self.open[at].script, script);
            let before = json!({ "identifier": before });
            self.browser
                .devtools("Page.removeScriptToEvaluateOnNewDocument", before)
                .await?;
        }
        Ok(())
    }

    async fn add_first_script(&self) -> Result<String> {
        let source = json!({ "source": self.conditions.first_script() });
        let added = self
            .browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", source)
            .await?;
        let name = added["identifier"].as_str().ok_or("no script was added")?;
        Ok(name.to_owned())
    }

    /// Clears stored data, and waits until the page has detected it: it shows a message, or has stored all tasks
    /// again.
    pub async fn clear_storage(&self, types: &str) -> Result<()> {
        self.switch_to(0).await?;
        let before = self.stored().await?.len();
        let what = json!({ "origin": self.origin, "storageTypes": types });
        self.browser
            .devtools("Storage.clearDataForOrigin", what)
            .await?;
        until(
            "the page to detect the cleared storage",
            TIMEOUT,
            async || {
                let now = self.stored().await?.len();
                Ok(if now >= before || self.shows_not_stored().await? {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("{now} of {before} tasks are stored"))
                })
            },
        )
        .await
    }

    /// Returns the stored records of all tasks.
    pub async fn stored(&self) -> Result<Vec<Value>> {
        let records = self.browser.run(STORED_TASKS, vec![]).await?;
        let records = records.as_array().ok_or("no list of records")?;
        let text = |record: &Value| record.as_str().unwrap_or_default().to_owned();
        let read = |record| Ok(serde_json::from_str(&text(record))?);
        records.iter().map(read).collect()
    }

    /// Returns whether the current tab shows that it can't store tasks.
    pub async fn shows_not_stored(&self) -> Result<bool> {
        let shown = "return document.body.innerText";
        let shown = self.browser.run(shown, vec![]).await?;
        Ok(shown.as_str().is_some_and(|text| text.contains(NOT_STORED)))
    }

    /// Returns whether any tab shows that it can't store tasks.
    pub async fn any_shows_not_stored(&self) -> Result<bool> {
        for at in 0..self.open.len() {
            self.switch_to(at).await?;
            if self.shows_not_stored().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
