//! Batches that are interrupted: the page is closed, or the user pauses or stops sending.

use crate::studio::{
    BATCH, Studio, TIMEOUT, numbered_prompts, rate_limited, run_steps, run_until_settled,
    run_without_keys_until_settled,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::Value;
use std::time::Duration;

/// Returns the stored records of all tasks.
async fn stored_tasks(browser: &Browser) -> Result<Vec<String>> {
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

/// Guards against a batch whose unsent items are lost by a reload, and against a batch that is sent again from the
/// beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_mid_batch_loses_nothing_and_sends_nothing_twice() {
    let name = "a_reload_mid_batch_loses_nothing_and_sends_nothing_twice";
    let service = ["--speed", "2", "--workers", "25"];
    run_until_settled(name, &service, async |studio| {
        studio.proxy.hide_events();
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, rate_limited(4)));
        let prompts = numbered_prompts("kept", 25);
        studio.send(&prompts).await?;
        // Ten items run, the others wait, and no call is in flight.
        studio
            .browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;
        studio.reload().await?;
        studio.wait_for_generate_calls(4).await?;
        // A poll of the last item shows that the page has read the last response. A page that is closed earlier has not
        // read the ids in that response.
        studio
            .sees("a poll of the last item", |calls| {
                let last = calls.iter().rfind(|call| !call.accepted.is_empty());
                let last = last.and_then(|call| call.accepted.last());
                calls.iter().any(|call| {
                    let is_poll = call.path.starts_with("/v2/status");
                    is_poll && call.items <= 10 && last.is_some_and(|id| call.ids.contains(id))
                })
            })
            .await?;
        // If the page is reloaded before the response is stored, it sends that call again with the same keys.
        wait_for_stored_accepted(studio.browser, 25).await?;
        studio.reload().await?;
        studio.wait_until_settled().await?;
        assert_eq!(studio.call_sizes(), [10, 10, 10, 5]);
        assert_eq!(studio.items().await?.len(), 25);
        Ok(())
    })
    .await;
}

/// Guards against a call that is sent again because the page was closed before its response arrived.
#[tokio::test(flavor = "multi_thread")]
async fn closing_the_page_before_a_response_leaves_only_its_items_unconfirmed() {
    let name = "closing_the_page_before_a_response_leaves_only_its_items_unconfirmed";
    run_without_keys_until_settled(name, &["--speed", "0"], async |studio| {
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("closed", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(2).await?;
        studio
            .wait_for_counts("10 completed, 10 in progress, 5 queued")
            .await?;
        studio.reload().await?;
        studio
            .wait_for_counts("15 completed, 10 unconfirmed")
            .await?;
        let lost: Vec<usize> = (11..=20).collect();
        assert_eq!(studio.items_in_state("Unconfirmed").await?, lost);
        assert_eq!(studio.sent_prompts(), prompts);
        for prompt in &prompts[10..20] {
            studio.ledger.exempt_prompts.insert(prompt.clone());
        }
        Ok(())
    })
    .await;
}

/// Guards against a pause that is lost when the page is reloaded.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_batch_is_not_sent_until_it_is_resumed() {
    let name = "a_paused_batch_is_not_sent_until_it_is_resumed";
    let service = ["--speed", "2", "--workers", "25"];
    run_until_settled(name, &service, async |studio| {
        studio.proxy.hide_events();
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("paused", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Pause").await?;
        studio
            .browser
            .wait_for_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio
            .sees("the first ten to be accepted", |calls| {
                calls.iter().any(|call| call.accepted.len() == 10)
            })
            .await?;
        studio
            .sees("a poll of the first ten", |calls| {
                calls.iter().any(|call| call.path == "/v2/status-batch")
            })
            .await?;
        wait_for_stored_accepted(studio.browser, 10).await?;
        studio.reload().await?;
        // The reloaded page polls again, but does not send the rest.
        studio.wait_for_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.call_sizes(), [10], "sent while paused");
        studio.press("Resume").await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(studio.call_sizes(), [10, 10, 5]);
        assert_eq!(studio.sent_prompts(), prompts);
        Ok(())
    })
    .await;
}

