//! The page is closed in the midst of a batch, or a person holds it up.

use crate::studio::{
    BATCH, Studio, TIMEOUT, come_back_in, numbered, play, play_without_keys, visit,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, becomes, until};
use serde_json::Value;
use std::time::Duration;

/// The records of tasks as they are stored.
async fn stored(browser: &Browser) -> Result<Vec<String>> {
    let script = "
        return new Promise((done, failed) => {
            const opened = indexedDB.open('atelier');
            opened.onerror = failed;
            opened.onsuccess = () => {
                const all = opened.result.transaction('tasks').objectStore('tasks').getAll();
                all.onerror = failed;
                all.onsuccess = () => {
                    opened.result.close();
                    done(all.result);
                };
            };
        });";
    Ok(serde_json::from_value(browser.run(script, vec![]).await?)?)
}

/// Guards against a batch of which only the calls already sent survive the page, and against one
/// that is sent anew from its beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_mid_batch_loses_nothing_and_sends_nothing_twice() {
    let name = "a_reload_mid_batch";
    let service = ["--speed", "2", "--workers", "25"];
    play(name, &service, async |studio| {
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, come_back_in(4)));
        let prompts = numbered("kept", 25);
        studio.send(&prompts).await?;
        // Ten run, the others wait, and no call is under way.
        studio
            .browser
            .see_text("Rate-limited, next try in ", TIMEOUT)
            .await?;
        studio.reload().await?;
        studio.sees_calls(4).await?;
        // Asked about, the last answer was read; a page closed before that could not know it.
        studio
            .sees("a question about the last item", |calls| {
                let last = calls.iter().rfind(|call| !call.accepted.is_empty());
                let last = last.and_then(|call| call.accepted.last());
                calls.iter().any(|call| {
                    let asks = call.path.starts_with("/v2/status");
                    asks && call.items <= 10 && last.is_some_and(|id| call.ids.contains(id))
                })
            })
            .await?;
        // Nor could one that was closed before it was stored: it sends that call once more, with its keys.
        sees_accepted(studio.browser, 25).await?;
        studio.reload().await?;
        studio.settled().await?;
        assert_eq!(studio.sizes(), [10, 10, 10, 5]);
        assert_eq!(studio.items().await?.len(), 25);
        Ok(())
    })
    .await;
}

/// Guards against a call whose answer is not awaited any more, and which is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_closed_before_an_answer_leaves_exactly_that_calls_items() {
    let name = "a_page_closed_before_an_answer";
    play_without_keys(name, &["--speed", "0"], async |studio| {
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("closed", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(2).await?;
        studio
            .see_counts("10 completed, 10 in progress, 5 queued")
            .await?;
        studio.reload().await?;
        studio.see_counts("15 completed, 10 unconfirmed").await?;
        let lost: Vec<usize> = (11..=20).collect();
        assert_eq!(studio.in_state("Unconfirmed").await?, lost);
        assert_eq!(studio.prompts_sent(), prompts);
        for prompt in &prompts[10..20] {
            studio.ledger.given_up.insert(prompt.clone());
        }
        Ok(())
    })
    .await;
}

/// Guards against a pause that the next visit has forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_is_not_sent_until_it_is_resumed() {
    let name = "what_is_paused";
    let service = ["--speed", "2", "--workers", "25"];
    play(name, &service, async |studio| {
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("paused", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        studio
            .browser
            .see_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio
            .sees("the first ten to be accepted", |calls| {
                calls.iter().any(|call| call.accepted.len() == 10)
            })
            .await?;
        studio
            .sees("a question about them", |calls| {
                calls.iter().any(|call| call.path == "/v2/status-batch")
            })
            .await?;
        sees_accepted(studio.browser, 10).await?;
        studio.reload().await?;
        // The page does its work again, and the rest is not part of it.
        studio.see_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.sizes(), [10], "sent while paused");
        studio.press("Resume").await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.sizes(), [10, 10, 5]);
        assert_eq!(studio.prompts_sent(), prompts);
        Ok(())
    })
    .await;
}

