//! A table of as many rows as one may have.

use super::{is_stored, paste};
use crate::studio::{numbered, visit};
use atelier_end_to_end::find::by;
use serde_json::json;

/// Guards against a write of thousands of rows that holds up whoever types.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_rows_are_kept_without_holding_up_who_types() {
    let name = "ten_thousand_rows_are_kept";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        // Typed, so many would take the browser minutes.
        paste(studio, &numbered("row", 1)).await?;
        is_stored(studio, 1).await?;
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
        // The lines of the prompts are laid out anew with each change, by the browser: not what is
        // looked at here.
        studio.choose("Sweep").await?;
        let cell = browser.find(&by("textbox", "prompt, row 2")).await?;
        // The longest that the page is held up in a while: with nothing to do, and after a key press,
        // when the table is written once. The second least of seven: what holds the page up does so
        // each time, while a busy machine halts everything now and then.
        let script = "
            const [field] = arguments;
            field.focus();
            // One for all turns: what is collected of a channel for each holds the page up for 50 ms.
            const { port1, port2 } = new MessageChannel();
            const turn = () => new Promise(done => {
                port1.onmessage = done;
                port2.postMessage(0);
            });
            const longest = async ms => {
                let most = 0;
                const begin = performance.now();
                for (let last = begin; last < begin + ms;) {
                    await turn();
                    const now = performance.now();
                    most = Math.max(most, now - last);
                    last = now;
                }
                return most;
            };
            const least = times => Math.round(times.sort((a, b) => a - b)[1] * 10) / 10;
            return (async () => {
                const [nothing, presses, writing] = [[], [], []];
                for (let n = 0; n < 7; n += 1) {
                    nothing.push(await longest(1200));
                    const begin = performance.now();
                    document.execCommand('insertText', false, 'x');
                    await turn();
                    presses.push(performance.now() - begin);
                    writing.push(await longest(1200));
                }
                return [nothing, presses, writing].map(least);
            })()";
        let times = browser.run(script, vec![browser.argument(&cell)]).await?;
        eprintln!("10,000 rows: with nothing to do, a key press, writing, in ms: {times}");
        let time = |at: usize| times[at].as_f64().unwrap_or(f64::MAX);
        // A frame is 16.7 ms. What the press itself takes, on whatever machine, is not the writing's, nor is
        // what else the machine is busy with.
        let (nothing, press, writing) = (time(0), time(1), time(2));
        assert!(writing < 16.7 + press + nothing, "held up for {writing} ms");
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
