//! Exactly one tab leads, even if locks are missing, refused or granted twice.

use crate::studio::{Studio, TIMEOUT, run_until_settled, run_without_keys_until_settled};
use crate::tabs::{calls_of_tab, run_before_each_page};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use fantoccini::wd::WindowHandle;
use serde_json::json;
use std::time::Duration;

/// Makes the browser refuse every lock.
const REFUSE_LOCKS: &str = "
    LockManager.prototype.request = () =>
        Promise.reject(new DOMException('refused', 'SecurityError'))";

/// Guards against a page that waits forever for a lock that was refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_locks_are_refused_sends_its_tasks() {
    let name = "a_page_whose_locks_are_refused_sends_its_tasks";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        run_before_each_page(studio, REFUSE_LOCKS).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "without locks").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("without locks", "Completed")])
            .await
    })
    .await;
}

/// Closes the leading tab and checks that the current tab completes a task.
async fn check_takeover(studio: &mut Studio<'_>, leader: &WindowHandle) -> Result<()> {
    let browser = studio.browser;
    let follower = browser.client.window().await?;
    browser.switch_to(leader).await?;
    browser.close_tab().await?;
    browser.switch_to(&follower).await?;
    let form = studio.open_model().await?;
    studio.generate(&form, "afterwards").await?;
    studio.show_tasks().await?;
    studio.wait_for_states(&[("afterwards", "Completed")]).await
}

/// Guards against two tabs that both lead: one holds the lock, the other was refused it.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_without_lock_follows_the_tab_that_holds_it() {
    let name = "a_tab_without_lock_follows_the_tab_that_holds_it";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, REFUSE_LOCKS).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "of the follower").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("of the follower", "Completed")])
            .await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "both tabs lead");
        // The follower takes over when the leader is closed.
        check_takeover(studio, &leader).await
    })
    .await;
}

/// Guards against two tabs that both lead and both send what is queued. Browsers have no locks on plain http in a local
/// network, and the lease could not be written while `localStorage` was full.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_leads_without_locks_and_with_full_storage() {
    let name = "one_tab_leads_without_locks_and_with_full_storage";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let full = "
            delete Navigator.prototype.locks;
            let filler = localStorage.getItem('filler') ?? '';
            for (let size = 1 << 20; size >= 1; ) {
                try {
                    localStorage.setItem('filler', filler + 'x'.repeat(size));
                    filler += 'x'.repeat(size);
                } catch {
                    size >>= 1;
                }
            }";
        let leader = browser.client.window().await?;
        run_before_each_page(studio, full).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "of the leader").await?;
        studio.wait_for_accepted(1).await?;
        browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, full).await?;
        let form = studio.open_model().await?;
        for n in 1..=3 {
            let prompt = format!("of the follower {n}");
            studio.generate(&form, &prompt).await?;
            studio.wait_for_accepted(n + 1).await?;
        }
        studio.show_tasks().await?;
        studio.wait_until_settled().await?;
        for n in 1..=3 {
            assert_eq!(
                studio.times_sent(&format!("of the follower {n}")),
                1,
                "sent by two tabs"
            );
        }
        assert_eq!(calls_of_tab(studio).await?, 0, "both tabs lead");
        let is_full = "
            try {
                localStorage.setItem('more', 'x'.repeat(64));
                return false;
            } catch {
                return true;
            }";
        assert_eq!(browser.run(is_full, vec![]).await?, json!(true));
        // The follower takes over when the leader is closed.
        check_takeover(studio, &leader).await
    })
    .await;
}

/// Guards against tasks that are queued for as long as the browser has frozen the leading tab.
#[tokio::test(flavor = "multi_thread")]
async fn another_tab_leads_while_the_leader_is_frozen() {
    let name = "another_tab_leads_while_the_leader_is_frozen";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        let frozen = browser.client.window().await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "before").await?;
        studio.wait_for_accepted(1).await?;
        let other = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        let form = studio.find_form().await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "both tabs lead");

        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "frozen").await?;
        browser.switch_to(&other).await?;
        studio.generate(&form, "meanwhile").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("before", "Completed"), ("meanwhile", "Completed")])
            .await?;
        assert!(
            calls_of_tab(studio).await? > 0,
            "the second tab did not lead"
        );

        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "active").await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "afterwards").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("meanwhile", "Completed"), ("afterwards", "Completed")])
            .await?;
        for prompt in ["before", "meanwhile", "afterwards"] {
            assert_eq!(studio.times_sent(prompt), 1, "{prompt}");
        }
        Ok(())
    })
    .await;
}

/// Guards against a paid task that no tab polls: a frozen tab receives the response to a submission that was resubmitted
/// in another tab in the meantime.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_a_frozen_tab_receives_after_resubmit_is_a_separate_task() {
    let name = "a_response_that_a_frozen_tab_receives_after_resubmit_is_a_separate_task";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        let frozen = browser.client.window().await?;
        let form = studio.open_model().await?;
        let hold = Rule::next(1, "/v2/generate", Fault::Hold);
        studio.proxy.add(hold);
        studio.press_generate(&form, "twice").await?;
        browser
            .wait_for_text("Sending the request", TIMEOUT)
            .await?;
        let other = studio.open_tab("/tasks").await?;
        browser.set_size(1280, 4000).await?;
        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "frozen").await?;
        browser.switch_to(&other).await?;
        studio.wait_for_states(&[("twice", "Unconfirmed")]).await?;
        studio.resubmit("twice").await?;
        studio.wait_for_states(&[("twice", "Completed")]).await?;
        browser.press(&by("link", "twice")).await?;

        studio.proxy.clear();
        studio.wait_for_accepted(2).await?;
        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "active").await?;
        browser.switch_to(&other).await?;
        let other_submission = by("link", "Another submission");
        browser.press(&other_submission).await?;
        let is_open = "return location.pathname.endsWith('.late')";
        wait_for_value(browser, "the late task's page", is_open, true).await?;
        browser.find(&other_submission).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        // The ledger identifies tasks by their prompts, so the second task with this prompt is removed.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.switch_to(&frozen).await?;
        browser.close_tab().await?;
        browser.switch_to(&other).await
    })
    .await;
}

