//! Tests of outputs whose addresses are dead: the page requests the output again, shows the copy saved in the
//! browser, or shows that it is unavailable.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until, wait_for_match, wait_for_value};
use serde_json::Value;
use std::time::Duration;

/// The time limit for a generation on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at dawn";
const UNAVAILABLE: &str = "No longer available: the service's address for this output no longer works, and no copy was kept.";

/// The browser, and a service whose files can become unavailable.
struct Studio<'a> {
    browser: &'a Browser,
    _service: Service,
    proxy: FaultProxy,
}

async fn run_steps(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let studio = Studio {
            browser,
            _service: service,
            proxy,
        };
        steps(&studio).await
    })
    .await;
}

impl Studio<'_> {
    async fn open(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.proxy.address());
        self.browser.open(&address).await
    }

    async fn turn_on_keep_outputs(&self) -> Result<()> {
        self.open("/settings").await?;
        self.browser.press(&by("checkbox", "Keep outputs")).await?;
        self.browser.press(&by("button", "Save")).await?;
        self.sees("Saved.").await
    }

    async fn generate(&self) -> Result<()> {
        self.open("/models/image/tessera").await?;
        self.browser.find(&by("heading", "Tessera")).await?;
        let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
        self.browser.fill(&prompt, PROMPT).await?;
        self.browser.press(&by("button", "Generate")).await?;
        // The saved copy may be shown first.
        self.wait_for_picture("").await
    }

    /// Makes all output files unavailable, and clears the HTTP cache.
    async fn remove_files(&self) -> Result<()> {
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        self.proxy.add(Rule::every("/outputs/*", gone));
        self.proxy.clear_cache(self.browser).await
    }

    /// Goes to the task's page through the task list, without a reload.
    async fn open_task(&self) -> Result<()> {
        self.browser.press(&by("link", "Tasks")).await?;
        self.open_listed_task().await
    }

    /// Goes to the task's page from the list that is shown.
    async fn open_listed_task(&self) -> Result<()> {
        self.browser.press(&by("link", PROMPT)).await?;
        self.browser.find(&containing("article", PROMPT)).await?;
        Ok(())
    }

    /// Waits until the favorite button has this pressed state.
    async fn wait_for_pressed(&self, expected: &str) -> Result<()> {
        until(
            format!("a favorite button with aria-pressed={expected}"),
            TIMEOUT,
            async || {
                let hearts = self.browser.find_all(&by("button", "Favorite")).await?;
                let pressed = match hearts.first() {
                    Some(heart) => heart.attr("aria-pressed").await?,
                    None => None,
                };
                Ok(match pressed.as_deref() == Some(expected) {
                    true => Seen::Yes(()),
                    false => Seen::NotYet(format!("aria-pressed is {pressed:?}")),
                })
            },
        )
        .await
    }

    async fn sees(&self, text: &str) -> Result<()> {
        self.browser.wait_for_text(text, TIMEOUT).await
    }

    /// Waits until the button that deletes copies is disabled for this reason.
    async fn wait_for_delete_disabled(&self, why: &str) -> Result<()> {
        let script = "
            const button = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Delete kept outputs');
            return button?.ariaDisabled === 'true' ? button.title : 'enabled'";
        wait_for_value(
            self.browser,
            "the reason why nothing can be deleted",
            script,
            why,
        )
        .await
    }

    /// Waits until the task's picture is loaded from an address with this prefix.
    async fn wait_for_picture(&self, start: &str) -> Result<()> {
        let script = "
            return [...document.querySelectorAll('article img')]
                .filter(image => image.naturalWidth > 0).map(image => image.currentSrc)";
        until(format!("a picture from {start}…"), TIMEOUT, async || {
            let sources = self.browser.run(script, vec![]).await?;
            let mut all = sources.as_array().into_iter().flatten();
            let is_loaded =
                all.any(|source| source.as_str().is_some_and(|url| url.starts_with(start)));
            Ok(if is_loaded {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("pictures from {sources}"))
            })
        })
        .await
    }

    fn response_calls(&self) -> usize {
        let count = |path| self.proxy.calls_to(path).len();
        count("/v2/response") + count("/v2/response-batch")
    }

    fn file_calls(&self) -> usize {
        let calls = self.proxy.calls();
        let files = calls
            .iter()
            .filter(|call| call.path.starts_with("/outputs/"));
        files.count()
    }

    /// Returns how many files this tab has fetched to save them. Does not count image elements.
    async fn saved_file_fetches(&self) -> Result<u64> {
        let script = "
            return performance.getEntriesByType('resource')
                .filter(entry => entry.initiatorType === 'fetch')
                .filter(entry => new URL(entry.name).pathname.startsWith('/outputs/')).length";
        let count = self.browser.run(script, vec![]).await?;
        count.as_u64().ok_or_else(|| "not a number".into())
    }
}

