//! Rows in a batch of which nothing was handed to the service yet: the page doesn't say that they were sent.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;

const GOES_ON: &str = "What was sent goes on.";

async fn shows(studio: &Studio<'_>, text: &str) -> Result<bool> {
    let shown = studio.browser.run("return document.body.innerText", vec![]);
    Ok(shown.await?.as_str().unwrap_or_default().contains(text))
}

/// Guards against `12 rows sent` above a batch that is paused with some of them, and against `What was sent goes on`
/// once all that was sent has ended.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_paused_batch_are_not_said_to_be_sent() {
    let name = "rows_of_a_paused_batch";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.send(&numbered("paused", 12)).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .see_text(
                "Paused: 2 items not sent yet. What was sent goes on.",
                TIMEOUT,
            )
            .await?;
        browser.see_text("12 rows in a batch", TIMEOUT).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 2 queued").await?;
        browser.see_text("12 rows in a batch", TIMEOUT).await?;
        assert!(!shows(studio, GOES_ON).await?);
        studio.press("Stop sending").await?;
        let dialog = browser.find(&by("dialog", "Stop sending")).await?;
        let question = dialog.text().await?;
        assert!(question.contains("the 2 items"), "{question}");
        assert!(!question.contains(GOES_ON), "{question}");
        studio.press("Keep").await?;
        studio.press("Resume").await?;
        studio.see_counts("12 completed").await?;
        browser.see_text("12 rows sent", TIMEOUT).await
    })
    .await;
}

/// Guards against `12 rows sent` for as long as storage does not say which of them are queued.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_not_said_to_be_sent_before_their_tasks_are_read() {
    let name = "rows_before_their_tasks_are_read";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let silence = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, version) {
                const request = open.call(this, name, version);
                if (name === 'atelier' && sessionStorage.isSilent)
                    for (const kind of ['success', 'error', 'upgradeneeded'])
                        request.addEventListener(kind, event => event.stopImmediatePropagation());
                return request;
            }";
        studio.proxy.before_each_page(browser, silence).await?;
        studio.reload().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.send(&numbered("unread", 12)).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        browser.see_text("12 rows in a batch", TIMEOUT).await?;
        browser
            .run("sessionStorage.isSilent = 'yes'", vec![])
            .await?;
        studio.reload().await?;
        browser.see_text("12 rows in a batch", TIMEOUT).await
    })
    .await;
}