async fn set_lifecycle(browser: &Browser, state: &str) -> Result<()> {
    let state = json!({ "state": state });
    browser.devtools("Page.setWebLifecycleState", state).await?;
    Ok(())
}

/// Waits until a property of `window` is true.
async fn wait_for_flag(browser: &Browser, flag: &str) -> Result<()> {
    until(flag, TIMEOUT, async || {
        let script = format!("return !!window.{flag}");
        Ok(if browser.run(&script, vec![]).await? == json!(true) {
            Seen::Yes(())
        } else {
            Seen::NotYet("it is not set".into())
        })
    })
    .await
}

/// Guards against a tab that leads although it lost the lease while it read the records: it sent again what the new leader
/// had sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_loses_the_lease_while_it_reads_records_does_not_lead() {
    let name = "a_tab_that_loses_the_lease_while_it_reads_records_does_not_lead";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(600)),
        };
        let first = browser.client.window().await?;
        run_before_each_page(studio, REFUSE_LOCKS).await?;
        studio.proxy.control_clock(browser).await?;
        let form = studio.open_model().await?;
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "queued").await?;
        browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;

        // This tab reads the tasks for the second time when it starts to lead. The script blocks it at that point, so that
        // it can't renew the lease, until another tab has sent the queued task.
        let stall = "
            let readings = 0;
            const sent = () => {
                const request = new XMLHttpRequest();
                request.open('GET', '/__counts', false);
                request.send();
                return JSON.parse(request.responseText).counts['/v2/generate'];
            };
            const begin = IDBDatabase.prototype.transaction;
            IDBDatabase.prototype.transaction = function (stores, mode, ...more) {
                const reads = mode === 'readonly' && [stores].flat().includes('tasks');
                if (reads && ++readings === 2) {
                    const request = new XMLHttpRequest();
                    request.open('GET', '/stalls', false);
                    request.send();
                    const end = performance.now() + 60000;
                    while (sent() < 2 && performance.now() < end);
                    window.hasStalled = true;
                }
                return begin.call(this, stores, mode, ...more);
            };";
        let second = browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, REFUSE_LOCKS).await?;
        studio.proxy.control_clock(browser).await?;
        run_before_each_page(studio, stall).await?;
        studio.open_tasks().await?;
        // Opens a script of the page's origin, where the lease can be read without running the page. JSON would not
        // do, since Firefox shows it in its own viewer.
        let third = studio.open_tab("/__first.js").await?;
        browser.set_size(1280, 4000).await?;
        run_before_each_page(studio, REFUSE_LOCKS).await?;
        studio.proxy.control_clock(browser).await?;
        browser.switch_to(&first).await?;
        browser.close_tab().await?;
        browser.switch_to(&third).await?;
        let has_expired = "
            const lease = localStorage.getItem('atelier.leader');
            return !!lease && Number(lease.split(' ')[1]) < Date.now()";
        until("the second tab to stall", TIMEOUT, async || {
            let stalls = !studio.proxy.calls_to("/stalls").is_empty();
            Ok(
                if stalls && browser.run(has_expired, vec![]).await? == json!(true) {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("stalled: {stalls}, its lease is still valid"))
                },
            )
        })
        .await?;
        studio.open_tasks().await?;
        let retry_after = Duration::from_secs(600);
        studio.proxy.advance_clock(browser, retry_after).await?;
        studio.wait_for_states(&[("queued", "Completed")]).await?;
        assert!(
            calls_of_tab(studio).await? > 0,
            "the third tab did not lead"
        );

        browser.switch_to(&second).await?;
        wait_for_flag(browser, "hasStalled").await?;
        studio.wait_for_states(&[("queued", "Completed")]).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the second tab led");
        assert_eq!(studio.times_sent("queued"), 2, "one refused, one accepted");
        browser.switch_to(&third).await
    })
    .await;
}

/// Guards against two tabs that both lead after the user has cleared the site's data: the browser grants the lock again, to
/// the next page. Tasks that a third tab submitted were sent and paid for twice.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_leads_after_site_data_is_cleared() {
    let name = "one_tab_leads_after_site_data_is_cleared";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let form = studio.find_form().await?;
        studio.generate(&form, "before").await?;
        studio.wait_for_accepted(1).await?;
        let follower = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        studio.find_form().await?;
        studio.proxy.clear_site(browser).await?;
        studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        studio.find_form().await?;
        // Wait until the new tab has renewed the lease for the first time.
        let lease = "return localStorage.getItem('atelier.leader') !== null";
        until("a tab to lead", TIMEOUT, async || {
            Ok(if browser.run(lease, vec![]).await? == json!(true) {
                Seen::Yes(())
            } else {
                Seen::NotYet("no tab has the lease".into())
            })
        })
        .await?;
        browser.switch_to(&follower).await?;
        let form = studio.find_form().await?;
        for n in 1..=3 {
            let prompt = format!("after {n}");
            studio.generate(&form, &prompt).await?;
            studio.wait_for_accepted(n + 1).await?;
        }
        studio.show_tasks().await?;
        studio.wait_until_settled().await?;
        for n in 1..=3 {
            assert_eq!(
                studio.times_sent(&format!("after {n}")),
                1,
                "sent by two tabs"
            );
        }
        Ok(())
    })
    .await;
}
