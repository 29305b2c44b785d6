//! What a person does at the page, and sees there.

use crate::tabs::Tabs;
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Enough for what the page does at once, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

const QUESTION: &str = "Send without keeping";

/// The present tab shows this task.
const IS_SHOWN: &str = "
    const [prompt] = arguments;
    return [...document.querySelectorAll('article')].some(task => task.ariaLabel.endsWith(prompt))";

const STATES: &str = "
    const list = document.querySelector('ul[aria-label=Tasks]');
    return [...list.querySelectorAll('article')].map(task => [
        task.ariaLabel, task.querySelector('[role=status]').textContent.trim()
    ])";

/// What there is to tell of a field that the keys missed.
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
    /// Answers what the present tab asks for: nothing can be kept, and it is to be sent all the
    /// same.
    pub async fn answer(&self) -> Result<()> {
        let is_asked =
            format!("return !!document.querySelector('dialog[open][aria-label=\"{QUESTION}\"]')");
        if self.browser.run(&is_asked, vec![]).await? == json!(true) {
            // It goes by itself once tasks can be kept again.
            if let Some(question) = self
                .browser
                .find_all(&by("dialog", QUESTION))
                .await?
                .first()
            {
                let yes = by("button", "Send anyway").within(question);
                if let Some(yes) = self.browser.find_all(&yes).await?.first() {
                    let _ = yes.click().await;
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

    /// Submits a task in the present tab.
    pub async fn generate(&self, prompt: &str) -> Result<()> {
        let before = self.submitted().await?;
        // A question may come in between and cover the button, or a line above the form that moves
        // it away from under the pointer.
        until(format!("{prompt} to be submitted"), TIMEOUT, async || {
            if self.submitted().await? > before {
                return Ok(Seen::Yes(()));
            }
            self.answer().await?;
            // Each as it is now: where a question has come meanwhile, there is no use in waiting for
            // what it covers.
            let fields = self
                .browser
                .find_all(&starting("textbox", "prompt"))
                .await?;
            let Some(field) = fields.first() else {
                return Ok(Seen::NotYet("the form is covered".into()));
            };
            field.clear().await?;
            field.send_keys(prompt).await?;
            // On a busy machine keys come to nothing where another tab has the focus; a person sees that.
            if field.prop("value").await?.as_deref() != Some(prompt) {
                let field = self.browser.run(FIELD, vec![]).await?;
                return Ok(Seen::NotYet(format!("the keys missed the field: {field}")));
            }
            let buttons = self.browser.find_all(&by("button", "Generate")).await?;
            let Some(button) = buttons.first() else {
                return Ok(Seen::NotYet("the button is covered".into()));
            };
            button.click().await?;
            Ok(Seen::NotYet("the press missed the button".into()))
        })
        .await?;
        until(format!("{prompt} to be taken"), TIMEOUT, async || {
            self.answer().await?;
            let is_shown = self.browser.run(IS_SHOWN, vec![json!(prompt)]).await?;
            Ok(if is_shown == json!(true) {
                Seen::Yes(())
            } else {
                Seen::NotYet("the page shows nothing of it".into())
            })
        })
        .await
    }

    /// How often the form of the present page was submitted.
    async fn submitted(&self) -> Result<Option<u64>> {
        let count = "return window.trial.submitted";
        Ok(self.browser.run(count, vec![]).await?.as_u64())
    }

    /// Every task of the list, its state by its prompt, all at one moment.
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

    /// Sends an Unconfirmed once more, from the list.
    pub async fn resubmit(&self, prompt: &str) -> Result<()> {
        self.press_at(prompt, "Resubmit").await?;
        self.browser.find_gone(&by("button", "Resubmit")).await?;
        self.browser.press(&by("link", "Tasks")).await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    }

    /// Leaves an Unconfirmed, from the list.
    pub async fn dismiss(&self, prompt: &str) -> Result<()> {
        self.press_at(prompt, "Dismiss").await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        until(format!("{prompt} to go"), TIMEOUT, async || {
            Ok(if self.states().await?.contains_key(prompt) {
                Seen::NotYet("it is there".into())
            } else {
                Seen::Yes(())
            })
        })
        .await
    }

    async fn press_at(&self, prompt: &str, button: &str) -> Result<()> {
        self.browser.run(OPEN_TASK, vec![json!(prompt)]).await?;
        self.browser.press(&by("button", button)).await
    }
}
