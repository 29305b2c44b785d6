//! A thousand items are as light as twenty. How long a key takes among them, `./dev bench` measures.

use crate::studio::{Studio, TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, becomes, until};
use serde_json::json;

/// A thousand may have so many times the nodes of few.
const MORE: usize = 3;

/// Puts a batch of so many items into the browser's storage, as if each had been completed, by
/// repeating what the page itself has stored for one.
pub async fn seed(studio: &mut Studio<'_>, count: usize) -> Result<()> {
    studio.send(&numbered("stored", 1)).await?;
    studio.see_counts("1 completed").await?;
    let script = "
        const [count] = arguments;
        const ask = request => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        return (async () => {
            const database = await ask(indexedDB.open('atelier'));
            const stores = database.transaction(['tasks', 'batches'], 'readwrite');
            const tasks = stores.objectStore('tasks');
            const batches = stores.objectStore('batches');
            const task = JSON.parse((await ask(tasks.getAll()))[0]);
            const batch = JSON.parse((await ask(batches.getAll()))[0]);
            batches.put(JSON.stringify({ ...batch, size: count }), batch.key);
            for (let index = 1; index < count; index += 1) {
                const key = `${task.key}-${index}`;
                const place = { ...task.batch, index };
                tasks.put(JSON.stringify({ ...task, key, batch: place }), key);
            }
            await new Promise(done => { stores.oncomplete = done; });
            database.close();
        })()";
    // What the page has written last is there when its next visit has read it.
    studio.reload().await?;
    studio.see_counts("1 completed").await?;
    studio.browser.run(script, vec![json!(count)]).await?;
    studio.reload().await?;
    studio.see_counts(&format!("{count} completed")).await
}

/// Makes the table have so many rows.
async fn fill(studio: &Studio<'_>, count: usize) -> Result<()> {
    let lines = numbered("row", count).join("\n");
    let field = by("textbox", "Prompts");
    studio.browser.paste(&field, &lines).await?;
    until(format!("{count} rows"), TIMEOUT, async || {
        Ok(match studio.row_count().await? {
            rows if rows == count => Seen::Yes(()),
            rows => Seen::NotYet(format!("there are {rows}")),
        })
    })
    .await
}

fn much_the_same(what: &str, few: usize, many: usize) {
    eprintln!("{what}: {few}, and with a thousand {many}");
    assert!(
        many < MORE * few,
        "{what}: {few}, and with a thousand {many}"
    );
}

/// Guards against a row for each item in the document.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_thousand_rows_is_as_light_as_one_of_a_hundred() {
    let name = "a_table_of_a_thousand_rows";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let form = by("form", "Input");
        fill(studio, 100).await?;
        let nodes_of_few = studio.nodes(&form).await?;
        fill(studio, 1_000).await?;
        let nodes = studio.nodes(&form).await?;
        much_the_same("nodes", nodes_of_few, nodes);

        // The last row is there when it is wanted.
        let table = browser.find(&by("region", "Items")).await?;
        let script = "arguments[0].scrollTop = arguments[0].scrollHeight";
        browser.run(script, vec![browser.argument(&table)]).await?;
        let last = r#"return [...document.querySelectorAll('[aria-label^="prompt, row "]')].at(-1)?.value ?? """#;
        becomes(browser, "the last row", last, "row 1000").await?;
        let nodes = studio.nodes(&form).await?;
        much_the_same("nodes at the end", nodes_of_few, nodes);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_thousand_items_shows_only_what_is_in_sight() {
    let name = "a_batch_of_a_thousand_items";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        seed(studio, 1_000).await?;
        let batch = starting("article", "Batch: ");
        let nodes = studio.nodes(&batch).await?;
        let items = studio.items().await?;
        assert!(!items.is_empty() && items.len() < 100, "{}", items.len());
        assert!(nodes < 1_000, "{nodes} nodes");

        // The last item is there when it is wanted.
        let list = browser.find(&by("list", "Items of the batch")).await?;
        let script = "
            const scroller = arguments[0].parentElement;
            scroller.scrollTop = scroller.scrollHeight";
        browser.run(script, vec![browser.argument(&list)]).await?;
        until("the last item", TIMEOUT, async || {
            let items = studio.items().await?;
            Ok(match items.last() {
                Some(last) if last.number == 1_000 => Seen::Yes(()),
                other => Seen::NotYet(format!("the last is {other:?}")),
            })
        })
        .await?;
        let nodes = studio.nodes(&batch).await?;
        assert!(nodes < 1_000, "{nodes} nodes at the end");

        let back = "document.querySelector('.thumbs-scroll').scrollTop = 0";
        browser.run(back, vec![]).await?;
        let first = "return document.querySelector('.thumbs > li')?.ariaPosInSet ?? ''";
        becomes(browser, "the first item", first, "1").await?;
        let end =
            "return [...document.querySelectorAll('.thumbs > li')].at(-1)?.ariaPosInSet ?? ''";
        let second = ".thumbs > li:nth-child(2) :is(a, button)";
        stays_in_focus(studio, second, end, "1000").await
    })
    .await;
}

/// Guards against a row that is taken out of the page while it is typed in, and against one that stays and widens the
/// table, or makes it longer.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_stays_where_a_table_is_scrolled() {
    let name = "the_focus_stays";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        fill(studio, 300).await?;
        let end = r#"return [...document.querySelectorAll('[aria-label^="prompt, row "]')].at(-1)?.value ?? """#;
        stays_in_focus(studio, "[aria-label='prompt, row 2']", end, "row 300").await?;
        let back = "
            document.execCommand('insertText', false, 'x');
            document.activeElement.closest('.sheet-scroll').scrollTop = 0";
        browser.run(back, vec![]).await?;
        let typed = "
            const { parentElement, value } = document.activeElement;
            const row = parentElement.closest('tr').getBoundingClientRect();
            const first = document.querySelector('[aria-rowindex=\"2\"]').getBoundingClientRect();
            const isBelow = row.height > 9 && Math.abs(row.top - first.bottom) < 2;
            return `${value} ${isBelow || JSON.stringify([row, first])}`";
        becomes(browser, "the row in its place", typed, "row 02x true").await?;
        Ok(())
    })
    .await;
}

/// Gives the focus to a control, and scrolls to the end of its list.
async fn stays_in_focus(studio: &Studio<'_>, control: &str, end: &str, last: &str) -> Result<()> {
    let script = "
        const control = document.querySelector(arguments[0]);
        control.focus();
        window.lost = 0;
        control.addEventListener('blur', () => { window.lost += 1; });
        const scroller = control.closest('.sheet-scroll, .thumbs-scroll');
        const [width, height] = [scroller.scrollWidth, scroller.scrollHeight];
        // The rows that are not built are as high as whole pixels can say.
        window.isSame = () => scroller.scrollWidth === width && Math.abs(scroller.scrollHeight - height) < 9;
        window.focused = control;
        scroller.scrollTop = scroller.scrollHeight";
    let browser = studio.browser;
    browser.run(script, vec![json!(control)]).await?;
    becomes(browser, "the end of the list", end, last).await?;
    let script = "
        const isFocused = document.activeElement === window.focused;
        return `${isFocused} ${window.lost} ${window.isSame()}`";
    becomes(browser, "the focus", script, "true 0 true").await
}
