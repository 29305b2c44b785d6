//! The browser at a model page, with the fault proxy and the service.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{self, MODEL_NAME};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::Value;
use std::ops::Deref;
use std::time::Duration;

pub use atelier_end_to_end::studio::{MODEL, TIMEOUT};

/// JavaScript helpers for user actions that must be faster than WebDriver commands.
const HELPERS: &str = "
    // Uses the fake clock of the page, if it has one.
    const pause = ms => window.testClock?.advance(ms) ?? new Promise(done => setTimeout(done, ms));
    const button = name => [...document.querySelectorAll('button')]
        .find(each => each.checkVisibility() && each.textContent.trim() === name);
    const field = () => document.querySelector('form[aria-label=Input] textarea');
    const type = text => {
        field().value = text;
        field().dispatchEvent(new Event('input', { bubbles: true }));
    };
    // Clicks twice at the same position, even if the page shows another element there for the second click.
    const twice = async (name, ms) => {
        const pressed = button(name);
        pressed.scrollIntoView({ block: 'center' });
        const box = pressed.getBoundingClientRect();
        // Sets the time stamps explicitly, so that a busy page does not change the interval.
        const at = new Event('click').timeStamp;
        const press = (element, ms) => {
            const click = new MouseEvent('click', { bubbles: true, cancelable: true, view: window });
            Object.defineProperty(click, 'timeStamp', { value: at + ms });
            element.dispatchEvent(click);
        };
        press(pressed, 0);
        await pause(ms);
        press(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2), ms);
    };
";

pub struct Studio<'a>(studio::Studio<'a>);

impl<'a> Deref for Studio<'a> {
    type Target = studio::Studio<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> From<studio::Studio<'a>> for Studio<'a> {
    fn from(studio: studio::Studio<'a>) -> Self {
        Self(studio)
    }
}

/// Runs the steps on the model page.
pub async fn run_steps(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let studio = Studio(studio::Studio::start(browser, service).await?);
        browser.set_size(1280, 2000).await?;
        studio.open(MODEL).await?;
        steps(&studio).await
    })
    .await;
}

impl Studio<'_> {
    /// Loads the model page with a stopped clock, which the test can advance.
    pub async fn stop_clock(&self) -> Result<()> {
        self.proxy.control_clock(self.browser).await?;
        self.open(MODEL).await?;
        self.browser.stop_clock().await?;
        Ok(())
    }

    /// Moves the clock of the page forward.
    pub async fn advance_clock(&self, by: Duration) -> Result<()> {
        self.proxy.advance_clock(self.browser, by).await
    }

    /// Loads a page of the model.
    pub async fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&self.address(path)).await?;
        self.wait_until_open().await
    }

    /// Waits until the model page and its form are shown.
    pub async fn wait_until_open(&self) -> Result<()> {
        self.browser.find(&by("heading", MODEL_NAME)).await?;
        self.browser.find(&by("form", "Input")).await?;
        Ok(())
    }

    pub async fn type_prompt(&self, text: &str) -> Result<()> {
        self.browser
            .fill(&starting("textbox", "prompt"), text)
            .await
    }

    /// Waits until the prompt field has this text.
    pub async fn wait_for_prompt(&self, expected: &str) -> Result<()> {
        until(
            format!("the prompt “{expected}”"),
            TIMEOUT,
            async || {
                let prompt = self.browser.find(&starting("textbox", "prompt")).await?;
                let text = prompt.prop("value").await?.unwrap_or_default();
                Ok(if text == expected {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("the prompt is “{text}”"))
                })
            },
        )
        .await
    }

    /// Runs a script that may use [`HELPERS`].
    pub async fn run_script(&self, script: &str) -> Result<Value> {
        let script = format!("{HELPERS} return (async () => {{ {script} }})()");
        self.browser.run(&script, vec![]).await
    }

    /// Returns every seed that was sent, in order.
    pub fn seeds(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.seeds).collect()
    }

    /// Waits until `count` prompts were sent.
    pub async fn wait_for_sent(&self, count: usize) -> Result<()> {
        until(format!("{count} prompts sent"), TIMEOUT, async || {
            let sent = self.sent_prompts();
            Ok(if sent.len() >= count {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("sent: {sent:?}"))
            })
        })
        .await
    }

    /// Returns the number of stored tasks.
    pub async fn stored_tasks(&self) -> Result<usize> {
        let script = "
            return new Promise((done, failed) => {
                const opened = indexedDB.open('atelier');
                opened.onerror = failed;
                opened.onsuccess = () => {
                    const count = opened.result.transaction('tasks').objectStore('tasks').count();
                    count.onsuccess = () => { opened.result.close(); done(count.result); };
                };
            })";
        let count = self.browser.run(script, vec![]).await?;
        Ok(usize::try_from(count.as_u64().ok_or("not a number")?)?)
    }
}
