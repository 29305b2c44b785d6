//! Several tabs: one makes the calls, all show the current states.

use crate::studio::{Studio, TIMEOUT, run_until_settled};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until, wait_for_match, wait_for_value};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns the number of API calls that the current tab has made since it was loaded, from the browser's resource timing.
pub async fn calls_of_tab(studio: &Studio<'_>) -> Result<u64> {
    let script = "
        return performance.getEntriesByType('resource')
            .filter(entry => new URL(entry.name).pathname.startsWith('/v2/')).length";
    let count = studio.browser.run(script, vec![]).await?;
    count.as_u64().ok_or_else(|| "not a number".into())
}

/// Waits until the current tab makes calls.
async fn wait_until_tab_calls(studio: &Studio<'_>) -> Result<()> {
    until("this tab to make calls", TIMEOUT, async || {
        Ok(match calls_of_tab(studio).await? {
            0 => Seen::NotYet("it makes none".into()),
            _ => Seen::Yes(()),
        })
    })
    .await
}

/// Guards against a task of a following tab that is never sent, and against rows that a second tab sends again. Without
/// BroadcastChannel, the tabs did not receive each other's messages.
#[tokio::test(flavor = "multi_thread")]
async fn tabs_exchange_messages_without_broadcast_channel() {
    let name = "tabs_exchange_messages_without_broadcast_channel";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        // Only the expected storage key may carry messages between tabs: messages with a token must not be stored.
        let script = "
            delete window.BroadcastChannel;
            window.letters = new Set();
            const setItem = Storage.prototype.setItem;
            Storage.prototype.setItem = function (key, text) {
                if (key.startsWith('atelier.letter')) window.letters.add(key);
                return setItem.call(this, key, text);
            };";
        studio.proxy.before_each_page(browser, script).await?;
        studio.browser.reload().await?;
        let leader = browser.client.window().await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "of the leader").await?;
        studio.open_model_tab().await?;
        studio.proxy.before_each_page(browser, script).await?;
        browser.reload().await?;
        let has_no_channel = browser
            .run("return !('BroadcastChannel' in window)", vec![])
            .await?;
        assert_eq!(has_no_channel, json!(true));
        let form = studio.find_form().await?;
        studio.generate(&form, "of the follower").await?;
        let letters = browser
            .run("return [...window.letters].sort()", vec![])
            .await?;
        assert_eq!(letters, json!(["atelier.letter.atelier"]));
        let completed = [
            ("of the leader", "Completed"),
            ("of the follower", "Completed"),
        ];
        studio.open_tasks().await?;
        studio.wait_for_states(&completed).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");
        browser.switch_to(&leader).await?;
        studio.open_tasks().await?;
        studio.wait_for_states(&completed).await
    })
    .await;
}

/// Guards against a task that is polled or submitted by two tabs.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_makes_the_calls_and_the_others_follow() {
    let name = "one_tab_makes_the_calls_and_the_others_follow";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "of the leader").await?;

        let follower = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "of the follower").await?;
        studio.open_tasks().await?;
        studio
            .wait_for_states(&[
                ("of the leader", "Completed"),
                ("of the follower", "Completed"),
            ])
            .await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");

        // A following tab also shows tasks that arrive while it is open.
        browser.switch_to(&leader).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "shown live").await?;
        browser.switch_to(&follower).await?;
        studio
            .wait_for_states(&[("shown live", "Completed")])
            .await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");
        browser.switch_to(&leader).await?;
        wait_until_tab_calls(studio).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await
    })
    .await;
}

/// Guards against a list of tasks whose rows are all rebuilt when a task arrives: the focus was lost, and the rows on the
/// screen moved down by one.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_from_another_tab_moves_neither_the_focus_nor_the_rows_on_the_screen() {
    let name = "a_task_from_another_tab";
    run_until_settled(name, &["--speed", "0.1"], async |studio| {
        const COUNT: usize = 12;
        let browser = studio.browser;
        let list = browser.client.window().await?;
        let form = studio.find_form().await?;
        for number in 1..=COUNT {
            studio.generate(&form, &format!("number {number}")).await?;
        }
        studio.show_tasks().await?;
        browser.set_size(1280, 700).await?;
        browser.find(&by("link", "number 4")).await?;
        let focus = "
            scrollTo(0, 300);
            window.focused = [...document.querySelectorAll('article a')].find(it => it.innerText === 'number 4');
            focused.focus({ preventScroll: true });";
        browser.run(focus, vec![]).await?;
        let scrolled = "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
        browser.run(scrolled, vec![]).await?;
        let top = "return Math.round(focused.getBoundingClientRect().top)";
        let before = browser.run(top, vec![]).await?;

        studio.open_model_tab().await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "from another tab").await?;
        browser.close_tab().await?;
        browser.switch_to(&list).await?;
        let size = "return document.querySelector('.task-rows li').ariaSetSize";
        wait_for_value(browser, "the number of tasks", size, (COUNT + 1).to_string()).await?;
        let is_focused = "return document.activeElement === window.focused && focused.isConnected";
        assert_eq!(browser.run(is_focused, vec![]).await?, json!(true));
        // The page scrolls by whole pixels.
        let is_same = |top: &Value| {
            let moved = top.as_f64().zip(before.as_f64());
            moved.is_some_and(|(top, before)| (top - before).abs() <= 1.0)
        };
        wait_for_match(browser, "the top of the focused row", top, is_same).await?;
        browser.set_size(1280, 4000).await
    })
    .await;
}

