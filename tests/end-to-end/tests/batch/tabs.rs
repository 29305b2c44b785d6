//! A batch in several tabs: one sends it, all can hold it up.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered, play, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use fantoccini::wd::WindowHandle;

/// Opens Batch mode in a further tab that hears the other tabs only while `window.isDeaf` is not set;
/// what it missed it hears afterwards.
async fn open_hard_of_hearing(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.open_tab("about:blank").await?;
    let script = "
        const missed = [];
        const listen = BroadcastChannel.prototype.addEventListener;
        BroadcastChannel.prototype.addEventListener = function (kind, hear, ...rest) {
            listen.call(this, kind, event => {
                if (window.isDeaf) missed.push(() => hear.call(this, event));
                else hear.call(this, event);
            }, ...rest);
        };
        window.hearAgain = () => {
            window.isDeaf = false;
            for (const hear of missed.splice(0)) hear();
        };";
    studio.proxy.before_each_page(browser, script).await?;
    studio.make_room().await?;
    studio.reload().await
}

/// Guards against rows that go back into the table of a tab that does not lead, while the leader
/// sends them: sent from there once more, they would be paid twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_a_follower_gives_back_only_what_was_not_sent() {
    let name = "a_stop_in_a_follower";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open_hard_of_hearing(studio).await?;
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("halted", 25);
        browser.run("window.isDeaf = true", vec![]).await?;
        studio.send(&prompts).await?;
        // The leader is sending the second ten, and this tab does not know of any.
        studio.sees_calls(2).await?;
        studio.see_counts("25 queued").await?;
        studio.press_both("Stop sending", "Take them back").await?;
        for prompt in &prompts[20..] {
            studio.ledger.given_up.insert(prompt.clone());
        }
        browser.run("window.hearAgain()", vec![]).await?;
        browser.find(&by("button", "Generate 5")).await?;
        assert_eq!(studio.rows().await?, prompts[20..]);
        studio.proxy.clear();
        studio.see_counts("20 completed").await?;
        assert_eq!(studio.rows().await?, prompts[20..]);
        assert_eq!(studio.prompts_sent(), prompts[..20]);
        assert_eq!(studio.calls_of_tab().await?, 0, "the follower made calls");
        Ok(())
    })
    .await;
}

/// Guards against what was typed being lost with the tab in which Stop was pressed.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_closed_tab_has_stopped_can_be_had_in_another() {
    let name = "what_a_closed_tab_has_stopped";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        open_hard_of_hearing(studio).await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("left", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        browser.run("window.isDeaf = true", vec![]).await?;
        studio.press_both("Stop sending", "Take them back").await?;
        for prompt in &prompts[10..] {
            studio.ledger.given_up.insert(prompt.clone());
        }
        browser.switch_to(&leader).await?;
        let put_back = "Put the 15 taken back into the table";
        browser.find(&by("button", put_back)).await?;
        // Guards against `25 rows sent` while 15 of them wait to be put back.
        browser.see_text("25 rows in a batch", TIMEOUT).await?;
        assert_eq!(studio.rows().await?, [] as [&str; 0]);
        let all = browser.client.windows().await?;
        let closing = all.into_iter().find(|tab| *tab != leader);
        browser.switch_to(&closing.ok_or("no other tab")?).await?;
        browser.close_tab().await?;
        browser.switch_to(&leader).await?;
        studio.proxy.clear();
        // Nor are they lost with the leader's page.
        studio.see_counts("10 completed, 15 taken back").await?;
        studio.reload().await?;
        studio.press(put_back).await?;
        browser.find(&by("button", "Generate 15")).await?;
        assert_eq!(studio.rows().await?, prompts[10..]);
        browser.find_gone(&by("button", put_back)).await?;
        studio.see_counts("10 completed").await?;
        assert_eq!(studio.prompts_sent(), prompts[..10]);
        Ok(())
    })
    .await;
}

