//! Tests of the task list with a long history: it only renders rows near the viewport.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::{Value, json};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

const FEW: u64 = 200;
const MANY: u64 = 2_000;

/// Stores tasks with the numbers from `from` to `to - 1`. Higher numbers are newer.
const STORE: &str = "
    const [from, to] = arguments;
    const pad = n => String(n).padStart(4, '0');
    const picture = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
    const model = { category: 'image', subcategory: 'tessera' };
    const task = n => ({
        key: `many-${pad(n)}`, account: { address: '', uid: 'guest' }, model, model_name: 'Tessera',
        input: { model, values: { prompt: `harbour ${pad(n)}` } },
        created: 1700000000000 + n * 60000,
        state: n % 10 ? { state: 'ready', id: `t${n}`, outputs: [picture] }
            : { state: 'failed', id: `t${n}`, message: 'no' },
        watching: true, finished: 1700000005000 + n * 60000,
    });
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = failed;
        opened.onsuccess = () => {
            const database = opened.result;
            const transaction = database.transaction('tasks', 'readwrite');
            const store = transaction.objectStore('tasks');
            for (let n = from; n < to; n++) store.put(JSON.stringify(task(n)), task(n).key);
            transaction.oncomplete = () => { database.close(); done(true); };
            transaction.onabort = failed;
        };
    });";

const COUNT_NODES: &str = "return document.getElementsByTagName('*').length";

/// Returns the number of elements of the page, once it has stopped changing.
async fn count_nodes(browser: &Browser) -> Result<u64> {
    let mut before = None;
    until("the number of elements to settle", TIMEOUT, async || {
        let now = browser.run(COUNT_NODES, vec![]).await?.as_u64();
        let last = std::mem::replace(&mut before, now);
        Ok(match now {
            Some(count) if now == last => Seen::Yes(count),
            _ => Seen::NotYet(format!("{now:?} elements after {last:?}")),
        })
    })
    .await
}

/// Opens the task list, waits for its number of tasks, and returns the number of elements.
async fn open_and_count(browser: &Browser, address: &str, tasks: u64) -> Result<u64> {
    browser.open(&format!("{address}/tasks")).await?;
    let text = match tasks {
        0..1_000 => format!("{tasks} tasks"),
        _ => format!("{},{:03} tasks", tasks / 1_000, tasks % 1_000),
    };
    browser.wait_for_text(&text, TIMEOUT).await?;
    count_nodes(browser).await
}

async fn store(browser: &Browser, from: u64, to: u64) -> Result<()> {
    let stored = browser.run(STORE, vec![json!(from), json!(to)]).await?;
    assert_eq!(stored, Value::Bool(true));
    Ok(())
}

/// Guards against a list that renders all rows. `./dev bench` measures the response time of its search.
#[tokio::test(flavor = "multi_thread")]
async fn task_list_of_2000_renders_as_few_nodes_as_200() {
    drive(
        "task_list_of_2000_renders_as_few_nodes_as_200",
        async |browser| {
            let service = Service::start_with_site(&[]).await?;
            let address = service.address();
            browser.open(&format!("{address}/tasks")).await?;
            browser
                .wait_for_text("Nothing submitted yet.", TIMEOUT)
                .await?;
            store(browser, 0, FEW).await?;
            let few = open_and_count(browser, &address, FEW).await?;
            store(browser, FEW, MANY).await?;
            let many = open_and_count(browser, &address, MANY).await?;
            println!("{FEW} tasks: {few} nodes; {MANY}: {many} nodes");
            assert!(many <= few + 20, "{many} nodes instead of {few}");

            // The list ends with the oldest task.
            let list = browser.find(&by("list", "Tasks")).await?;
            let to_end = "scrollTo(0, document.documentElement.scrollHeight)";
            browser.run(to_end, vec![]).await?;
            browser.find(&by("link", "harbour 0000")).await?;
            let end = Some(MANY.to_string());
            until("the last row of the list", TIMEOUT, async || {
                let items = browser.find_all(&any("listitem").within(&list)).await?;
                let last = items.last().ok_or("the list is empty")?;
                let place = last.attr("aria-posinset").await?;
                Ok(match place == end {
                    true => Seen::Yes(()),
                    false => Seen::NotYet(format!("the last is {place:?}")),
                })
            })
            .await?;
            let nodes = count_nodes(browser).await?;
            assert!(nodes <= 2 * few, "{nodes} nodes");
            check_back_restores_position(browser).await
        },
    )
    .await;
}

/// Guards against a lost focus and scroll position after opening an old task and going back.
async fn check_back_restores_position(browser: &Browser) -> Result<()> {
    let place = "return `${document.activeElement.innerText} at ${Math.round(scrollY)}`";
    let open = "
        const link = [...document.querySelectorAll('.task-row .cover')].find(it => it.innerText === 'harbour 0005');
        link.focus({ preventScroll: true });
        link.click();";
    let left = browser.run("return Math.round(scrollY)", vec![]).await?;
    browser.run(open, vec![]).await?;
    browser.find(&by("button", "Run again")).await?;
    browser.client.back().await?;
    wait_for_value(
        browser,
        "the focus and scroll position",
        place,
        format!("harbour 0005 at {left}"),
    )
    .await
}
