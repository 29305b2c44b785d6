//! A batch in several tabs: one tab sends it, and all tabs can pause or stop it.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered_prompts, run_steps, run_until_settled};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::wd::WindowHandle;

/// Opens Batch mode in another tab that queues the messages of other tabs while `window.isCutOff` is set.
/// `window.reconnect()` delivers them.
async fn open_tab_with_queued_messages(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.open_tab("about:blank").await?;
    let script = "
        const missed = [];
        const listen = BroadcastChannel.prototype.addEventListener;
        BroadcastChannel.prototype.addEventListener = function (kind, listener, ...rest) {
            listen.call(this, kind, event => {
                if (window.isCutOff) missed.push(() => listener.call(this, event));
                else listener.call(this, event);
            }, ...rest);
        };
        window.reconnect = () => {
            window.isCutOff = false;
            for (const deliver of missed.splice(0)) deliver();
        };";
    studio.proxy.before_each_page(browser, script).await?;
    studio.enlarge_tab().await?;
    studio.reload().await
}

/// Guards against rows that return to the table of a following tab while the leader sends them. They would be paid for
/// twice if the user sent them again from that table.
#[tokio::test(flavor = "multi_thread")]
async fn stopping_in_a_follower_returns_only_unsent_rows() {
    let name = "stopping_in_a_follower_returns_only_unsent_rows";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open_tab_with_queued_messages(studio).await?;
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("halted", 25);
        browser.run("window.isCutOff = true", vec![]).await?;
        studio.send(&prompts).await?;
        // The leader sends the second ten items, and this tab has not received any message about it.
        studio.wait_for_generate_calls(2).await?;
        studio.wait_for_counts("25 queued").await?;
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        for prompt in &prompts[20..] {
            studio.ledger.exempt_prompts.insert(prompt.clone());
        }
        browser.run("window.reconnect()", vec![]).await?;
        browser.find(&by("button", "Generate 5")).await?;
        assert_eq!(studio.rows().await?, prompts[20..]);
        studio.proxy.clear();
        studio.wait_for_counts("20 completed").await?;
        assert_eq!(studio.rows().await?, prompts[20..]);
        assert_eq!(studio.sent_prompts(), prompts[..20]);
        assert_eq!(studio.calls_of_tab().await?, 0, "the follower made calls");
        Ok(())
    })
    .await;
}

/// Guards against losing rows when the user presses Stop sending in a tab and closes that tab.
#[tokio::test(flavor = "multi_thread")]
async fn rows_stopped_in_a_closed_tab_are_available_in_another() {
    let name = "rows_stopped_in_a_closed_tab_are_available_in_another";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        open_tab_with_queued_messages(studio).await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("left", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        browser.run("window.isCutOff = true", vec![]).await?;
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        for prompt in &prompts[10..] {
            studio.ledger.exempt_prompts.insert(prompt.clone());
        }
        browser.switch_to(&leader).await?;
        let put_back = "Put the 15 taken back into the table";
        browser.find(&by("button", put_back)).await?;
        // Guards against the message `25 rows sent` while 15 of the rows were taken back.
        browser.wait_for_text("25 rows in a batch", TIMEOUT).await?;
        assert_eq!(studio.rows().await?, [] as [&str; 0]);
        let all = browser.client.windows().await?;
        let closing = all.into_iter().find(|tab| *tab != leader);
        browser.switch_to(&closing.ok_or("no other tab")?).await?;
        browser.close_tab().await?;
        browser.switch_to(&leader).await?;
        studio.proxy.clear();
        // The rows also survive a reload of the leader.
        studio
            .wait_for_counts("10 completed, 15 taken back")
            .await?;
        studio.reload().await?;
        studio.press(put_back).await?;
        browser.find(&by("button", "Generate 15")).await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        browser.wait_until_gone(&by("button", put_back)).await?;
        studio.wait_for_counts("10 completed").await?;
        assert_eq!(studio.sent_prompts(), prompts[..10]);
        Ok(())
    })
    .await;
}

