//! Rows that an older version or a closed page has stored are sent only once.

use crate::studio::{BATCH, TIMEOUT, numbered_prompts, run_steps};
use crate::tabs::{open_cut_off_tab_that_presses, send_once_in_both};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

/// Guards against paying for rows twice: an older version had stored them without keys, and each tab created its own
/// keys for them.
#[tokio::test(flavor = "multi_thread")]
async fn rows_stored_by_an_older_version_are_sent_once_by_two_tabs() {
    let name = "rows_stored_by_an_older_version_are_sent_once_by_two_tabs";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("left", 3);
        let rows: Vec<_> = prompts
            .iter()
            .map(|text| json!({ "entries": { "prompt": { "text": text } } }))
            .collect();
        let table = json!({"rows": rows, "added": []}).to_string();
        let key = "atelier.table.image/tessera";
        let store = "localStorage.setItem(...arguments)";
        browser.run(store, vec![key.into(), table.into()]).await?;
        studio.reload().await?;
        browser.find(&by("button", "Generate 3")).await?;
        let first = browser.client.window().await?;
        open_cut_off_tab_that_presses(studio, 3).await?;
        send_once_in_both(studio, &first, &prompts).await
    })
    .await;
}

/// Guards against paying for rows twice: the user sent them while storage did not work, and the browser crashed.
/// Afterwards, the page showed them as not sent.
#[tokio::test(flavor = "multi_thread")]
async fn rows_sent_without_storage_are_not_sent_again_after_a_crash() {
    let name = "rows_sent_without_storage_are_not_sent_again_after_a_crash";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("unkept", 3);
        studio.type_prompts(&prompts).await?;
        let fill = "IDBObjectStore.prototype.put = () => {
            throw new DOMException('it is full', 'QuotaExceededError');
        }";
        browser.run(fill, vec![]).await?;
        browser.press(&by("button", "Generate 3")).await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        browser
            .press(&by("button", "Send anyway").within(&question))
            .await?;
        studio.wait_for_generate_calls(1).await?;
        // The page can't store anything when it is closed, as after a crash.
        let crash = "Storage.prototype.setItem = () => { throw new Error('it has crashed') }";
        browser.run(crash, vec![]).await?;
        studio.reload().await?;
        until("no batch to be marked as being sent", TIMEOUT, async || {
            let script = "return localStorage.getItem('atelier.sending')";
            Ok(match browser.run(script, vec![]).await? {
                Value::Null => Seen::Yes(()),
                sending => Seen::NotYet(sending.to_string()),
            })
        })
        .await?;
        browser
            .wait_for_text("All rows are in a batch.", TIMEOUT)
            .await?;
        browser.wait_until_gone(&by("button", "Generate 3")).await?;
        assert_eq!(studio.sent_prompts(), prompts);
        assert_eq!(studio.proxy.calls_to(BATCH).len(), 1);
        Ok(())
    })
    .await;
}
