//! A person at the page of a model, a fault proxy, and the service behind it.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{self, MODEL_NAME};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::Value;
use std::ops::Deref;
use std::time::Duration;

pub use atelier_end_to_end::studio::{MODEL, TIMEOUT};

/// Helps to find what a person would press, in scripts that have to be quicker than WebDriver.
const FINDING: &str = "
    // By the clock of the page, if a test moves that.
    const pause = ms => window.testClock?.advance(ms) ?? new Promise(done => setTimeout(done, ms));
    const button = name => [...document.querySelectorAll('button')]
        .find(each => each.checkVisibility() && each.textContent.trim() === name);
    const field = () => document.querySelector('form[aria-label=Input] textarea');
    const type = text => {
        field().value = text;
        field().dispatchEvent(new Event('input', { bubbles: true }));
    };
    // As a hand does: the second press goes where the first went, whatever is there by then.
    const twice = async (name, ms) => {
        const pressed = button(name);
        pressed.scrollIntoView({ block: 'center' });
        const box = pressed.getBoundingClientRect();
        // However late a busy page comes to it.
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

/// Runs the steps at the model's page.
pub async fn play(
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
    /// Loads the page of the model with a clock that stands and that the test moves.
    pub async fn stop_clock(&self) -> Result<()> {
        self.proxy.control_clock(self.browser).await?;
        self.open(MODEL).await?;
        self.browser.stop_clock().await?;
        Ok(())
    }

    /// Moves the clock of the page.
    pub async fn advance_clock(&self, by: Duration) -> Result<()> {
        self.proxy.advance_clock(self.browser, by).await
    }

    /// Loads a page of the model afresh.
    pub async fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&self.address(path)).await?;
        self.is_open().await
    }

    /// The page of the model is there, and who may send to the service is known.
    pub async fn is_open(&self) -> Result<()> {
        self.browser.find(&by("heading", MODEL_NAME)).await?;
        self.browser.find(&by("form", "Input")).await?;
        Ok(())
    }

    pub async fn type_prompt(&self, text: &str) -> Result<()> {
        self.browser
            .fill(&starting("textbox", "prompt"), text)
            .await
    }

    /// Waits until this stands in the prompt.
    pub async fn sees_prompt(&self, wanted: &str) -> Result<()> {
        until(format!("the prompt “{wanted}”"), TIMEOUT, async || {
            let prompt = self.browser.find(&starting("textbox", "prompt")).await?;
            let text = prompt.prop("value").await?.unwrap_or_default();
            Ok(if text == wanted {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("it is “{text}”"))
            })
        })
        .await
    }

    /// Runs a script that may use what [`FINDING`] has.
    pub async fn hand(&self, script: &str) -> Result<Value> {
        let script = format!("{FINDING} return (async () => {{ {script} }})()");
        self.browser.run(&script, vec![]).await
    }

    /// Every seed that was sent, in order.
    pub fn seeds(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.seeds).collect()
    }

    /// Waits until so many prompts were sent.
    pub async fn sees_sent(&self, count: usize) -> Result<()> {
        until(format!("{count} prompts sent"), TIMEOUT, async || {
            let sent = self.prompts_sent();
            Ok(if sent.len() >= count {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("sent were {sent:?}"))
            })
        })
        .await
    }

    /// How many tasks are stored.
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
