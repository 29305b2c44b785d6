//! The table is stored, and all tabs show the same table.

mod refusal;
mod size;
mod tabs;

use crate::studio::{Studio, TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

/// A script expression that reads the table that an earlier version stored.
const OLD_TABLE: &str = "localStorage.getItem('atelier.table.image/tessera')";

/// Longer than the page waits for storage.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(60);

const STORAGE_WARNING: &str = "These rows are not being stored";

/// Waits until the table has exactly these prompts.
async fn wait_for_table_rows(studio: &Studio<'_>, wanted: &[String]) -> Result<()> {
    until(format!("the rows {wanted:?}"), TIMEOUT, async || {
        let rows = studio.rows().await?;
        Ok(if rows == wanted {
            Seen::Yes(())
        } else {
            Seen::NotYet(format!("there are {rows:?}"))
        })
    })
    .await
}

/// Waits until the page no longer shows this text.
async fn wait_for_no_text(studio: &Studio<'_>, text: &str) -> Result<()> {
    until(format!("“{text}” to disappear"), TIMEOUT, async || {
        let shown = studio.browser.run("return document.body.innerText", vec![]);
        let shown = shown.await?.as_str().unwrap_or_default().to_owned();
        Ok(if shown.contains(text) {
            Seen::NotYet(shown)
        } else {
            Seen::Yes(())
        })
    })
    .await
}

/// Replaces the prompts in the form in one step. If the field were cleared first, the other tab could fill it in between.
async fn paste(studio: &Studio<'_>, prompts: &[String]) -> Result<()> {
    let field = studio.browser.find(&by("textbox", "Prompts")).await?;
    let script = "
        const [field, text] = arguments;
        field.focus();
        field.value = text;
        field.dispatchEvent(new Event('input', { bubbles: true }));";
    let arguments = vec![studio.browser.argument(&field), json!(prompts.join("\n"))];
    studio.browser.run(script, arguments).await?;
    Ok(())
}

/// Waits until the stored table has exactly `count` rows.
async fn wait_for_stored_rows(studio: &Studio<'_>, count: usize) -> Result<()> {
    let script = "
        const ask = request => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        return (async () => {
            const database = await ask(indexedDB.open('atelier-drafts'));
            try {
                const store = database.transaction('tables').objectStore('tables');
                const record = await ask(store.get('image/tessera'));
                return record ? JSON.parse(record.at(-1)).rows.length : null;
            } finally {
                database.close();
            }
        })()";
    until(format!("{count} stored rows"), TIMEOUT, async || {
        let stored = studio.browser.run(script, vec![]).await?;
        Ok(if stored == json!(count) {
            Seen::Yes(())
        } else {
            Seen::NotYet(format!("there are {stored}"))
        })
    })
    .await
}

/// Sets whether writes of tables fail in this tab. Then the tab neither stores tables nor notices those of other tabs.
async fn refuse_table_writes(studio: &Studio<'_>, refuses: bool) -> Result<()> {
    let script = "
        const [refuses] = arguments;
        const database = IDBDatabase.prototype;
        database.trueTransaction ??= database.transaction;
        database.transaction = !refuses ? database.trueTransaction : function (stores, mode) {
            if (mode === 'readwrite' && [stores].flat().includes('tables')) {
                throw new DOMException('', 'QuotaExceededError');
            }
            return this.trueTransaction(stores, mode);
        };";
    studio.browser.run(script, vec![json!(refuses)]).await?;
    Ok(())
}

/// Guards against losing a write at a reload, and against a late write of a page that the user has left.
#[tokio::test(flavor = "multi_thread")]
async fn rows_typed_right_before_a_reload_are_there_after_it() {
    let name = "rows_typed_right_before_a_reload_are_there_after_it";
    run_steps(name, &["--speed", "0"], async |studio| {
        let prompts = numbered_prompts("hurried", 60);
        paste(studio, &prompts[..3]).await?;
        wait_for_stored_rows(studio, 3).await?;
        let script = "
            const [text] = arguments;
            const field = document.querySelector('#prompts');
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            location.reload();";
        for count in [5, 60] {
            let text = json!(prompts[..count].join("\n"));
            studio.browser.run(script, vec![text]).await?;
            until("the reloaded page", TIMEOUT, async || {
                studio.wait_until_open().await?;
                Ok(match studio.row_count().await? {
                    rows if rows == count => Seen::Yes(()),
                    rows => Seen::NotYet(format!("there are {rows} rows")),
                })
            })
            .await?;
            wait_for_stored_rows(studio, count).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against losing the current table when an older table is migrated, and against a repeated migration.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_an_earlier_version_is_migrated_once() {
    let name = "a_table_of_an_earlier_version_is_migrated_once";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let old_format = |prompts: &[String]| {
            let rows: Vec<Value> = prompts
                .iter()
                .map(|prompt| json!({ "entries": { "prompt": { "text": prompt } } }))
                .collect();
            json!(json!({ "rows": rows, "added": [] }).to_string())
        };
        let write = "localStorage.setItem('atelier.table.image/tessera', arguments[0])";
        let stored = || async { browser.run(&format!("return {OLD_TABLE}"), vec![]).await };

        // The old table is deleted only after it is stored in the new format.
        let refusal = "
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...record) {
                if (this.name === 'tables' && !window.allowed) throw new DOMException('', 'DataError');
                return put.apply(this, record);
            }";
        studio.proxy.before_each_page(browser, refusal).await?;
        let old = numbered_prompts("old", 3);
        browser.run(write, vec![old_format(&old)]).await?;
        studio.reload().await?;
        wait_for_table_rows(studio, &old).await?;
        browser.wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT).await?;
        assert_eq!(stored().await?, old_format(&old));
        browser.run("window.allowed = true", vec![]).await?;
        wait_for_stored_rows(studio, 3).await?;
        wait_for_no_text(studio, STORAGE_WARNING).await?;
        until("the old table to be deleted", TIMEOUT, async || {
            Ok(match stored().await? {
                Value::Null => Seen::Yes(()),
                table => Seen::NotYet(table.to_string()),
            })
        })
        .await?;
        studio.reload().await?;
        wait_for_table_rows(studio, &old).await?;

        // An open tab with the earlier version writes its table again.
        browser.run("window.allowed = true", vec![]).await?;
        let late = numbered_prompts("late", 2);
        browser.run(write, vec![old_format(&late)]).await?;
        studio.reload().await?;
        browser.run("window.allowed = true", vec![]).await?;
        browser
            .wait_for_text("An earlier version of Atelier has stored other rows", STORAGE_TIMEOUT)
            .await?;
        wait_for_table_rows(studio, &old).await?;
        studio.press("Show them instead").await?;
        wait_for_table_rows(studio, &late).await?;
        wait_for_stored_rows(studio, 2).await?;
        studio.press("Discard them").await?;
        until("the old table to be deleted", TIMEOUT, async || {
            Ok(match stored().await? {
                Value::Null => Seen::Yes(()),
                table => Seen::NotYet(table.to_string()),
            })
        })
        .await
    })
    .await;
}

/// Guards against losing rows at the next reload after the user has cleared the site's data while the page still showed
/// the rows.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_stored_again_after_site_data_is_cleared() {
    let name = "rows_are_stored_again_after_site_data_is_cleared";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let rows = numbered_prompts("cleared", 300);
        paste(studio, &rows).await?;
        wait_for_stored_rows(studio, 300).await?;
        browser.clear_databases(&studio.proxy.address()).await?;
        // Wait until the page has created the database again, since opening it earlier would create it here.
        let script = "
            return indexedDB.databases()
                .then(all => all.some(({ name }) => name === 'atelier-drafts'))";
        until("the database of the tables", TIMEOUT, async || {
            Ok(match browser.run(script, vec![]).await? {
                Value::Bool(true) => Seen::Yes(()),
                other => Seen::NotYet(other.to_string()),
            })
        })
        .await?;
        wait_for_stored_rows(studio, 300).await?;
        wait_for_no_text(studio, STORAGE_WARNING).await?;
        studio.reload().await?;
        assert_eq!(studio.row_count().await?, 300);
        Ok(())
    })
    .await;
}
