//! The number of DOM elements for a thousand items is about the same as for twenty. `./dev bench` measures the time per key
//! press.

use crate::studio::{Studio, TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::json;

/// The maximum number of elements for a thousand items, as a multiple of the number for a hundred.
const MAX_RATIO: usize = 3;

/// Stores a batch of `count` completed items in the browser, by copying the record that the page has stored for one item.
pub async fn store_batch(studio: &mut Studio<'_>, count: usize) -> Result<()> {
    studio.send(&numbered_prompts("stored", 1)).await?;
    studio.wait_for_counts("1 completed").await?;
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
    // The reload shows that the page has stored its last change.
    studio.reload().await?;
    studio.wait_for_counts("1 completed").await?;
    studio.browser.run(script, vec![json!(count)]).await?;
    studio.reload().await?;
    studio.wait_for_counts(&format!("{count} completed")).await
}

/// Pastes `count` prompts and waits until the table has as many rows.
async fn fill(studio: &Studio<'_>, count: usize) -> Result<()> {
    let lines = numbered_prompts("row", count).join("\n");
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

/// Checks that the number of elements for a thousand rows is less than [`MAX_RATIO`] times the number for a hundred.
fn check_ratio(what: &str, few: usize, many: usize) {
    eprintln!("{what}: {few} with a hundred rows, {many} with a thousand");
    assert!(
        many < MAX_RATIO * few,
        "{what}: {few} with a hundred rows, {many} with a thousand"
    );
}

/// Guards against a DOM row for each row of the table.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_thousand_rows_has_few_more_elements_than_a_hundred() {
    let name = "a_table_of_a_thousand_rows_has_few_more_elements_than_a_hundred";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let form = by("form", "Input");
        fill(studio, 100).await?;
        let nodes_of_few = studio.count_nodes(&form).await?;
        fill(studio, 1_000).await?;
        let nodes = studio.count_nodes(&form).await?;
        check_ratio("nodes", nodes_of_few, nodes);

        // The last row appears when the table is scrolled to the end.
        let table = browser.find(&by("region", "Items")).await?;
        let script = "arguments[0].scrollTop = arguments[0].scrollHeight";
        browser.run(script, vec![browser.argument(&table)]).await?;
        let last = r#"return [...document.querySelectorAll('[aria-label^="prompt, row "]')].at(-1)?.value ?? """#;
        wait_for_value(browser, "the last row", last, "row 1000").await?;
        let nodes = studio.count_nodes(&form).await?;
        check_ratio("nodes at the end", nodes_of_few, nodes);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_thousand_items_renders_only_visible_items() {
    let name = "a_batch_of_a_thousand_items_renders_only_visible_items";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        store_batch(studio, 1_000).await?;
        let batch = starting("article", "Batch: ");
        let nodes = studio.count_nodes(&batch).await?;
        let items = studio.items().await?;
        assert!(!items.is_empty() && items.len() < 100, "{}", items.len());
        assert!(nodes < 1_000, "{nodes} nodes");

        // The last item appears when the list is scrolled to the end.
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
        let nodes = studio.count_nodes(&batch).await?;
        assert!(nodes < 1_000, "{nodes} nodes at the end");

        let back = "document.querySelector('.thumbs-scroll').scrollTop = 0";
        browser.run(back, vec![]).await?;
        let first = "return document.querySelector('.thumbs > li')?.ariaPosInSet ?? ''";
        wait_for_value(browser, "the first item", first, "1").await?;
        let end =
            "return [...document.querySelectorAll('.thumbs > li')].at(-1)?.ariaPosInSet ?? ''";
        let second = ".thumbs > li:nth-child(2) :is(a, button)";
        check_keeps_focus(studio, second, end, "1000").await
    })
    .await;
}

/// Guards against a focused row that is removed from the DOM when it is scrolled out of view, and against a kept row that
/// makes the table wider or longer.
#[tokio::test(flavor = "multi_thread")]
async fn a_focused_row_keeps_the_focus_when_the_table_is_scrolled() {
    let name = "a_focused_row_keeps_the_focus_when_the_table_is_scrolled";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        fill(studio, 300).await?;
        let end = r#"return [...document.querySelectorAll('[aria-label^="prompt, row "]')].at(-1)?.value ?? """#;
        check_keeps_focus(studio, "[aria-label='prompt, row 2']", end, "row 300").await?;
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
        wait_for_value(browser, "the row at its position", typed, "row 02x true").await?;
        Ok(())
    })
    .await;
}

/// Focuses a control, scrolls to the end of its list, and checks that it keeps the focus.
async fn check_keeps_focus(
    studio: &Studio<'_>,
    control: &str,
    end: &str,
    last: &str,
) -> Result<()> {
    let script = "
        const control = document.querySelector(arguments[0]);
        control.focus();
        window.blurs = 0;
        control.addEventListener('blur', () => { window.blurs += 1; });
        const scroller = control.closest('.sheet-scroll, .thumbs-scroll');
        const [width, height] = [scroller.scrollWidth, scroller.scrollHeight];
        // The height of rows that are not rendered is rounded to whole pixels.
        window.isSame = () => scroller.scrollWidth === width && Math.abs(scroller.scrollHeight - height) < 9;
        window.focused = control;
        scroller.scrollTop = scroller.scrollHeight";
    let browser = studio.browser;
    browser.run(script, vec![json!(control)]).await?;
    wait_for_value(browser, "the end of the list", end, last).await?;
    let script = "
        const isFocused = document.activeElement === window.focused;
        return `${isFocused} ${window.blurs} ${window.isSame()}`";
    wait_for_value(browser, "the focus", script, "true 0 true").await
}