/// Guards against a batch that both tabs send or that no tab sends, and against a pause that applies only in the tab where
/// it is pressed.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_follower_is_sent_once_and_can_be_paused_there() {
    let name = "a_batch_of_a_follower_is_sent_once_and_can_be_paused_there";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let follower = studio.open_batch_tab().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("followed", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .wait_for_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio.wait_for_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.call_sizes(), [10], "sent while paused");

        // The other tab shows the same counts, although the batch was not submitted there.
        browser.switch_to(&leader).await?;
        studio.wait_for_counts("10 completed, 15 queued").await?;
        assert!(studio.calls_of_tab().await? > 0, "the leader made no calls");
        browser.switch_to(&follower).await?;
        studio.press("Resume").await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(studio.call_sizes(), [10, 10, 5]);
        assert_eq!(studio.sent_prompts(), prompts);
        assert_eq!(studio.calls_of_tab().await?, 0, "the follower made calls");
        Ok(())
    })
    .await;
}

/// Opens another tab that receives no messages, and that presses `Generate N` when [`press_in_cut_off_tab`] is called.
pub async fn open_cut_off_tab_that_presses(studio: &Studio<'_>, rows: usize) -> Result<()> {
    open_tab_with_queued_messages(studio).await?;
    let label = format!("Generate {rows}");
    studio.browser.find(&by("button", &label)).await?;
    let script = "
        const [label] = arguments;
        window.isCutOff = true;
        addEventListener('storage', ({ key }) => {
            if (key !== 'press' || window.hasPressed) return;
            window.hasPressed = true;
            const buttons = [...document.querySelectorAll('button')];
            buttons.find(it => it.textContent.trim() === label).click();
        })";
    studio.browser.run(script, vec![label.into()]).await?;
    Ok(())
}

/// Makes the tab of [`open_cut_off_tab_that_presses`] press `Generate N`. Called in another tab.
async fn press_in_cut_off_tab(studio: &Studio<'_>) -> Result<()> {
    let press = "localStorage.setItem('press', 'now'); localStorage.removeItem('press')";
    studio.browser.run(press, vec![]).await?;
    Ok(())
}

/// Sends the same rows in the first tab and in the cut-off tab, which is the current tab. Checks that each is sent once.
pub async fn send_once_in_both(
    studio: &mut Studio<'_>,
    first: &WindowHandle,
    prompts: &[String],
) -> Result<()> {
    let browser = studio.browser;
    let cut_off = browser.tab().await?;
    browser.switch_to(first).await?;
    studio.generate(prompts).await?;
    press_in_cut_off_tab(studio).await?;
    browser.switch_to(&cut_off).await?;
    browser.run("window.reconnect()", vec![]).await?;
    let counts = format!("{} completed", prompts.len());
    studio.wait_for_counts(&counts).await?;
    assert_eq!(studio.sent_prompts(), prompts);
    Ok(())
}

/// Guards against paying for a batch twice: a second tab sent the same rows before it received the message that they
/// were sent.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_two_tabs_send_at_once_are_sent_once() {
    let name = "rows_that_two_tabs_send_at_once_are_sent_once";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let prompts = numbered_prompts("in both", 12);
        studio.type_prompts(&prompts).await?;
        open_cut_off_tab_that_presses(studio, 12).await?;
        send_once_in_both(studio, &first, &prompts).await
    })
    .await;
}

/// Guards against paying for rows twice: a tab that had not received an edit sent all of its older rows in addition to
/// the newer ones. Only the edited row differs, so both versions of this row are sent.
#[tokio::test(flavor = "multi_thread")]
async fn rows_unchanged_by_an_edit_are_sent_once_by_two_tabs() {
    let name = "rows_unchanged_by_an_edit_are_sent_once_by_two_tabs";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let old = numbered_prompts("edited", 12);
        studio.type_prompts(&old).await?;
        open_cut_off_tab_that_presses(studio, 12).await?;
        let second = browser.client.window().await?;
        browser.switch_to(&first).await?;
        // The text is appended, since replacing all of it would create new rows.
        let field = browser.find(&by("textbox", "Prompts")).await?;
        field.send_keys(", changed").await?;
        let mut new = old.clone();
        new[11] += ", changed";
        studio.generate(&new).await?;
        press_in_cut_off_tab(studio).await?;
        browser.switch_to(&second).await?;
        browser.run("window.reconnect()", vec![]).await?;
        for last in [&old[11], &new[11]] {
            studio
                .sees(last, |calls| {
                    calls.iter().any(|call| call.prompts.contains(last))
                })
                .await?;
        }
        // The other rows belong to the batch of the first tab, and none was removed.
        studio.wait_for_counts("1 completed").await?;
        let mut sent = studio.sent_prompts();
        sent.sort();
        let mut wanted = [new, vec![old[11].clone()]].concat();
        wanted.sort();
        assert_eq!(sent, wanted);
        Ok(())
    })
    .await;
}