/// Guards against a batch that both tabs send, or none, and against a Pause that only the tab in
/// which it is pressed knows of.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_follower_is_sent_once_and_can_be_paused_there() {
    let name = "a_batch_of_a_follower";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let follower = studio.open_batch_tab().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("followed", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .see_text("Paused: 15 items not sent yet.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.sizes(), [10], "sent while paused");

        // The other tab shows the same, though it has not sent it.
        browser.switch_to(&leader).await?;
        studio.see_counts("10 completed, 15 queued").await?;
        assert!(studio.calls_of_tab().await? > 0, "the leader made no calls");
        browser.switch_to(&follower).await?;
        studio.press("Resume").await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.sizes(), [10, 10, 5]);
        assert_eq!(studio.prompts_sent(), prompts);
        assert_eq!(studio.calls_of_tab().await?, 0, "the follower made calls");
        Ok(())
    })
    .await;
}

/// Opens another tab that hears of nothing, and presses `Generate N` when [`press_in_deaf_tab`] tells it to.
pub async fn open_deaf_tab_that_presses(studio: &Studio<'_>, rows: usize) -> Result<()> {
    open_hard_of_hearing(studio).await?;
    let label = format!("Generate {rows}");
    studio.browser.find(&by("button", &label)).await?;
    let script = "
        const [label] = arguments;
        window.isDeaf = true;
        addEventListener('storage', ({ key }) => {
            if (key !== 'press' || window.hasPressed) return;
            window.hasPressed = true;
            const buttons = [...document.querySelectorAll('button')];
            buttons.find(it => it.textContent.trim() === label).click();
        })";
    studio.browser.run(script, vec![label.into()]).await?;
    Ok(())
}

/// From another tab.
async fn press_in_deaf_tab(studio: &Studio<'_>) -> Result<()> {
    let press = "localStorage.setItem('press', 'now'); localStorage.removeItem('press')";
    studio.browser.run(press, vec![]).await?;
    Ok(())
}

/// Sends the same rows in the first tab and in the deaf one, which is the present one: each is sent once.
pub async fn send_once_in_both(
    studio: &mut Studio<'_>,
    first: &WindowHandle,
    prompts: &[String],
) -> Result<()> {
    let browser = studio.browser;
    let deaf = browser.tab().await?;
    browser.switch_to(first).await?;
    studio.generate(prompts).await?;
    press_in_deaf_tab(studio).await?;
    browser.switch_to(&deaf).await?;
    browser.run("window.hearAgain()", vec![]).await?;
    let counts = format!("{} completed", prompts.len());
    studio.see_counts(&counts).await?;
    assert_eq!(studio.prompts_sent(), prompts);
    Ok(())
}

/// Guards against a batch that is paid twice: a second tab, which had not heard of it yet, sent the same rows.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_two_tabs_send_at_once_are_sent_once() {
    let name = "rows_that_two_tabs_send";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let prompts = numbered("in both", 12);
        studio.write(&prompts).await?;
        open_deaf_tab_that_presses(studio, 12).await?;
        send_once_in_both(studio, &first, &prompts).await
    })
    .await;
}

/// Guards against rows that are paid twice: a tab that had not heard of an edit sent its older rows in addition to the
/// newer ones. What differs is another row, and both were wanted.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_an_edit_left_alone_are_sent_once_by_two_tabs() {
    let name = "rows_that_an_edit_left_alone";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let old = numbered("edited", 12);
        studio.write(&old).await?;
        open_deaf_tab_that_presses(studio, 12).await?;
        let second = browser.client.window().await?;
        browser.switch_to(&first).await?;
        // Not written anew: that would be other rows.
        let field = browser.find(&by("textbox", "Prompts")).await?;
        field.send_keys(", changed").await?;
        let mut new = old.clone();
        new[11] += ", changed";
        studio.generate(&new).await?;
        press_in_deaf_tab(studio).await?;
        browser.switch_to(&second).await?;
        browser.run("window.hearAgain()", vec![]).await?;
        for last in [&old[11], &new[11]] {
            studio
                .sees(last, |calls| {
                    calls.iter().any(|call| call.prompts.contains(last))
                })
                .await?;
        }
        // The others are the first one's, and none of them was removed.
        studio.see_counts("1 completed").await?;
        let mut sent = studio.prompts_sent();
        sent.sort();
        let mut wanted = [new, vec![old[11].clone()]].concat();
        wanted.sort();
        assert_eq!(sent, wanted);
        Ok(())
    })
    .await;
}

