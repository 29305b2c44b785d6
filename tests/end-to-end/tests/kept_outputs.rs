//! Outputs whose addresses have died: asked for once more, else shown from the copy that the browser
//! keeps, else said to be gone.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, becomes, until};
use serde_json::Value;
use std::time::Duration;

/// Enough for a generation, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at dawn";
const DEAD: &str =
    "No longer available: the service's address for this output is dead and no copy was kept.";

/// A person at the page, and a service whose files can die.
struct Studio<'a> {
    browser: &'a Browser,
    _service: Service,
    proxy: FaultProxy,
}

async fn play(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::with_site(&["--speed", "0.2"]).await?;
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

    async fn keep_outputs(&self) -> Result<()> {
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
        // Its copy may be there first.
        self.has_picture("").await
    }

    /// From now on no file is there any more, in the browser's cache either.
    async fn files_die(&self) -> Result<()> {
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        self.proxy.add(Rule::every("/outputs/*", gone));
        self.proxy.clear_cache(self.browser).await
    }

    /// To the task's page, by the list, without loading anything afresh.
    async fn show_task(&self) -> Result<()> {
        self.browser.press(&by("link", "Tasks")).await?;
        self.show_listed().await
    }

    /// To the task's page, by the list that is shown.
    async fn show_listed(&self) -> Result<()> {
        self.browser.press(&by("link", PROMPT)).await?;
        self.browser.find(&containing("article", PROMPT)).await?;
        Ok(())
    }

    async fn sees_pressed(&self, wanted: &str) -> Result<()> {
        until(format!("a heart that is {wanted}"), TIMEOUT, async || {
            let hearts = self.browser.find_all(&by("button", "Favorite")).await?;
            let pressed = match hearts.first() {
                Some(heart) => heart.attr("aria-pressed").await?,
                None => None,
            };
            Ok(match pressed.as_deref() == Some(wanted) {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("it is {pressed:?}")),
            })
        })
        .await
    }

    async fn sees(&self, text: &str) -> Result<()> {
        self.browser.see_text(text, TIMEOUT).await
    }

    /// Waits until the button that deletes copies does nothing, and says why.
    async fn cannot_delete(&self, why: &str) -> Result<()> {
        let script = "
            const button = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Delete kept outputs');
            return button?.ariaDisabled === 'true' ? button.title : 'it would ask'";
        becomes(self.browser, "why nothing is deleted", script, why).await
    }

    /// Waits until the task's picture is loaded from an address that begins like this.
    async fn has_picture(&self, start: &str) -> Result<()> {
        let script = "
            return [...document.querySelectorAll('article img')]
                .filter(image => image.naturalWidth > 0).map(image => image.currentSrc)";
        until(format!("a picture from {start}…"), TIMEOUT, async || {
            let sources = self.browser.run(script, vec![]).await?;
            let mut all = sources.as_array().into_iter().flatten();
            let is_so = all.any(|source| source.as_str().is_some_and(|url| url.starts_with(start)));
            Ok(if is_so {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("there are {sources}"))
            })
        })
        .await
    }

    fn times_asked(&self) -> usize {
        let asks = |path| self.proxy.calls_to(path).len();
        asks("/v2/response") + asks("/v2/response-batch")
    }

    fn files_asked_for(&self) -> usize {
        let calls = self.proxy.calls();
        let files = calls
            .iter()
            .filter(|call| call.path.starts_with("/outputs/"));
        files.count()
    }

    /// How often this tab has fetched a file to keep it; its pictures are not counted.
    async fn times_fetched(&self) -> Result<u64> {
        let script = "
            return performance.getEntriesByType('resource')
                .filter(entry => entry.initiatorType === 'fetch')
                .filter(entry => new URL(entry.name).pathname.startsWith('/outputs/')).length";
        let count = self.browser.run(script, vec![]).await?;
        count.as_u64().ok_or_else(|| "not a number".into())
    }
}

/// Guards against a heart that keeps nothing, that the other tabs do not see, and against copies of favorites
/// that go with all others.
#[tokio::test(flavor = "multi_thread")]
async fn a_favorite_is_kept_whatever_the_settings_say() {
    let name = "a_favorite_is_kept";
    play(name, async |studio| {
        let browser = studio.browser;
        studio.generate().await?;
        let first = browser.client.window().await?;
        let address = format!("{}/tasks", studio.proxy.address());
        let second = browser.open_tab(&address).await?;
        browser.press(&by("link", PROMPT)).await?;
        // In the tab that does not lead.
        let heart = by("button", "Favorite");
        browser.press(&heart).await?;
        browser.switch_to(&first).await?;
        studio.sees_pressed("true").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        // Keep outputs was not ticked; and nothing would be deleted.
        studio
            .sees("Copies of favorites are kept even while Keep outputs is off.")
            .await?;
        studio
            .cannot_delete("Only favorites are kept, and they stay.")
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

        studio.files_die().await?;
        studio.open("/tasks").await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.show_listed().await?;
        studio.has_picture("blob:").await?;
        // Let go, it is one like all others.
        browser.press(&heart).await?;
        studio.sees_pressed("false").await?;
        studio.open("/tasks?favorites=yes").await?;
        studio.sees("No task matches.").await
    })
    .await;
}