/// Guards against tasks that no tab polls any more because the leading tab was closed.
#[tokio::test(flavor = "multi_thread")]
async fn another_tab_polls_after_the_leader_is_closed() {
    let name = "another_tab_polls_after_the_leader_is_closed";
    run_until_settled(name, &["--speed", "4"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let follower = studio.open_tab("/tasks").await?;
        browser.set_size(1280, 4000).await?;
        browser.switch_to(&leader).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "left behind").await?;
        studio.generate(&form, "left behind too").await?;
        studio.wait_for_accepted(2).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        wait_until_tab_calls(studio).await?;
        studio
            .wait_for_states(&[
                ("left behind", "Completed"),
                ("left behind too", "Completed"),
            ])
            .await
    })
    .await;
}

/// Runs a script in each page that the current tab loads from now on, before the page's own scripts.
pub async fn run_before_each_page(studio: &Studio<'_>, script: &str) -> Result<()> {
    studio.proxy.before_each_page(studio.browser, script).await
}

/// Guards against a new tab that writes back records that it has just read: it could overwrite the id of a task that the
/// leader has stored in between, and after a crash a paid task would be Unconfirmed.
#[tokio::test(flavor = "multi_thread")]
async fn a_following_tab_that_only_shows_tasks_writes_nothing() {
    let name = "a_following_tab_that_only_shows_tasks_writes_nothing";
    run_until_settled(name, &["--speed", "2"], async |studio| {
        let form = studio.find_form().await?;
        studio.generate(&form, "looked at").await?;
        studio.browser.open_tab("about:blank").await?;
        studio.browser.set_size(1280, 4000).await?;
        let script = "
            window.writes = 0;
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...record) {
                // Thumbnails are in another database, and any tab that shows them writes them.
                if (this.transaction.db.name === 'atelier') window.writes += 1;
                return put.apply(this, record);
            };";
        run_before_each_page(studio, script).await?;
        studio.open_tasks().await?;
        studio
            .wait_for_states(&[("looked at", "Completed")])
            .await?;
        let writes = studio.browser.run("return window.writes", vec![]).await?;
        assert_eq!(writes, json!(0));
        Ok(())
    })
    .await;
}

/// Guards against a tab that lost the lease while it was stalled and sends again what the new leader has sent. Browsers
/// have no locks on plain http in a local network, so the lease decides which tab leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_leader_without_locks_sends_nothing_afterwards() {
    let name = "a_stalled_leader_without_locks_sends_nothing_afterwards";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        let without_locks = "delete Navigator.prototype.locks";
        let leader = browser.client.window().await?;
        run_before_each_page(studio, without_locks).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "of the leader").await?;
        wait_until_tab_calls(studio).await?;

        let follower = browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, without_locks).await?;
        studio.open_tasks().await?;

        browser.switch_to(&leader).await?;
        let form = studio.find_form().await?;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(15)),
        };
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "queued in both").await?;
        browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;
        let stall = "
            setTimeout(() => {
                const end = Date.now() + 40000;
                while (Date.now() < end);
                window.hasStalled = true;
            })";
        browser.run(stall, vec![]).await?;
        browser.switch_to(&follower).await?;
        studio
            .wait_for_states(&[("queued in both", "Completed")])
            .await?;
        assert!(calls_of_tab(studio).await? > 0, "the follower did not lead");

        browser.switch_to(&leader).await?;
        until("the stall to end", TIMEOUT, async || {
            let ended = browser.run("return !!window.hasStalled", vec![]).await?;
            Ok(if ended == json!(true) {
                Seen::Yes(())
            } else {
                Seen::NotYet("it continues".into())
            })
        })
        .await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("queued in both", "Completed")])
            .await?;
        assert_eq!(
            studio.times_sent("queued in both"),
            2,
            "one refused, one accepted"
        );
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent and paid for although the user has cancelled it. The leading tab had crashed, no tab
/// received the message about the cancellation, and the tab in which Cancel was pressed leads next.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_cancelled_while_no_tab_leads_is_not_sent() {
    let name = "a_task_cancelled_while_no_tab_leads_is_not_sent";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        // Without locks, since a lock of a crashed tab is free at once.
        let without_locks = "delete Navigator.prototype.locks";
        let leader = browser.client.window().await?;
        run_before_each_page(studio, without_locks).await?;
        studio.proxy.control_clock(browser).await?;
        let form = studio.open_model().await?;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(600)),
        };
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "cancelled").await?;
        studio.ledger.exempt_prompts.insert("cancelled".into());
        browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;

        let follower = browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, without_locks).await?;
        studio.proxy.control_clock(browser).await?;
        studio.open_tasks().await?;
        browser.press(&by("link", "cancelled")).await?;
        let cancel = browser.find(&by("button", "Cancel")).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");

        browser.switch_to(&leader).await?;
        browser.crash().await?;
        browser.switch_to(&follower).await?;
        cancel.click().await?;
        browser.wait_until_gone(&by("button", "Cancel")).await?;
        // The rate limit is over, and a later task is sent.
        let retry_after = Duration::from_secs(600);
        studio.proxy.advance_clock(browser, retry_after).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "afterwards").await?;
        studio.wait_for_accepted(1).await?;
        assert_eq!(
            studio.times_sent("cancelled"),
            1,
            "sent again after it was refused"
        );
        Ok(())
    })
    .await;
}