/// Guards against calls that leave while it is asked whether to stop them: the count in the question fell
/// while it was read, and what was to be taken back was paid for.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_while_the_question_whether_to_stop_stands_open() {
    let name = "nothing_leaves_while_the_question";
    let service = ["--speed", "2", "--workers", "25"];
    play(name, &service, async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("asked", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press("Stop sending").await?;
        let dialog = browser.find(&by("dialog", "Stop sending")).await?;
        studio.proxy.clear();
        // The others would have left once the first ten were accepted.
        studio
            .sees("a question about the first ten", |calls| {
                calls.iter().any(|call| call.path == "/v2/status-batch")
            })
            .await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(studio.sizes(), [10], "sent while it was asked");
        let question = dialog.text().await?;
        assert!(question.contains("the 15 items"), "{question}");
        studio.press("Keep").await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.sizes(), [10, 10, 5]);
        Ok(())
    })
    .await;
}

/// Guards against a Keep that ends a pause for which a person has asked before.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_paused_before_the_question_stays_paused_after_it() {
    let name = "what_was_paused_before_the_question";
    play(name, &["--speed", "2", "--workers", "25"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("paused before", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .see_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.press("Stop sending").await?;
        browser.find(&by("dialog", "Stop sending")).await?;
        studio.press("Keep").await?;
        browser.find_gone(&by("dialog", "Stop sending")).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.sizes(), [10]);
        studio.press("Resume").await?;
        studio.see_counts("25 completed").await
    })
    .await;
}

/// Guards against items that are sent after a person has called them back, and against the loss of
/// what was typed.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_goes_back_into_the_table() {
    let name = "what_is_stopped";
    play(name, &["--speed", "0"], async |studio| {
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("stopped", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press_both("Stop sending", "Take them back").await?;
        for prompt in &prompts[10..] {
            studio.ledger.given_up.insert(prompt.clone());
        }
        studio.browser.find(&by("button", "Generate 15")).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed").await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        assert_eq!(studio.prompts_sent(), prompts[..10]);
        // Also the next visit has them in the table, and sends none.
        studio.reload().await?;
        studio.see_counts("10 completed").await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        assert_eq!(studio.sizes(), [10]);
        Ok(())
    })
    .await;
}

/// Waits until so many tasks are stored as taken by the service.
async fn sees_accepted(browser: &Browser, wanted: usize) -> Result<()> {
    until(
        format!("{wanted} accepted tasks in storage"),
        TIMEOUT,
        async || {
            let stored = stored(browser).await?;
            let is_accepted = |task: &&String| task.contains("\"accepted\":");
            let count = stored.iter().filter(is_accepted).count();
            Ok(match count == wanted {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("there are {count}")),
            })
        },
    )
    .await
}

/// When a page is left that sends.
enum Left {
    After {
        ms: u64,
    },
    /// Once the first task is stored.
    Stored,
}

/// Sends so many rows, and leaves the page for another address meanwhile.
async fn leave_sending(
    studio: &Studio<'_>,
    prompts: &[String],
    left: Left,
    path: &str,
) -> Result<()> {
    // Typed, so many lines take a minute and more on a busy machine.
    let lines = by("textbox", "Prompts");
    studio.browser.paste(&lines, &prompts.join("\n")).await?;
    studio.press(&format!("Generate {}", prompts.len())).await?;
    let dialog = studio.browser.find(&by("dialog", "Generate many")).await?;
    let confirm = by("button", "Send them").within(&dialog);
    let confirm = studio.browser.find(&confirm).await?;
    let script = "
        const [confirm, wait, path] = arguments;
        const leave = () => location.assign(path);
        if (wait !== null) {
            confirm.click();
            setTimeout(leave, wait);
            return;
        }
        const opened = indexedDB.open('atelier');
        opened.onsuccess = () => {
            const look = () => {
                const count = opened.result.transaction('tasks').objectStore('tasks').count();
                count.onsuccess = () => count.result > 0 ? leave() : look();
            };
            confirm.click();
            look();
        }";
    let wait_ms = match left {
        Left::After { ms } => ms.into(),
        Left::Stored => Value::Null,
    };
    let arguments = vec![studio.browser.argument(&confirm), wait_ms, path.into()];
    studio.browser.run(script, arguments).await?;
    Ok(())
}