/// Guards against a favorite without a saved copy, against a favorite that other tabs don't show, and against deleting
/// copies of favorites together with all other copies.
#[tokio::test(flavor = "multi_thread")]
async fn favorite_output_is_saved_even_if_setting_is_off() {
    let name = "favorite_output_is_saved_even_if_setting_is_off";
    run_steps(name, async |studio| {
        let browser = studio.browser;
        studio.generate().await?;
        let first = browser.client.window().await?;
        let address = format!("{}/tasks", studio.proxy.address());
        let second = browser.open_tab(&address).await?;
        browser.press(&by("link", PROMPT)).await?;
        // Uses the follower tab.
        let heart = by("button", "Favorite");
        browser.press(&heart).await?;
        browser.switch_to(&first).await?;
        studio.wait_for_pressed("true").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        // "Keep outputs" is off, and no copy can be deleted.
        studio
            .sees("Copies of favorites are kept even while Keep outputs is off.")
            .await?;
        studio
            .wait_for_delete_disabled("Only favorites are kept, and they stay.")
            .await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        studio.generate().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 2 copies, ").await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        browser.switch_to(&second).await?;

        studio.remove_files().await?;
        studio.open("/tasks").await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.open_listed_task().await?;
        studio.wait_for_picture("blob:").await?;
        // Removes the favorite mark.
        browser.press(&heart).await?;
        studio.wait_for_pressed("false").await?;
        studio.open("/tasks?favorites=yes").await?;
        studio.sees("No task matches.").await
    })
    .await;
}