/// Guards against calls that are sent while the dialog asks whether to stop sending: the number of items in the dialog
/// fell while the user read it, and items that the user wanted to take back were paid for.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_while_the_stop_sending_dialog_is_open() {
    let name = "nothing_is_sent_while_the_stop_sending_dialog_is_open";
    let service = ["--speed", "2", "--workers", "25"];
    run_until_settled(name, &service, async |studio| {
        studio.proxy.hide_events();
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("asked", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Stop sending").await?;
        let dialog = browser.find(&by("dialog", "Stop sending")).await?;
        studio.proxy.clear();
        // Without the dialog, the others would be sent once the first ten were accepted.
        studio
            .sees("a poll of the first ten", |calls| {
                calls.iter().any(|call| call.path == "/v2/status-batch")
            })
            .await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(studio.call_sizes(), [10], "sent while the dialog was open");
        let question = dialog.text().await?;
        assert!(question.contains("the 15 items"), "{question}");
        studio.press("Keep").await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(studio.call_sizes(), [10, 10, 5]);
        Ok(())
    })
    .await;
}

/// Guards against a Keep button that also ends an earlier pause.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_batch_stays_paused_after_the_stop_sending_dialog() {
    let name = "a_paused_batch_stays_paused_after_the_stop_sending_dialog";
    run_until_settled(name, &["--speed", "2", "--workers", "25"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("paused before", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .wait_for_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.press("Stop sending").await?;
        browser.find(&by("dialog", "Stop sending")).await?;
        studio.press("Keep").await?;
        browser
            .wait_until_gone(&by("dialog", "Stop sending"))
            .await?;
        studio.proxy.clear();
        studio.wait_for_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.call_sizes(), [10]);
        studio.press("Resume").await?;
        studio.wait_for_counts("25 completed").await
    })
    .await;
}

/// Guards against items that are sent after the user has taken them back, and against the loss of their rows.
#[tokio::test(flavor = "multi_thread")]
async fn stopped_items_go_back_into_the_table() {
    let name = "stopped_items_go_back_into_the_table";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("stopped", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        for prompt in &prompts[10..] {
            studio.ledger.exempt_prompts.insert(prompt.clone());
        }
        studio.browser.find(&by("button", "Generate 15")).await?;
        studio.proxy.clear();
        studio.wait_for_counts("10 completed").await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        assert_eq!(studio.sent_prompts(), prompts[..10]);
        // After a reload, the rows are still in the table, and none is sent.
        studio.reload().await?;
        studio.wait_for_counts("10 completed").await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        assert_eq!(studio.call_sizes(), [10]);
        Ok(())
    })
    .await;
}

