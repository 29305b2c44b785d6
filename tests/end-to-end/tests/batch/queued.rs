//! Rows of a batch that are still queued: the page does not show them as sent.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;

const SENT_CONTINUES: &str = "Tasks already sent keep running.";

/// Returns whether the page shows this text.
async fn shows_text(studio: &Studio<'_>, text: &str) -> Result<bool> {
    let shown = studio.browser.run("return document.body.innerText", vec![]);
    Ok(shown.await?.as_str().unwrap_or_default().contains(text))
}

/// Guards against `12 rows sent` above a paused batch that still contains some of them, and against `What was sent goes on`
/// when all sent items have ended.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_paused_batch_are_not_shown_as_sent() {
    let name = "rows_of_a_paused_batch_are_not_shown_as_sent";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.send(&numbered_prompts("paused", 12)).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .wait_for_text(
                "Paused: 2 items not sent yet. Tasks already sent keep running.",
                TIMEOUT,
            )
            .await?;
        browser.wait_for_text("12 rows in a batch", TIMEOUT).await?;
        studio.proxy.clear();
        studio.wait_for_counts("10 completed, 2 queued").await?;
        browser.wait_for_text("12 rows in a batch", TIMEOUT).await?;
        assert!(!shows_text(studio, SENT_CONTINUES).await?);
        studio.press("Stop sending").await?;
        let dialog = browser.find(&by("dialog", "Stop sending")).await?;
        let question = dialog.text().await?;
        assert!(question.contains("the 2 items"), "{question}");
        assert!(!question.contains(SENT_CONTINUES), "{question}");
        studio.press("Keep").await?;
        studio.press("Resume").await?;
        studio.wait_for_counts("12 completed").await?;
        browser.wait_for_text("12 rows sent", TIMEOUT).await
    })
    .await;
}

/// Guards against `12 rows sent` before storage has returned which rows are queued.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_not_shown_as_sent_before_their_tasks_are_read() {
    let name = "rows_are_not_shown_as_sent_before_their_tasks_are_read";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let block_database = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, version) {
                const request = open.call(this, name, version);
                if (name === 'atelier' && sessionStorage.isSilent)
                    for (const kind of ['success', 'error', 'upgradeneeded'])
                        request.addEventListener(kind, event => event.stopImmediatePropagation());
                return request;
            }";
        studio
            .proxy
            .before_each_page(browser, block_database)
            .await?;
        studio.reload().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.send(&numbered_prompts("unread", 12)).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Pause").await?;
        browser.wait_for_text("12 rows in a batch", TIMEOUT).await?;
        browser
            .run("sessionStorage.isSilent = 'yes'", vec![])
            .await?;
        studio.reload().await?;
        browser.wait_for_text("12 rows in a batch", TIMEOUT).await
    })
    .await;
}