/// Guards against rows that one tab puts back and another one's table takes the place of: their tasks are gone by
/// then.
#[tokio::test(flavor = "multi_thread")]
async fn what_two_tabs_put_back_at_once_is_all_there() {
    let name = "what_two_tabs_put_back";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        open_hard_of_hearing(studio).await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("parted", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        browser.run("window.isDeaf = true", vec![]).await?;
        studio.press_both("Stop sending", "Take them back").await?;
        browser.switch_to(&leader).await?;
        let all = "Put the 15 taken back into the table";
        browser.find(&by("button", all)).await?;
        let windows = browser.client.windows().await?;
        let closing = windows.into_iter().find(|tab| *tab != leader);
        browser.switch_to(&closing.ok_or("no other tab")?).await?;
        browser.close_tab().await?;
        browser.switch_to(&leader).await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 15 taken back").await?;

        // Another tab knows of one less, and hears nothing from now on.
        let forget = "
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
        browser.run(forget, vec![]).await?;
        open_hard_of_hearing(studio).await?;
        let other = browser.client.window().await?;
        let some = "Put the 14 taken back into the table";
        browser.find(&by("button", some)).await?;
        browser.run("window.isDeaf = true", vec![]).await?;
        browser.switch_to(&leader).await?;
        studio.press(all).await?;
        browser.find(&by("button", "Generate 15")).await?;
        browser.find_gone(&by("button", all)).await?;
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

/// Guards against a tab that hears of a batch before its tasks, and shows them without names from then on.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_another_tab_is_shown_whole() {
    visit(
        "a_batch_of_another_tab",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            let first = browser.client.window().await?;
            let second = studio.open_batch_tab().await?;
            browser.switch_to(&first).await?;
            studio.send(&numbered("heard", 2)).await?;
            studio.see_counts("2 completed").await?;
            browser.switch_to(&second).await?;
            browser
                .find(&by("button", "Item 2: heard 02, Completed"))
                .await?;
            browser.find(&by("button", "Explore")).await?;
            Ok(())
        },
    )
    .await;
}

/// Guards against a sweep that a second tab offers to send once more, and that it writes over with its own older one.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_begun_in_a_tab_is_that_tab_s() {
    visit("what_is_begun_in_a_tab", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let written = "return [...document.querySelectorAll('.sweep textarea')].map(it => it.value).join()";
        let first = browser.client.window().await?;
        let write = async |prompts: &str| {
            studio.choose("Sweep").await?;
            becomes(browser, "no values", written, "").await?;
            let axis = browser.find(&by("combobox", "Axis")).await?;
            axis.select_by_value("prompt").await?;
            browser.fill(&by("textbox", "Values"), prompts).await
        };
        write("dusk").await?;
        studio.choose("One").await?;
        studio.choose("Batch").await?;
        becomes(browser, "the sweep", written, "dusk").await?;
        let second = studio.open_batch_tab().await?;
        write("dawn").await?;
        browser.switch_to(&first).await?;
        studio.reload().await?;
        becomes(browser, "the sweep of this tab", written, "dusk").await?;
        browser.switch_to(&second).await?;
        studio.reload().await?;
        becomes(browser, "the sweep of the other tab", written, "dawn").await
    })
    .await;
}