/// Waits until exactly `wanted` tasks are stored as accepted by the service.
async fn wait_for_stored_accepted(browser: &Browser, wanted: usize) -> Result<()> {
    until(
        format!("{wanted} accepted tasks in storage"),
        TIMEOUT,
        async || {
            let stored = stored_tasks(browser).await?;
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

/// When to leave a page that is sending.
enum Leave {
    After {
        ms: u64,
    },
    /// When the first task is stored.
    Stored,
}

/// Sends these prompts, and leaves the page for another address in the meantime.
async fn leave_while_sending(
    studio: &Studio<'_>,
    prompts: &[String],
    leave: Leave,
    path: &str,
) -> Result<()> {
    // Typing so many lines would take more than a minute on a busy machine.
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
    let wait_ms = match leave {
        Leave::After { ms } => ms.into(),
        Leave::Stored => Value::Null,
    };
    let arguments = vec![studio.browser.argument(&confirm), wait_ms, path.into()];
    studio.browser.run(script, arguments).await?;
    Ok(())
}

/// Waits until no batch is marked as being sent.
async fn wait_until_sent(browser: &Browser) -> Result<()> {
    let script = "return localStorage.getItem('atelier.sending') ?? ''";
    wait_for_value(browser, "batches being sent", script, "").await
}

/// Returns the number in the label of the Generate button.
async fn rows_to_send(browser: &Browser) -> Result<usize> {
    let script = "
        const buttons = [...document.querySelectorAll('.form-foot button')];
        const label = buttons.map(it => it.textContent.trim()).find(it => it.startsWith('Generate'));
        return Number(label.replace(/[^0-9]/g, ''))";
    let rows = browser.run(script, vec![]).await?.as_u64();
    Ok(usize::try_from(rows.ok_or("no Generate button")?)?)
}

/// Guards against rows that are marked as sent but have no tasks, because the user left the page while it stored the
/// tasks.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_the_page_while_sending_keeps_each_item_as_a_task_or_a_row() {
    let name = "leaving_the_page_while_sending_keeps_each_item_as_a_task_or_a_row";
    const COUNT: usize = 150;
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let address = browser.run("return location.href", vec![]).await?;
        let address = address.as_str().ok_or("no address")?;
        for wait_ms in [10, 40, 80] {
            let name = format!("left {wait_ms}");
            let leave = Leave::After { ms: wait_ms };
            leave_while_sending(studio, &numbered_prompts(&name, COUNT), leave, address).await?;
            let name = format!("{name} ");
            let rows = until("a task or a row for each item", TIMEOUT, async || {
                studio.wait_until_open().await?;
                wait_until_sent(browser).await?;
                let tasks = stored_tasks(browser).await?;
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

/// The user leaves the page while it sends a batch, and then removes the finished tasks. Guards against paying twice:
/// the table then showed all rows as not sent.
#[tokio::test(flavor = "multi_thread")]
async fn removed_tasks_of_an_interrupted_batch_do_not_become_unsent_rows() {
    let name = "removed_tasks_of_an_interrupted_batch_do_not_become_unsent_rows";
    const COUNT: usize = 150;
    run_steps(name, &["--speed", "0", "--workers", "25"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("gone", COUNT);
        leave_while_sending(studio, &prompts, Leave::Stored, "/tasks").await?;
        // Wait until the next page has recorded which tasks of the batch exist, or the earlier page has finished sending.
        let is_recorded = "
            const sending = JSON.parse(localStorage.getItem('atelier.sending') ?? '{}');
            const items = Object.values(sending);
            return location.pathname === '/tasks' && items.every(seen => seen.length > 0)";
        wait_for_value(
            browser,
            "the tasks of the batch, recorded",
            is_recorded,
            true,
        )
        .await?;
        let sent = stored_tasks(browser).await?.len();
        assert!(sent > 0, "nothing was sent, so there is nothing to remove");
        until("all tasks to finish", 4 * TIMEOUT, async || {
            let done = stored_tasks(browser).await?;
            let done = done
                .iter()
                .filter(|task| task.contains("\"finished\":"))
                .count();
            Ok(match done == sent {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("{done} are finished")),
            })
        })
        .await?;
        let remove = format!("Clear {sent} finished");
        browser.press(&starting("button", &remove)).await?;
        // Removing more than ten tasks needs a confirmation.
        if sent > 10 {
            browser.press(&by("button", "Clear them")).await?;
        }
        until("no stored task", 3 * TIMEOUT, async || {
            Ok(match stored_tasks(browser).await?.len() {
                0 => Seen::Yes(()),
                count => Seen::NotYet(count.to_string()),
            })
        })
        .await?;
        studio.reload().await?;
        until("the rows that were not sent", TIMEOUT, async || {
            wait_until_sent(browser).await?;
            let rows = rows_to_send(browser).await?;
            Ok(match rows == COUNT - sent {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("there are {rows}")),
            })
        })
        .await
    })
    .await;
}
