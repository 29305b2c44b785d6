//! Storage that can't store the table: the page warns, and nothing is lost while it is open.

use super::{
    STORAGE_TIMEOUT, STORAGE_WARNING, paste, refuse_table_writes, wait_for_no_text,
    wait_for_stored_rows, wait_for_table_rows,
};
use crate::studio::{BATCH, Studio, TIMEOUT, numbered_prompts, run_steps, run_steps_after};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use serde_json::json;

/// Guards against a page that is blocked, or does not warn, because storage never responds.
#[tokio::test(flavor = "multi_thread")]
async fn rows_stay_in_memory_while_storage_never_responds() {
    let name = "rows_stay_in_memory_while_storage_never_responds";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let block_database = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, version) {
                const request = open.call(this, name, version);
                if (name === 'atelier-drafts')
                    for (const kind of ['success', 'error', 'upgradeneeded'])
                        request.addEventListener(kind, event => event.stopImmediatePropagation());
                return request;
            }";
        studio
            .proxy
            .before_each_page(browser, block_database)
            .await?;
        studio.reload().await?;
        let rows = numbered_prompts("in memory", 2);
        paste(studio, &rows).await?;
        browser
            .wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT)
            .await?;
        browser
            .wait_for_text("does not respond", STORAGE_TIMEOUT)
            .await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.client.back().await?;
        studio.wait_until_open().await?;
        wait_for_table_rows(studio, &rows).await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await
    })
    .await;
}

/// Guards against a page that does not warn when the browser's quota is exceeded.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_warns_about_full_storage_and_stores_rows_once_it_has_space() {
    let name = "the_page_warns_about_full_storage_and_stores_rows_once_it_has_space";
    // The quota is set before the page writes anything, since Chromium caches the free space for 30 seconds after a write.
    let fill = async |studio: &Studio<'_>| {
        studio.browser.needs(Capability::Quota)?;
        set_quota(studio, Some(1_000)).await
    };
    run_steps_after(name, &["--speed", "0"], fill, async |studio| {
        let rows = numbered_prompts(&"many words ".repeat(200), 12);
        paste(studio, &rows).await?;
        studio
            .browser
            .wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT)
            .await?;
        set_quota(studio, None).await?;
        // The page retries without the user.
        wait_for_no_text(studio, STORAGE_WARNING).await?;
        studio.reload().await?;
        wait_for_table_rows(studio, &rows).await
    })
    .await;
}

/// Sets the browser's storage quota for the page in bytes, or removes the limit.
async fn set_quota(studio: &Studio<'_>, bytes: Option<u32>) -> Result<()> {
    let mut params = json!({ "origin": studio.proxy.address() });
    if let Some(bytes) = bytes {
        params["quotaSize"] = json!(bytes);
    }
    let method = "Storage.overrideQuotaForOrigin";
    studio.browser.devtools(method, params).await?;
    Ok(())
}

/// A script that returns whether a button to put rows back has been visible since [`record_offers`] was called.
const WAS_OFFERED: &str = "return window.wasOffered";

/// Starts to record whether a button to put rows back is visible.
async fn record_offers(studio: &Studio<'_>) -> Result<()> {
    let script = "
        window.wasOffered = false;
        const look = () => {
            const buttons = [...document.querySelectorAll('.run-controls button')];
            const isOffer = it => it.textContent.includes('taken back') && it.checkVisibility();
            window.wasOffered ||= buttons.some(isOffer);
            requestAnimationFrame(look);
        };
        look()";
    studio.browser.run(script, vec![]).await?;
    Ok(())
}

/// Guards against a batch that still counts rows as taken back when they are in the table again, while the browser stores
/// nothing.
#[tokio::test(flavor = "multi_thread")]
async fn rows_stopped_in_private_mode_are_not_part_of_the_batch() {
    let name = "rows_stopped_in_private_mode_are_not_part_of_the_batch";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let refusal = "
            IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') };
            const setItem = Storage.prototype.setItem;
            Storage.prototype.setItem = function (key, ...value) {
                if (key.startsWith('atelier.table')) throw new DOMException('', 'QuotaExceededError');
                return setItem.call(this, key, ...value);
            }";
        studio.proxy.before_each_page(browser, refusal).await?;
        studio.reload().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("in memory", 22);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        record_offers(studio).await?;
        studio.press_both("Stop sending", "Move back to table").await?;
        wait_for_table_rows(studio, &prompts[10..]).await?;
        studio.wait_for_counts("10 in progress").await?;
        assert_eq!(browser.run(WAS_OFFERED, vec![]).await?, false);
        studio.proxy.clear();
        studio.wait_for_counts("10 completed").await?;
        browser.wait_for_text("10 rows sent", TIMEOUT).await
    })
    .await;
}

/// Guards against rows that are put back twice after Stop sending: the table could not be stored with them, so their records
/// were not deleted and were offered again.
#[tokio::test(flavor = "multi_thread")]
async fn rows_stopped_while_storage_refuses_writes_are_put_back_once() {
    let name = "rows_stopped_while_storage_refuses_writes_are_put_back_once";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("refused", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        refuse_table_writes(studio, true).await?;
        record_offers(studio).await?;
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        wait_for_table_rows(studio, &prompts[10..]).await?;
        // The records of these tasks are deleted, since the rows are in localStorage.
        studio.wait_for_counts("10 in progress").await?;
        assert_eq!(browser.run(WAS_OFFERED, vec![]).await?, false);
        browser
            .wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT)
            .await?;
        let put_back = by("button", "Put the 15 taken back into the table");
        browser.wait_until_gone(&put_back).await?;
        refuse_table_writes(studio, false).await?;
        wait_for_stored_rows(studio, 15).await?;
        wait_for_no_text(studio, STORAGE_WARNING).await?;
        studio.proxy.clear();
        studio.wait_for_counts("10 completed").await?;
        studio.reload().await?;
        studio.wait_for_counts("10 completed").await?;
        wait_for_table_rows(studio, &prompts[10..]).await?;
        browser.wait_until_gone(&put_back).await
    })
    .await;
}
