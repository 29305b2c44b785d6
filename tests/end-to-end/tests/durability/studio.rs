//! Steps that a user takes at the page, with a fault proxy between the page and the service.

use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::studio::{self, MODEL, MODEL_NAME, Suite};
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use fantoccini::elements::Element;
use fantoccini::key::Key;
use fantoccini::wd::WindowHandle;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

pub use atelier_end_to_end::studio::TIMEOUT;

/// States that change without the user.
const PENDING: [&str; 5] = ["Queued", "Submitting", "Starting", "Processing", "Unknown"];

pub struct Studio<'a>(studio::Studio<'a>);

impl<'a> Deref for Studio<'a> {
    type Target = studio::Studio<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Studio<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Elements of the form on the model's page. They are found once, since finding them takes longer than filling in the form.
pub struct Form {
    prompt: Element,
    generate: Element,
}

struct Durability;

impl Suite for Durability {
    type Studio<'a> = Studio<'a>;

    async fn begin(studio: studio::Studio<'_>) -> Result<Studio<'_>> {
        let studio = Studio(studio);
        studio.open_model().await?;
        Ok(studio)
    }

    async fn close(studio: Self::Studio<'_>, name: &str) -> Result<()> {
        studio.close(name).await
    }
}

/// Runs the steps at the model's page, waits until all tasks have ended, and checks the ledger.
pub async fn run_until_settled(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::run_until_settled::<Durability>(name, service, true, steps).await;
}

/// Like [`play`], with a service that does not announce idempotency keys, as most services don't.
pub async fn run_without_keys_until_settled(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::run_until_settled::<Durability>(name, service, false, steps).await;
}

impl Studio<'_> {
    /// Waits until all tasks have ended, and checks the ledger.
    async fn close(self, name: &str) -> Result<()> {
        self.proxy.clear();
        self.show_tasks().await?;
        let settled = self.wait_until_settled().await;
        // The reload checks what is stored, not only what the page has in memory.
        self.open_tasks().await?;
        let settled = settled.and(self.wait_until_settled().await);
        let states = self.states().await?;
        self.balance(name, &states, settled)
    }

    /// Loads the model's page.
    pub async fn open_model(&self) -> Result<Form> {
        self.open(MODEL).await?;
        self.find_form().await
    }

    /// Finds the form on the model's page.
    pub async fn find_form(&self) -> Result<Form> {
        // The name arrives with the list of models. From then on, the guest credentials are set.
        self.browser.find(&by("heading", MODEL_NAME)).await?;
        Ok(Form {
            prompt: self.browser.find(&starting("textbox", "prompt")).await?,
            generate: self.browser.find(&by("button", "Generate")).await?,
        })
    }

    /// Loads the list of tasks.
    pub async fn open_tasks(&self) -> Result<()> {
        self.open("/tasks").await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    }

    /// Navigates to the list of tasks without a reload, so that requests continue.
    pub async fn show_tasks(&self) -> Result<()> {
        self.browser.press(&by("link", "Tasks")).await?;
        self.browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    }

    pub async fn open_model_tab(&self) -> Result<WindowHandle> {
        self.open_tab(MODEL).await
    }

    /// Fills the form, presses Generate and waits until the page shows the task.
    pub async fn generate(&mut self, form: &Form, prompt: &str) -> Result<()> {
        self.press_generate(form, prompt).await?;
        self.browser.find(&containing("article", prompt)).await?;
        Ok(())
    }

    /// Fills the form and presses Generate with the Enter key. A click would miss the button if a warning appeared above
    /// it during the click.
    pub async fn press_generate(&mut self, form: &Form, prompt: &str) -> Result<()> {
        form.prompt.clear().await?;
        form.prompt.send_keys(prompt).await?;
        form.generate
            .send_keys(&char::from(Key::Enter).to_string())
            .await?;
        self.ledger.ask(prompt);
        Ok(())
    }

    /// Resubmits an Unconfirmed task on its page.
    pub async fn resubmit(&mut self, prompt: &str) -> Result<()> {
        self.show_tasks().await?;
        self.browser.press(&by("link", prompt)).await?;
        self.browser.press(&by("button", "Resubmit")).await?;
        self.ledger.ask(prompt);
        self.browser
            .wait_until_gone(&by("button", "Resubmit"))
            .await?;
        self.show_tasks().await
    }

    /// Dismisses an Unconfirmed task on its page.
    pub async fn dismiss(&mut self, prompt: &str) -> Result<()> {
        self.show_tasks().await?;
        self.browser.press(&by("link", prompt)).await?;
        self.browser.press(&by("button", "Dismiss")).await?;
        self.ledger.exempt_prompts.insert(prompt.to_owned());
        self.browser.find(&by("heading", "Tasks")).await?;
        self.browser.wait_until_gone(&by("link", prompt)).await
    }

    /// Returns the states of all tasks in the list by prompt, read at the same time.
    pub async fn states(&self) -> Result<BTreeMap<String, String>> {
        let list = self.browser.find(&by("list", "Tasks")).await?;
        let script = "
            const [list] = arguments;
            return [...list.querySelectorAll('article')].map(task => [
                task.ariaLabel, task.querySelector('[role=status]').textContent.trim()
            ])";
        let rows = self
            .browser
            .run(script, vec![self.browser.argument(&list)])
            .await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut states = BTreeMap::new();
        for row in rows.as_array().into_iter().flatten() {
            let name = text(&row[0]);
            let prompt = name.split_once(": ").map_or(&*name, |(_, prompt)| prompt);
            if states.insert(prompt.to_owned(), text(&row[1])).is_some() {
                return Err(format!("the list contains “{prompt}” twice").into());
            }
        }
        Ok(states)
    }

    /// Waits until the list shows these states.
    pub async fn wait_for_states(&self, wanted: &[(&str, &str)]) -> Result<()> {
        until(format!("{wanted:?}"), TIMEOUT, async || {
            let states = self.states().await?;
            let is_so = |(prompt, state): &(&str, &str)| {
                states.get(*prompt).is_some_and(|seen| seen == state)
            };
            Ok(if wanted.iter().all(is_so) {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("{states:?}"))
            })
        })
        .await
    }

    /// Waits until no task changes without the user.
    pub async fn wait_until_settled(&self) -> Result<()> {
        until("all tasks to end", TIMEOUT, async || {
            let states = self.states().await?;
            let is_pending = |state: &String| PENDING.contains(&state.as_str());
            let missing = |prompt: &String| !states.contains_key(prompt);
            Ok(
                if states.values().any(is_pending) || self.ledger.expected().any(missing) {
                    Seen::NotYet(format!("{states:?}"))
                } else {
                    Seen::Yes(())
                },
            )
        })
        .await
    }

    /// Returns how often the task was sent.
    pub fn times_sent(&self, prompt: &str) -> usize {
        let prompts = self.sent_prompts();
        prompts.iter().filter(|sent| *sent == prompt).count()
    }

    /// Waits until the service has accepted at least `count` tasks.
    pub async fn wait_for_accepted(&self, count: usize) -> Result<()> {
        self.sees(&format!("{count} accepted tasks"), |calls| {
            calls.iter().map(|call| call.accepted.len()).sum::<usize>() >= count
        })
        .await
    }
}

/// Checks that the service has the model that these tests use.
#[tokio::test]
async fn the_service_has_the_model_of_these_tests() -> Result<()> {
    let service = Service::start(&[]).await?;
    let schema = MODEL.replace("/models/", "/api/schema/");
    let (status, _) = http::get(&format!("{}{schema}", service.address())).await?;
    assert_eq!(status, 200, "the local service has no {MODEL}");
    Ok(())
}