/// Guards against an output that is never kept because the page was closed as its task finished, and
/// against copies that were deleted and come back.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_closed_page_has_not_copied_is_copied_by_the_next() {
    let name = "what_a_closed_page_has_not_copied";
    play(name, async |studio| {
        let browser = studio.browser;
        studio.keep_outputs().await?;
        studio.proxy.add(Rule::every("/outputs/*", Fault::Hold));
        studio.open("/models/image/tessera").await?;
        let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
        browser.fill(&prompt, PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        let again = by("button", "Run again");
        browser.find_for(&again, TIMEOUT).await?;
        studio.open("/settings").await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.proxy.clear();
        studio.open("/settings").await?;
        studio.sees("Kept now: 1 copy, ").await?;

        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.cannot_delete("Nothing is kept.").await?;
        // Guards against a press that is answered by nothing: a finger sees no titles.
        browser.press(&by("button", "Delete kept outputs")).await?;
        studio.sees("Nothing is kept.").await?;
        let fetched = studio.files_asked_for();
        studio.open("/settings").await?;
        browser.find(&by("button", "Save")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        assert_eq!(studio.files_asked_for(), fetched);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_output_is_shown_before_anybody_is_asked() {
    let name = "a_kept_output_is_shown";
    play(name, async |studio| {
        let browser = studio.browser;
        studio.keep_outputs().await?;
        studio.generate().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        assert_eq!(studio.times_asked(), 1);

        studio.files_die().await?;
        // As on another day.
        studio.open("/tasks").await?;
        studio.has_picture("blob:").await?;
        assert_eq!(studio.times_asked(), 1, "a list asks for nothing");

        // Guards against a wait for a service that is not needed, and that is not there without network.
        let files = studio.files_asked_for();
        studio.show_task().await?;
        studio.has_picture("blob:").await?;
        assert_eq!(studio.files_asked_for(), files, "what is kept is there");
        browser.press(&by("button", "Download")).await?;
        let files = browser.downloaded(1, ".png").await?;
        assert!(std::fs::read(&files[0])?.starts_with(b"\x89PNG"));

        // Removed, it leaves nothing behind.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        assert_eq!(studio.times_asked(), 1, "nothing was to be asked");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_output_without_a_copy_is_said_to_be_gone() {
    let name = "a_dead_output_without_a_copy";
    play(name, async |studio| {
        let browser = studio.browser;
        studio.generate().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        studio.files_die().await?;
        studio.open("/tasks").await?;
        studio.show_task().await?;
        studio.sees(DEAD).await?;
        studio.sees("Keep outputs, in Settings,").await?;
        assert_eq!(studio.times_asked(), 2);

        // A copy that is deleted is one that was not kept.
        studio.proxy.clear();
        studio.keep_outputs().await?;
        studio.show_task().await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        studio.sees("Kept now: 0 copies, 0 kB").await?;
        // Until no earlier output is left to copy: while its file is there, its copy could be made once more.
        let left = "return localStorage.getItem('atelier.copies.earlier')";
        becomes(browser, "what is still to be copied", left, Value::Null).await?;
        studio.files_die().await?;
        studio.open("/tasks").await?;
        studio.show_task().await?;
        studio.sees(DEAD).await?;
        Ok(())
    })
    .await;
}

/// Guards against a copy made by each tab, and against a file that is asked for again and again.
#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_keep_one_copy_and_ask_for_a_file_once() {
    let name = "two_tabs_keep_one_copy";
    play(name, async |studio| {
        let browser = studio.browser;
        // Small pictures fetch what is in the browser's cache: without a place to keep them there are none.
        let without_small = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, ...rest) {
                if (name === 'atelier-thumbnails') throw new DOMException('refused', 'SecurityError');
                return open.call(this, name, ...rest);
            };";
        studio.proxy.before_each_page(browser, without_small).await?;
        studio.generate().await?;
        let first = browser.client.window().await?;
        let settings = format!("{}/settings", studio.proxy.address());
        browser.open_tab(&settings).await?;
        studio.proxy.before_each_page(browser, without_small).await?;
        studio.open("/settings").await?;
        // Set in a tab that follows: the one that leads hears of it.
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        studio.sees("Saved.").await?;
        studio.show_task().await?;
        studio.has_picture("").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        studio.show_task().await?;
        studio.has_picture("blob:").await?;
        assert_eq!(studio.times_fetched().await?, 0, "a follower keeps nothing");
        browser.switch_to(&first).await?;
        studio.show_task().await?;
        studio.has_picture("blob:").await?;
        browser.press(&by("link", "Settings")).await?;
        studio.sees("Kept now: 1 copy, ").await?;
        assert_eq!(studio.times_fetched().await?, 1);
        Ok(())
    })
    .await;
}
