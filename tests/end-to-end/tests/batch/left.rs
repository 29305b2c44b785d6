//! Rows that an older Atelier has left, or a page that is gone: sent once, by the tab that finds them.

use crate::studio::{BATCH, TIMEOUT, numbered, visit};
use crate::tabs::{open_deaf_tab_that_presses, send_once_in_both};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

/// Guards against rows that are paid twice: an older Atelier had left them without what tells them apart, and each tab
/// made that up for itself.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_an_older_atelier_left_are_sent_once_by_two_tabs() {
    let name = "rows_that_an_older_atelier_left";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered("left", 3);
        let rows: Vec<_> = prompts
            .iter()
            .map(|text| json!({ "entries": { "prompt": { "text": text } } }))
            .collect();
        let table = json!({"rows": rows, "added": []}).to_string();
        let place = "atelier.table.image/tessera";
        let leave = "localStorage.setItem(...arguments)";
        browser.run(leave, vec![place.into(), table.into()]).await?;
        studio.reload().await?;
        browser.find(&by("button", "Generate 3")).await?;
        let first = browser.client.window().await?;
        open_deaf_tab_that_presses(studio, 3).await?;
        send_once_in_both(studio, &first, &prompts).await
    })
    .await;
}

/// Guards against rows that are paid twice, and said not to have been sent: a person had sent them though nothing could
/// be kept, and the browser crashed.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_were_sent_without_being_kept_are_not_sent_again() {
    let name = "rows_that_were_sent_without_being_kept";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered("unkept", 3);
        studio.write(&prompts).await?;
        let fill = "IDBObjectStore.prototype.put = () => {
            throw new DOMException('it is full', 'QuotaExceededError');
        }";
        browser.run(fill, vec![]).await?;
        browser.press(&by("button", "Generate 3")).await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        browser
            .press(&by("button", "Send anyway").within(&question))
            .await?;
        studio.sees_calls(1).await?;
        // Nothing is done as it ends.
        let crash = "Storage.prototype.setItem = () => { throw new Error('it has crashed') }";
        browser.run(crash, vec![]).await?;
        studio.reload().await?;
        until("what was left is settled", TIMEOUT, async || {
            let left = "return localStorage.getItem('atelier.sending')";
            Ok(match browser.run(left, vec![]).await? {
                Value::Null => Seen::Yes(()),
                left => Seen::NotYet(left.to_string()),
            })
        })
        .await?;
        browser
            .see_text("All rows are in a batch.", TIMEOUT)
            .await?;
        browser.find_gone(&by("button", "Generate 3")).await?;
        assert_eq!(studio.prompts_sent(), prompts);
        assert_eq!(studio.proxy.calls_to(BATCH).len(), 1);
        Ok(())
    })
    .await;
}