/// Guards against never saving an output because the page was closed when its task finished, and against saving deleted
/// copies again.
#[tokio::test(flavor = "multi_thread")]
async fn next_page_saves_output_that_closed_page_missed() {
    let name = "next_page_saves_output_that_closed_page_missed";
    run_steps(name, async |studio| {
        let browser = studio.browser;
        studio.turn_on_keep_outputs().await?;
        studio.proxy.add(Rule::every("/outputs/*", Fault::Hold));
        studio.open("/models/image/tessera").await?;
        let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
        browser.fill(&prompt, PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        let again = by("button", "Run again");
        browser.find_with_limit(&again, TIMEOUT).await?;
        studio.open("/settings").await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.proxy.clear();
        studio.open("/settings").await?;
        studio.sees("Kept now: 1 copy, ").await?;

        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.wait_for_delete_disabled("Nothing is kept.").await?;
        // Guards against a disabled button without a visible reason: touch users can't see titles.
        browser.press(&by("button", "Delete kept outputs")).await?;
        studio.sees("Nothing is kept.").await?;
        let fetched = studio.file_calls();
        studio.open("/settings").await?;
        browser.find(&by("button", "Save")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        assert_eq!(studio.file_calls(), fetched);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn saved_output_is_shown_without_request() {
    let name = "saved_output_is_shown_without_request";
    run_steps(name, async |studio| {
        let browser = studio.browser;
        studio.turn_on_keep_outputs().await?;
        studio.generate().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        assert_eq!(studio.response_calls(), 1);

        studio.remove_files().await?;
        // Reloads the page.
        studio.open("/tasks").await?;
        studio.wait_for_picture("blob:").await?;
        assert_eq!(
            studio.response_calls(),
            1,
            "the list must not request the response"
        );

        // Guards against waiting for the service although the copy is saved.
        let files = studio.file_calls();
        studio.open_task().await?;
        studio.wait_for_picture("blob:").await?;
        assert_eq!(studio.file_calls(), files, "the saved copy must be used");
        browser.press(&by("button", "Download")).await?;
        let files = browser.wait_for_downloads(1, ".png").await?;
        assert!(std::fs::read(&files[0])?.starts_with(b"\x89PNG"));

        // Removing the task also removes its copy.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        assert_eq!(
            studio.response_calls(),
            1,
            "the response must not be requested"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_output_without_copy_is_shown_as_unavailable() {
    let name = "dead_output_without_copy_is_shown_as_unavailable";
    run_steps(name, async |studio| {
        let browser = studio.browser;
        studio.generate().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.remove_files().await?;
        studio.open("/tasks").await?;
        studio.open_task().await?;
        studio.sees(UNAVAILABLE).await?;
        studio.sees("turn on Keep outputs in Settings").await?;
        assert_eq!(studio.response_calls(), 2);

        // The same applies after the copy is deleted.
        studio.proxy.clear();
        studio.turn_on_keep_outputs().await?;
        studio.open_task().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        // Waits until no earlier output remains to be saved. Otherwise, the copy could be saved again while the file
        // is available.
        let left = "return localStorage.getItem('atelier.copies.earlier')";
        wait_for_value(browser, "the outputs still to be saved", left, Value::Null).await?;
        studio.remove_files().await?;
        studio.open("/tasks").await?;
        studio.open_task().await?;
        studio.sees(UNAVAILABLE).await?;
        Ok(())
    })
    .await;
}

/// Guards against each tab saving its own copy, and against fetching a file repeatedly.
#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_save_one_copy_and_fetch_file_once() {
    let name = "two_tabs_save_one_copy_and_fetch_file_once";
    run_steps(name, async |studio| {
        let browser = studio.browser;
        // Disables thumbnails, which also fetch the files, by denying access to their database.
        let without_thumbnails = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, ...rest) {
                if (name === 'atelier-thumbnails') throw new DOMException('refused', 'SecurityError');
                return open.call(this, name, ...rest);
            };";
        studio.proxy.before_each_page(browser, without_thumbnails).await?;
        studio.generate().await?;
        let first = browser.client.window().await?;
        let settings = format!("{}/settings", studio.proxy.address());
        browser.open_tab(&settings).await?;
        studio.proxy.before_each_page(browser, without_thumbnails).await?;
        studio.open("/settings").await?;
        // Changes the setting in the follower tab. The leader tab must apply it.
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        studio.sees("Saved.").await?;
        studio.open_task().await?;
        studio.wait_for_picture("").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        studio.open_task().await?;
        studio.wait_for_picture("blob:").await?;
        assert_eq!(studio.saved_file_fetches().await?, 0, "the follower must save nothing");
        browser.switch_to(&first).await?;
        studio.open_task().await?;
        studio.wait_for_picture("blob:").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        assert_eq!(studio.saved_file_fetches().await?, 1);
        Ok(())
    })
    .await;
}

/// Whether the value of a field is the address of a file of the service.
fn is_output(value: &Value) -> bool {
    value.as_str().is_some_and(|it| it.contains("/outputs/"))
}

/// Guards against a model that gets an address which no longer works, although this browser has the file.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_output_used_as_input_is_uploaded() {
    run_steps("an_expired_output_used_as_input", async |studio| {
        let browser = studio.browser;
        studio.turn_on_keep_outputs().await?;
        studio.generate().await?;
        studio.open("/settings").await?;
        studio.sees("Kept now: 1 copy, ").await?;
        studio.remove_files().await?;
        studio.open("/models/image/repaint").await?;
        browser
            .press(&starting("button", "Use this output"))
            .await?;
        let value = "return document.querySelector('.media-field input[type=text]').value";
        wait_for_match(browser, "the dead address", value, is_output).await?;
        let dead = browser.run(value, vec![]).await?;
        let is_upload = |value: &Value| is_output(value) && *value != dead;
        wait_for_match(browser, "the address of the upload", value, is_upload).await?;
        let calls = studio.proxy.calls_to("/v2/uploads");
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].status, Some(200));
        Ok(())
    })
    .await;
}
