//! The table is kept, and is the same in all tabs.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

/// Where a version of before kept it.
const BEFORE: &str = "localStorage.getItem('atelier.table.image/tessera')";

/// Longer than storage is waited for.
const AWHILE: Duration = Duration::from_secs(15);

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

/// Lets this tab store no table from now on, or again.
async fn refuse(studio: &Studio<'_>, refuses: bool) -> Result<()> {
    let script = "
        const [refuses] = arguments;
        const table = IDBObjectStore.prototype;
        table.truePut ??= table.put;
        table.put = !refuses ? table.truePut : function (...record) {
            if (this.name === 'tables') throw new DOMException('', 'QuotaExceededError');
            return this.truePut(...record);
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
            .see_text("An earlier Atelier has left other rows", AWHILE)
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

/// Guards against a tab that has not touched the table and still writes its own, older one.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_seen_in_the_other_tab_which_overwrites_nothing() {
    let name = "a_change_is_seen_in_the_other_tab";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let before = numbered("before", 2);
        paste(studio, &before).await?;
        let second = studio.open_tab().await?;
        sees_rows(studio, &before).await?;
        let after = numbered("after", 4);
        paste(studio, &after).await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &after).await?;
        let prompts = browser.find(&by("textbox", "Prompts")).await?;
        let text = prompts.prop("value").await?.unwrap_or_default();
        assert_eq!(text, after.join("\n"));
        // Left without a touch.
        studio.choose("One").await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.switch_to(&second).await?;
        studio.reload().await?;
        sees_rows(studio, &after).await?;
        browser.switch_to(&first).await?;
        studio.reload().await?;
        sees_rows(studio, &after).await
    })
    .await;
}

/// Guards against rows that are lost without a word when two tabs change the table without having
/// seen each other's.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_unseen_changes_the_later_stays_and_the_other_is_put_aside() {
    let name = "of_two_unseen_changes_the_later_stays";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let second = studio.open_tab().await?;
        browser.switch_to(&first).await?;
        let (earlier, later) = (numbered("earlier", 2), numbered("later", 3));

        // The earlier edit could not be stored when it was made.
        refuse(studio, true).await?;
        paste(studio, &earlier).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        browser.switch_to(&second).await?;
        paste(studio, &later).await?;
        is_stored(studio, 3).await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &earlier).await?;
        refuse(studio, false).await?;
        sees_rows(studio, &later).await?;
        browser
            .see_text("What stood here was put aside: 2 rows.", AWHILE)
            .await?;
        sees_no_text(studio, UNKEPT).await?;
        studio.press("Show them instead").await?;
        sees_rows(studio, &earlier).await?;
        browser.switch_to(&second).await?;
        sees_rows(studio, &earlier).await?;

        // The later edit could not be stored at once.
        refuse(studio, true).await?;
        paste(studio, &numbered("on the way", 1)).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        let last = numbered("last", 4);
        browser.switch_to(&first).await?;
        studio.press("Let them go").await?;
        paste(studio, &later).await?;
        is_stored(studio, 3).await?;
        browser.switch_to(&second).await?;
        paste(studio, &last).await?;
        refuse(studio, false).await?;
        is_stored(studio, 4).await?;
        sees_rows(studio, &last).await?;
        browser
            .see_text("What stood there was put aside: 3 rows.", AWHILE)
            .await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &last).await?;
        browser
            .see_text("What stood here was put aside: 3 rows.", AWHILE)
            .await
    })
    .await;
}

/// Guards against storage without any answer, which must hold up nobody, and of which a person must
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
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::Quota)?;
        let quota = |size: Value| {
            let mut params = json!({ "origin": studio.proxy.address() });
            if !size.is_null() {
                params["quotaSize"] = size;
            }
            async move {
                let done = browser.devtools("Storage.overrideQuotaForOrigin", params);
                done.await
            }
        };
        quota(json!(1_000)).await?;
        let rows = numbered(&"many words ".repeat(200), 12);
        paste(studio, &rows).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        quota(Value::Null).await?;
        // By itself.
        sees_no_text(studio, UNKEPT).await?;
        studio.reload().await?;
        sees_rows(studio, &rows).await
    })
    .await;
}

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
            const turn = () => new Promise(done => {
                const channel = new MessageChannel();
                channel.port1.onmessage = done;
                channel.port2.postMessage(0);
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
        studio.press_both("Stop sending", "Take them back").await?;
        sees_rows(studio, &prompts[10..]).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        let put_back = by("button", "Put the 15 taken back into the table");
        browser.find_gone(&put_back).await?;
        refuse(studio, false).await?;
        is_stored(studio, 15).await?;
        sees_no_text(studio, UNKEPT).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 15 removed").await?;
        studio.reload().await?;
        studio.see_counts("10 completed, 15 removed").await?;
        sees_rows(studio, &prompts[10..]).await?;
        browser.find_gone(&put_back).await
    })
    .await;
}
