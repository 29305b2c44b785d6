//! The table is kept, and is the same in all tabs.

mod refusal;
mod size;
mod tabs;

use crate::studio::{Studio, TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

/// Where a version of before kept it.
const BEFORE: &str = "localStorage.getItem('atelier.table.image/tessera')";

/// Longer than storage is waited for.
const AWHILE: Duration = Duration::from_secs(60);

const UNKEPT: &str = "These rows are not being kept";

async fn sees_rows(studio: &Studio<'_>, wanted: &[String]) -> Result<()> {
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

async fn sees_no_text(studio: &Studio<'_>, text: &str) -> Result<()> {
    until(format!("no more “{text}”"), TIMEOUT, async || {
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

/// Puts prompts into the form in one go: emptied first, the field could be filled by another tab
/// before it is written into.
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

/// Waits until the table that is stored has so many rows.
async fn is_stored(studio: &Studio<'_>, count: usize) -> Result<()> {
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

/// Lets this tab store no table from now on, nor learn what others have stored meanwhile, or again.
async fn refuse(studio: &Studio<'_>, refuses: bool) -> Result<()> {
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

/// Guards against a write that comes too late, and against one that comes again from a page that
/// was left.
#[tokio::test(flavor = "multi_thread")]
async fn rows_typed_right_before_a_reload_are_there_after_it() {
    let name = "rows_typed_right_before_a_reload";
    visit(name, &["--speed", "0"], async |studio| {
        let prompts = numbered("hurried", 60);
        paste(studio, &prompts[..3]).await?;
        is_stored(studio, 3).await?;
        let script = "
            const [text] = arguments;
            const field = document.querySelector('#prompts');
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            location.reload();";
        for count in [5, 60] {
            let text = json!(prompts[..count].join("\n"));
            studio.browser.run(script, vec![text]).await?;
            until("the page anew", TIMEOUT, async || {
                studio.is_open().await?;
                Ok(match studio.row_count().await? {
                    rows if rows == count => Seen::Yes(()),
                    rows => Seen::NotYet(format!("there are {rows} rows")),
                })
            })
            .await?;
            is_stored(studio, count).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a table of today's version being lost by the move, or coming back after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_a_version_of_before_has_left_is_taken_over_once() {
    let name = "a_table_that_a_version_of_before_has_left";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leave = |prompts: &[String]| {
            let rows: Vec<Value> = prompts
                .iter()
                .map(|prompt| json!({ "entries": { "prompt": { "text": prompt } } }))
                .collect();
            json!(json!({ "rows": rows, "added": [] }).to_string())
        };
        let write = "localStorage.setItem('atelier.table.image/tessera', arguments[0])";
        let left = || async { browser.run(&format!("return {BEFORE}"), vec![]).await };

        // Nothing is deleted there before it is stored here.
        let refusal = "
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...record) {
                if (this.name === 'tables' && !window.allowed) throw new DOMException('', 'DataError');
                return put.apply(this, record);
            }";
        studio.proxy.before_each_page(browser, refusal).await?;
        let old = numbered("old", 3);
        browser.run(write, vec![leave(&old)]).await?;
        studio.reload().await?;
        sees_rows(studio, &old).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        assert_eq!(left().await?, leave(&old));
        browser.run("window.allowed = true", vec![]).await?;
        is_stored(studio, 3).await?;
        sees_no_text(studio, UNKEPT).await?;
        until("the old place to be empty", TIMEOUT, async || {
            Ok(match left().await? {
                Value::Null => Seen::Yes(()),
                left => Seen::NotYet(left.to_string()),
            })
        })
        .await?;
        studio.reload().await?;
        sees_rows(studio, &old).await?;

        // A tab with that version was still open, and has written once more.
        browser.run("window.allowed = true", vec![]).await?;
        let late = numbered("late", 2);
        browser.run(write, vec![leave(&late)]).await?;
        studio.reload().await?;
        browser.run("window.allowed = true", vec![]).await?;
        browser
            .see_text("An earlier version of Atelier has stored other rows", AWHILE)
            .await?;
        sees_rows(studio, &old).await?;
        studio.press("Show them instead").await?;
        sees_rows(studio, &late).await?;
        is_stored(studio, 2).await?;
        studio.press("Let them go").await?;
        until("the old place to be empty", TIMEOUT, async || {
            Ok(match left().await? {
                Value::Null => Seen::Yes(()),
                left => Seen::NotYet(left.to_string()),
            })
        })
        .await
    })
    .await;
}

/// Guards against rows that are lost with the next reload after a person has cleared the site's data,
/// though they still stand on the page.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_cleared_from_storage_are_written_again() {
    let name = "rows_that_are_cleared_from_storage";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let rows = numbered("cleared", 300);
        paste(studio, &rows).await?;
        is_stored(studio, 300).await?;
        browser.clear_databases(&studio.proxy.address()).await?;
        // Looked at before it is there again, the database would be made by who looks.
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
        is_stored(studio, 300).await?;
        sees_no_text(studio, UNKEPT).await?;
        studio.reload().await?;
        assert_eq!(studio.row_count().await?, 300);
        Ok(())
    })
    .await;
}
