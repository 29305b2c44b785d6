//! The history of a browser as a file, taken in by another one.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use std::path::Path;
use std::time::Duration;

/// Enough for a generation, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at dusk";

async fn open(browser: &Browser, proxy: &FaultProxy, path: &str) -> Result<()> {
    browser.open(&format!("{}{path}", proxy.address())).await
}

async fn import(browser: &Browser, file: &Path) -> Result<()> {
    let input = starting("button", "Import history");
    browser.choose_file(&input, file).await
}

/// Guards against a history that can't leave the browser it was made in, against one that comes in twice,
/// and against any call that costs money on the way.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_moves_to_another_browser_once() {
    let name = "a_history_moves_to_another_browser_once";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        open(browser, &proxy, "/settings").await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        browser.see_text("Saved.", TIMEOUT).await?;
        open(browser, &proxy, "/models/image/tessera").await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        open(browser, &proxy, "/settings").await?;
        browser.see_text("1 output, ", TIMEOUT).await?;
        browser.press(&by("checkbox", "With kept outputs")).await?;
        browser.press(&by("button", "Export history")).await?;
        let file = browser.downloaded(1, ".zip").await?.remove(0);

        // Another browser, for all that the page can tell; and the service's files are gone. No page is
        // open meanwhile: it would write its tasks anew, as it should.
        open(browser, &proxy, "/healthz").await?;
        proxy.clear_site(browser).await?;
        proxy.clear_cache(browser).await?;
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        proxy.add(Rule::every("/outputs/*", gone));
        let sent = proxy.calls_to("/v2/generate").len();
        open(browser, &proxy, "/settings").await?;
        import(browser, &file).await?;
        let said = "1 task imported. 1 output is kept.";
        browser.see_text(said, TIMEOUT).await?;
        import(browser, &file).await?;
        let said = "Nothing new: 1 task is there already.";
        browser.see_text(said, TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        // There is one.
        browser.press(&containing("link", PROMPT)).await?;
        browser.find(&containing("article", PROMPT)).await?;
        let copy = "
            return [...document.querySelectorAll('article img')]
                .some(it => it.naturalWidth > 0 && it.currentSrc.startsWith('blob:'))";
        becomes(browser, "the copy", copy, true).await?;
        // Removed just now, it is there no more: what is imported comes back.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.press(&by("link", "Settings")).await?;
        import(browser, &file).await?;
        browser.see_text("1 task imported.", TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", PROMPT)).await?;
        assert_eq!(proxy.calls_to("/v2/generate").len(), sent);

        // A file that is cut short, and one that is something else.
        let bytes = std::fs::read(&file)?;
        let half = file.with_file_name("half.zip");
        std::fs::write(&half, &bytes[..bytes.len() / 2])?;
        browser.press(&by("link", "Settings")).await?;
        import(browser, &half).await?;
        browser
            .see_text("This file is damaged or isn't a ZIP.", TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}
