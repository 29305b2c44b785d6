//! User actions at the page, and the task states that it shows.

use crate::tabs::Tabs;
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time limit for an immediate reaction of the page, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

const QUESTION: &str = "Send without keeping";

/// Returns whether the current tab shows this task.
const IS_SHOWN: &str = "
    const [prompt] = arguments;
    return [...document.querySelectorAll('article')].some(task => task.ariaLabel.endsWith(prompt))";

const STATES: &str = "
    const list = document.querySelector('ul[aria-label=Tasks]');
    return [...list.querySelectorAll('article')].map(task => [
        task.ariaLabel, task.querySelector('[role=status]').textContent.trim()
    ])";

/// Describes the state of the field after keys did not reach it.
const FIELD: &str = "
    const fields = [...document.querySelectorAll('textarea')];
    return {
        values: fields.map(field => field.value),
        focus: document.activeElement?.outerHTML.slice(0, 120),
        hasFocus: document.hasFocus(),
        visibility: document.visibilityState,
    }";

const OPEN_TASK: &str = "
    const [prompt] = arguments;
    [...document.querySelectorAll('article')]
        .find(task => task.ariaLabel.endsWith(prompt))
        .querySelector('a').click()";

impl Tabs<'_> {
    /// Confirms the dialog of the current tab that asks to send without storing.
    pub async fn answer(&self) -> Result<()> {
        let is_asked =
            format!("return !!document.querySelector('dialog[open][aria-label=\"{QUESTION}\"]')");
        if self.browser.run(&is_asked, vec![]).await? == json!(true) {
            // The dialog closes automatically when tasks can be stored again.
            if let Some(question) = self
                .browser
                .find_all(&by("dialog", QUESTION))
                .await?
                .first()
            {
                let confirm = by("button", "Send anyway").within(question);
                if let Some(confirm) = self.browser.find_all(&confirm).await?.first() {
                    let _ = confirm.click().await;
                }
            }
        }
        Ok(())
    }

    pub async fn answer_everywhere(&self) -> Result<()> {
        for at in 0..self.len() {
            self.switch_to(at).await?;
            self.answer().await?;
        }
        Ok(())
    }

    /// Submits a task in the current tab.
    pub async fn generate(&self, prompt: &str) -> Result<()> {
        let before = self.submitted().await?;
        // Retries, because a dialog may cover the button, or a message above the form may move it away.
        until(format!("{prompt} to be submitted"), TIMEOUT, async || {
            if self.submitted().await? > before {
                return Ok(Seen::Yes(()));
            }
            self.answer().await?;
            // Does not wait for the field, which a dialog may cover.
            let fields = self
                .browser
                .find_all(&starting("textbox", "prompt"))
                .await?;
            let Some(field) = fields.first() else {
                return Ok(Seen::NotYet("the form is covered".into()));
            };
            field.clear().await?;
            field.send_keys(prompt).await?;
            // On a busy machine, keys are lost if another tab has the focus.
            if field.prop("value").await?.as_deref() != Some(prompt) {
                let field = self.browser.run(FIELD, vec![]).await?;
                return Ok(Seen::NotYet(format!(
                    "the keys did not reach the field: {field}"
                )));
            }
            let buttons = self.browser.find_all(&by("button", "Generate")).await?;
            let Some(button) = buttons.first() else {
                return Ok(Seen::NotYet("the button is covered".into()));
            };
            button.click().await?;
            Ok(Seen::NotYet("the press did not reach the button".into()))
        })
        .await?;
        until(format!("{prompt} to be shown"), TIMEOUT, async || {
            self.answer().await?;
            let is_shown = self.browser.run(IS_SHOWN, vec![json!(prompt)]).await?;
            Ok(if is_shown == json!(true) {
                Seen::Yes(())
            } else {
                Seen::NotYet("the page does not show the task".into())
            })
        })
        .await
    }

    /// Returns how many times the form of the current page was submitted.
    async fn submitted(&self) -> Result<Option<u64>> {
        let count = "return window.trial.submitted";
        Ok(self.browser.run(count, vec![]).await?.as_u64())
    }

    /// Returns the state of every task in the list by its prompt, read at once.
    pub async fn states(&self) -> Result<BTreeMap<String, String>> {
        let rows = self.browser.run(STATES, vec![]).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut states = BTreeMap::new();
        for row in rows.as_array().into_iter().flatten() {
            let name = text(&row[0]);
            let prompt = name.split_once(": ").map_or(&*name, |(_, prompt)| prompt);
            if states.insert(prompt.to_owned(), text(&row[1])).is_some() {
                return Err(format!("the list has “{prompt}” twice").into());
            }
        }
        Ok(states)
    }

    /// Resubmits an Unconfirmed task, starting from the list.
    pub async fn resubmit(&self, prompt: &str) -> Result<()> {
        self.press_on_task_page(prompt, "Resubmit").await?;
        self.browser
            .wait_until_gone(&by("button", "Resubmit"))
            .await?;
        self.browser.press(&by("link", "Tasks")).await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    }

    /// Dismisses an Unconfirmed task, starting from the list.
    pub async fn dismiss(&self, prompt: &str) -> Result<()> {
        self.press_on_task_page(prompt, "Dismiss").await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        until(format!("{prompt} to disappear"), TIMEOUT, async || {
            Ok(if self.states().await?.contains_key(prompt) {
                Seen::NotYet("still in the list".into())
            } else {
                Seen::Yes(())
            })
        })
        .await
    }

    /// Opens the page of a task from the list, and presses a button there.
    async fn press_on_task_page(&self, prompt: &str, button: &str) -> Result<()> {
        self.browser.run(OPEN_TASK, vec![json!(prompt)]).await?;
        self.browser.press(&by("button", button)).await
    }
}