/// Guards against losing rows that one tab puts back, because the table of another tab overwrites them. The tasks of
/// these rows are already removed.
#[tokio::test(flavor = "multi_thread")]
async fn rows_put_back_in_two_tabs_at_once_are_all_kept() {
    let name = "rows_put_back_in_two_tabs_at_once_are_all_kept";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        open_tab_with_queued_messages(studio).await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered_prompts("parted", 25);
        studio.send(&prompts).await?;
        studio.wait_for_generate_calls(1).await?;
        browser.run("window.isCutOff = true", vec![]).await?;
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        browser.switch_to(&leader).await?;
        let all = "Put the 15 taken back into the table";
        browser.find(&by("button", all)).await?;
        let windows = browser.client.windows().await?;
        let closing = windows.into_iter().find(|tab| *tab != leader);
        browser.switch_to(&closing.ok_or("no other tab")?).await?;
        browser.close_tab().await?;
        browser.switch_to(&leader).await?;
        studio.proxy.clear();
        studio
            .wait_for_counts("10 completed, 15 taken back")
            .await?;

        // The other tab finds one task less, and receives no messages from now on.
        let delete_record = "
            return new Promise((done, failed) => {
                const opened = indexedDB.open('atelier');
                opened.onerror = failed;
                opened.onsuccess = () => {
                    const transaction = opened.result.transaction('tasks', 'readwrite');
                    const all = transaction.objectStore('tasks').openCursor();
                    all.onsuccess = () => {
                        const cursor = all.result;
                        if (cursor?.value.includes('parted 25')) cursor.delete();
                        cursor?.continue();
                    };
                    transaction.oncomplete = () => {
                        opened.result.close();
                        done();
                    };
                };
            });";
        browser.run(delete_record, vec![]).await?;
        open_tab_with_queued_messages(studio).await?;
        let other = browser.client.window().await?;
        let some = "Put the 14 taken back into the table";
        browser.find(&by("button", some)).await?;
        browser.run("window.isCutOff = true", vec![]).await?;
        browser.switch_to(&leader).await?;
        studio.press(all).await?;
        browser.find(&by("button", "Generate 15")).await?;
        browser.wait_until_gone(&by("button", all)).await?;
        browser.switch_to(&other).await?;
        studio.press(some).await?;
        browser.find(&by("button", "Generate 15")).await?;
        studio.reload().await?;
        browser.find(&by("button", "Generate 15")).await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        Ok(())
    })
    .await;
}

/// Guards against a tab that receives a batch before its tasks and shows the items without names from then on.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_another_tab_is_shown_with_all_its_items() {
    let name = "a_batch_of_another_tab_is_shown_with_all_its_items";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let second = studio.open_batch_tab().await?;
        browser.switch_to(&first).await?;
        studio.send(&numbered_prompts("heard", 2)).await?;
        studio.wait_for_counts("2 completed").await?;
        browser.switch_to(&second).await?;
        browser
            .find(&by("button", "Item 2: heard 02, Completed"))
            .await?;
        browser.find(&by("button", "Explore")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a second tab that offers to send a sweep again, and that overwrites it with its own older sweep.
#[tokio::test(flavor = "multi_thread")]
async fn each_tab_keeps_its_own_unsent_sweep() {
    let name = "each_tab_keeps_its_own_unsent_sweep";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let written =
            "return [...document.querySelectorAll('.sweep textarea')].map(it => it.value).join()";
        let first = browser.client.window().await?;
        let write = async |prompts: &str| {
            studio.choose("Sweep").await?;
            wait_for_value(browser, "no values", written, "").await?;
            let axis = browser.find(&by("combobox", "Axis")).await?;
            axis.select_by_value("prompt").await?;
            browser.fill(&by("textbox", "Values"), prompts).await
        };
        write("dusk").await?;
        studio.choose("One").await?;
        studio.choose("Batch").await?;
        wait_for_value(browser, "the sweep", written, "dusk").await?;
        let second = studio.open_batch_tab().await?;
        write("dawn").await?;
        browser.switch_to(&first).await?;
        studio.reload().await?;
        wait_for_value(browser, "the sweep of this tab", written, "dusk").await?;
        browser.switch_to(&second).await?;
        studio.reload().await?;
        wait_for_value(browser, "the sweep of the other tab", written, "dawn").await
    })
    .await;
}
