//! A table with the maximum number of rows.

use super::{paste, wait_for_stored_rows};
use crate::studio::{numbered_prompts, run_steps};
use atelier_end_to_end::find::by;
use serde_json::json;

/// Guards against a table that is too large to be stored. `./dev bench` measures the time per key press.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_rows_are_stored_after_a_change() {
    let name = "ten_thousand_rows_are_stored_after_a_change";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        // The rows are written to storage, since typing them would take minutes.
        paste(studio, &numbered_prompts("row", 1)).await?;
        wait_for_stored_rows(studio, 1).await?;
        let script = "
            const [count] = arguments;
            const ask = request => new Promise((resolve, reject) => {
                request.onsuccess = () => resolve(request.result);
                request.onerror = () => reject(request.error);
            });
            return (async () => {
                const database = await ask(indexedDB.open('atelier-drafts'));
                const transaction = database.transaction('tables', 'readwrite');
                const store = transaction.objectStore('tables');
                const [revision, ...rest] = await ask(store.get('image/tessera'));
                const table = JSON.parse(rest.pop());
                const [row] = table.rows;
                table.rows = Array.from({ length: count }, (_, n) => ({ entries: {
                    prompt: { text: `${row.entries.prompt.text} and what else is to be seen, ${n}` },
                    panes: { text: '40' }, seed: { value: n } } }));
                const record = [revision + 1, ...rest, JSON.stringify(table)];
                store.put(record, 'image/tessera');
                await new Promise(done => { transaction.oncomplete = done; });
                database.close();
            })()";
        browser.run(script, vec![json!(10_000)]).await?;
        studio.reload().await?;
        assert_eq!(studio.row_count().await?, 10_000);
        let cell = browser.find(&by("textbox", "prompt, row 2")).await?;
        let script = "
            arguments[0].focus();
            for (let n = 0; n < 7; n += 1) document.execCommand('insertText', false, 'x');";
        browser.run(script, vec![browser.argument(&cell)]).await?;
        let value = cell.prop("value").await?.unwrap_or_default();
        assert!(value.ends_with("xxxxxxx"), "it is “{value}”");
        studio.reload().await?;
        assert_eq!(studio.row_count().await?, 10_000);
        let cell = browser.find(&by("textbox", "prompt, row 2")).await?;
        assert_eq!(cell.prop("value").await?, Some(value));
        Ok(())
    })
    .await;
}
