//! Storage that can't keep the table: this is said, and nothing is lost while the page is open.

use super::{AWHILE, UNKEPT, is_stored, paste, refuse, sees_no_text, sees_rows};
use crate::studio::{BATCH, Studio, TIMEOUT, numbered, visit, visit_after};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use serde_json::json;

/// Guards against storage without any answer, which must hold up nothing, and of which a person must
/// know.
#[tokio::test(flavor = "multi_thread")]
async fn where_storage_never_answers_rows_last_as_long_as_the_visit() {
    let name = "where_storage_never_answers";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let silence = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, version) {
                const request = open.call(this, name, version);
                if (name === 'atelier-drafts')
                    for (const kind of ['success', 'error', 'upgradeneeded'])
                        request.addEventListener(kind, event => event.stopImmediatePropagation());
                return request;
            }";
        studio.proxy.before_each_page(browser, silence).await?;
        studio.reload().await?;
        let rows = numbered("in memory", 2);
        paste(studio, &rows).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        browser.see_text("does not answer", AWHILE).await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.client.back().await?;
        studio.is_open().await?;
        sees_rows(studio, &rows).await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await
    })
    .await;
}

/// Guards against a full disk of which nothing is said, with the browser's own quota.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_storage_is_said_so_and_rows_are_kept_once_there_is_room() {
    let name = "a_full_storage_is_said_so";
    // Set before the page writes anything: Chromium remembers for 30 seconds how much room there was at the last write.
    let fill = async |studio: &Studio<'_>| {
        studio.browser.needs(Capability::Quota)?;
        set_quota(studio, Some(1_000)).await
    };
    visit_after(name, &["--speed", "0"], fill, async |studio| {
        let rows = numbered(&"many words ".repeat(200), 12);
        paste(studio, &rows).await?;
        studio.browser.see_text(UNKEPT, AWHILE).await?;
        set_quota(studio, None).await?;
        // By itself.
        sees_no_text(studio, UNKEPT).await?;
        studio.reload().await?;
        sees_rows(studio, &rows).await
    })
    .await;
}

/// Sets how many bytes the browser keeps for the page, or takes that back.
async fn set_quota(studio: &Studio<'_>, bytes: Option<u32>) -> Result<()> {
    let mut params = json!({ "origin": studio.proxy.address() });
    if let Some(bytes) = bytes {
        params["quotaSize"] = json!(bytes);
    }
    let method = "Storage.overrideQuotaForOrigin";
    studio.browser.devtools(method, params).await?;
    Ok(())
}

/// Whether a button to put rows back was in sight since [`notes_offers`].
const WAS_OFFERED: &str = "return window.wasOffered";

async fn notes_offers(studio: &Studio<'_>) -> Result<()> {
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

/// Guards against rows in the table that the batch goes on counting as taken back, where the browser keeps nothing.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_in_private_mode_is_no_part_of_the_batch() {
    let name = "what_is_stopped_in_private_mode";
    visit(name, &["--speed", "0"], async |studio| {
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
        let prompts = numbered("in memory", 22);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        notes_offers(studio).await?;
        studio.press_both("Stop sending", "Take them back").await?;
        sees_rows(studio, &prompts[10..]).await?;
        studio.see_counts("10 in progress").await?;
        assert_eq!(browser.run(WAS_OFFERED, vec![]).await?, false);
        studio.proxy.clear();
        studio.see_counts("10 completed").await?;
        browser.see_text("10 rows sent", TIMEOUT).await
    })
    .await;
}

/// Guards against rows that come back twice after Stop, where the table could not be stored when they
/// were put into it: their records stayed for good, and were offered again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_while_storage_refuses_comes_back_once() {
    let name = "what_is_stopped_while_storage_refuses";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("refused", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        refuse(studio, true).await?;
        notes_offers(studio).await?;
        studio.press_both("Stop sending", "Take them back").await?;
        sees_rows(studio, &prompts[10..]).await?;
        // Their records are deleted: the rows are in localStorage.
        studio.see_counts("10 in progress").await?;
        assert_eq!(browser.run(WAS_OFFERED, vec![]).await?, false);
        browser.see_text(UNKEPT, AWHILE).await?;
        let put_back = by("button", "Put the 15 taken back into the table");
        browser.find_gone(&put_back).await?;
        refuse(studio, false).await?;
        is_stored(studio, 15).await?;
        sees_no_text(studio, UNKEPT).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed").await?;
        studio.reload().await?;
        studio.see_counts("10 completed").await?;
        sees_rows(studio, &prompts[10..]).await?;
        browser.find_gone(&put_back).await
    })
    .await;
}