/// Waits until no batch is on its way from a table to the tasks any more.
async fn is_settled(browser: &Browser) -> Result<()> {
    let script = "return localStorage.getItem('atelier.sending') ?? ''";
    becomes(browser, "nothing on its way", script, "").await
}

/// How many rows the button would send.
async fn rows_to_send(browser: &Browser) -> Result<usize> {
    let script = "
        const buttons = [...document.querySelectorAll('.form-foot button')];
        const label = buttons.map(it => it.textContent.trim()).find(it => it.startsWith('Generate'));
        return Number(label.replace(/[^0-9]/g, ''))";
    let rows = browser.run(script, vec![]).await?.as_u64();
    Ok(usize::try_from(rows.ok_or("no button that sends")?)?)
}

/// Guards against rows that count as sent and are no tasks: the page is left while it stores them.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_left_as_it_is_sent_is_a_task_or_a_row_for_each_item() {
    let name = "a_batch_left_as_it_is_sent";
    const COUNT: usize = 150;
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let here = browser.run("return location.href", vec![]).await?;
        let here = here.as_str().ok_or("no address")?;
        for wait_ms in [10, 40, 80] {
            let name = format!("left {wait_ms}");
            let left = Left::After { ms: wait_ms };
            leave_sending(studio, &numbered(&name, COUNT), left, here).await?;
            let name = format!("{name} ");
            let rows = until("a task or a row for each", TIMEOUT, async || {
                studio.is_open().await?;
                is_settled(browser).await?;
                let tasks = stored(browser).await?;
                let tasks = tasks.iter().filter(|task| task.contains(&name)).count();
                let rows = rows_to_send(browser).await?;
                Ok(match tasks + rows == COUNT {
                    true => Seen::Yes(rows),
                    false => Seen::NotYet(format!("{tasks} tasks, {rows} rows")),
                })
            })
            .await?;
            if rows > 0 {
                studio.press("Clear the table").await?;
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against paying twice: of a batch whose page was left as it was sent, a person removes what is done; its
/// table, looked at after that, took all of it for never sent.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_and_removed_is_no_row_to_be_sent() {
    let name = "what_was_sent_and_removed";
    const COUNT: usize = 150;
    visit(name, &["--speed", "0", "--workers", "25"], async |studio| {
        let browser = studio.browser;
        leave_sending(studio, &numbered("gone", COUNT), Left::Stored, "/tasks").await?;
        // The next page has seen what there is, unless the one before came to its end after all.
        let noted = "
            const sending = JSON.parse(localStorage.getItem('atelier.sending') ?? '{}');
            const items = Object.values(sending);
            return location.pathname === '/tasks' && items.every(seen => seen.length > 0)";
        becomes(browser, "what was sent, noted", noted, true).await?;
        let kept = stored(browser).await?.len();
        assert!(kept > 0, "nothing was sent: there is nothing to remove");
        until("all of them done", 4 * TIMEOUT, async || {
            let done = stored(browser).await?;
            let done = done
                .iter()
                .filter(|task| task.contains("\"finished\":"))
                .count();
            Ok(match done == kept {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("{done} are")),
            })
        })
        .await?;
        let remove = format!("Clear {kept} finished");
        browser.press(&starting("button", &remove)).await?;
        // Many are asked about first.
        if kept > 10 {
            browser.press(&by("button", "Clear them")).await?;
        }
        until("nothing left of them", 3 * TIMEOUT, async || {
            Ok(match stored(browser).await?.len() {
                0 => Seen::Yes(()),
                count => Seen::NotYet(count.to_string()),
            })
        })
        .await?;
        studio.reload().await?;
        until("the rows that were not sent", TIMEOUT, async || {
            is_settled(browser).await?;
            let rows = rows_to_send(browser).await?;
            Ok(match rows == COUNT - kept {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("there are {rows}")),
            })
        })
        .await
    })
    .await;
}
