//! Exactly one tab leads, whatever the browser makes of locks.

use crate::studio::{Studio, TIMEOUT, play, play_without_keys};
use crate::tabs::{calls_of_tab, run_first};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, becomes, until};
use fantoccini::wd::WindowHandle;
use serde_json::json;
use std::time::Duration;

const REFUSED: &str = "
    LockManager.prototype.request = () =>
        Promise.reject(new DOMException('refused', 'SecurityError'))";

/// Guards against a page that waits for ever for a lock that it was refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_locks_are_refused_sends_all_the_same() {
    let name = "a_page_whose_locks_are_refused";
    play(name, &["--speed", "1"], async |studio| {
        run_first(studio, REFUSED).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "without locks").await?;
        studio.show_tasks().await?;
        studio.see(&[("without locks", "Completed")]).await
    })
    .await;
}

/// The present tab leads once the one that does is closed.
async fn takes_over(studio: &mut Studio<'_>, leader: &WindowHandle) -> Result<()> {
    let browser = studio.browser;
    let follower = browser.client.window().await?;
    browser.switch_to(leader).await?;
    browser.close_tab().await?;
    browser.switch_to(&follower).await?;
    let form = studio.open_model().await?;
    studio.generate(&form, "afterwards").await?;
    studio.show_tasks().await?;
    studio.see(&[("afterwards", "Completed")]).await
}

/// Guards against two tabs that both lead, one by the lock and one that was refused it.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_without_lock_follows_one_that_has_it() {
    let name = "a_tab_without_lock_follows_one_that_has_it";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_first(studio, REFUSED).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "of the follower").await?;
        studio.show_tasks().await?;
        studio.see(&[("of the follower", "Completed")]).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "both tabs lead");
        // And takes over when that one is closed.
        takes_over(studio, &leader).await
    })
    .await;
}

/// Guards against two tabs that both lead, and both send what is queued: on plain http in a local network
/// there are no locks, and the lease could not be written where `localStorage` was full.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_leads_without_locks_and_with_full_storage() {
    let name = "one_tab_leads_without_locks_and_with_full_storage";
    play_without_keys(name, &["--speed", "1"], async |studio| {
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
        run_first(studio, full).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "of the leader").await?;
        studio.accepted(1).await?;
        browser.open_tab("about:blank").await?;
        browser.set_size(1280, 4000).await?;
        run_first(studio, full).await?;
        let form = studio.open_model().await?;
        for n in 1..=3 {
            let prompt = format!("of the follower {n}");
            studio.generate(&form, &prompt).await?;
            studio.accepted(n + 1).await?;
        }
        studio.show_tasks().await?;
        studio.settled().await?;
        for n in 1..=3 {
            assert_eq!(
                studio.sent(&format!("of the follower {n}")),
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
        // And takes over when that one is closed.
        takes_over(studio, &leader).await
    })
    .await;
}

/// Guards against `Waiting to be sent.` for as long as the browser has stopped the tab that leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_the_browser_freezes_leaves_leading_to_another() {
    let name = "a_tab_that_the_browser_freezes";
    play_without_keys(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        let frozen = browser.client.window().await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "before").await?;
        studio.accepted(1).await?;
        let other = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        let form = studio.form().await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "both tabs lead");

        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "frozen").await?;
        browser.switch_to(&other).await?;
        studio.generate(&form, "meanwhile").await?;
        studio.show_tasks().await?;
        studio
            .see(&[("before", "Completed"), ("meanwhile", "Completed")])
            .await?;
        assert!(calls_of_tab(studio).await? > 0, "it did not lead");

        browser.switch_to(&frozen).await?;
        set_lifecycle(browser, "active").await?;
        let form = studio.form().await?;
        studio.generate(&form, "afterwards").await?;
        studio.show_tasks().await?;
        studio
            .see(&[("meanwhile", "Completed"), ("afterwards", "Completed")])
            .await?;
        for prompt in ["before", "meanwhile", "afterwards"] {
            assert_eq!(studio.sent(prompt), 1, "{prompt}");
        }
        Ok(())
    })
    .await;
}

/// Guards against a paid task that no tab follows: a tab that was asleep gets the answer to what was given up and sent
/// once more in another.
#[tokio::test(flavor = "multi_thread")]
async fn the_answer_that_a_sleeping_tab_gets_after_resubmit_is_a_task_of_its_own() {
    let name = "the_answer_that_a_sleeping_tab_gets";
    play_without_keys(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        let asleep = browser.client.window().await?;
        let form = studio.open_model().await?;
        let held = Rule::next(1, "/v2/generate", Fault::Hold);
        studio.proxy.add(held);
        studio.press_generate(&form, "twice").await?;
        browser.see_text("Sending the request", TIMEOUT).await?;
        let other = studio.open_tab("/tasks").await?;
        browser.set_size(1280, 4000).await?;
        browser.switch_to(&asleep).await?;
        set_lifecycle(browser, "frozen").await?;
        browser.switch_to(&other).await?;
        studio.see(&[("twice", "Unconfirmed")]).await?;
        studio.resubmit("twice").await?;
        studio.see(&[("twice", "Completed")]).await?;
        browser.press(&by("link", "twice")).await?;

        studio.proxy.clear();
        studio.accepted(2).await?;
        browser.switch_to(&asleep).await?;
        set_lifecycle(browser, "active").await?;
        browser.switch_to(&other).await?;
        let beside = by("link", "Another submission");
        browser.press(&beside).await?;
        let is_there = "return location.pathname.endsWith('.late')";
        becomes(browser, "its page", is_there, true).await?;
        browser.find(&beside).await?;
        browser.see_text("Completed", TIMEOUT).await?;
        // The ledger knows tasks by their prompts.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.switch_to(&asleep).await?;
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

async fn is_set(browser: &Browser, flag: &str) -> Result<()> {
    until(flag, TIMEOUT, async || {
        let script = format!("return !!window.{flag}");
        Ok(if browser.run(&script, vec![]).await? == json!(true) {
            Seen::Yes(())
        } else {
            Seen::NotYet("not yet".into())
        })
    })
    .await
}

/// Guards against a tab that lost the lease while it read the records, and led afterwards: it sent
/// what the new leader had sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_loses_the_lease_while_it_reads_does_not_lead_afterwards() {
    let name = "a_tab_that_loses_the_lease_while_it_reads";
    play(name, &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(600)),
        };
        let first = browser.client.window().await?;
        run_first(studio, REFUSED).await?;
        studio.proxy.control_clock(browser).await?;
        let form = studio.open_model().await?;
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "queued").await?;
        browser
            .see_text("Rate-limited, next try in ", TIMEOUT)
            .await?;

        // The second time that this tab reads the tasks is when it begins to lead. It is stalled there,
        // and does not renew the lease, until another tab has sent what is queued.
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
        run_first(studio, REFUSED).await?;
        studio.proxy.control_clock(browser).await?;
        run_first(studio, stall).await?;
        studio.open_tasks().await?;
        // On the page's origin, but not the page, and no JSON, for which Firefox has a page of its own: it can
        // see the lease.
        let third = studio.open_tab("/__first.js").await?;
        browser.set_size(1280, 4000).await?;
        run_first(studio, REFUSED).await?;
        studio.proxy.control_clock(browser).await?;
        browser.switch_to(&first).await?;
        browser.close_tab().await?;
        browser.switch_to(&third).await?;
        let lapsed = "
            const lease = localStorage.getItem('atelier.leader');
            return !!lease && Number(lease.split(' ')[1]) < Date.now()";
        until("the second tab to stall", TIMEOUT, async || {
            let stalls = !studio.proxy.calls_to("/stalls").is_empty();
            Ok(
                if stalls && browser.run(lapsed, vec![]).await? == json!(true) {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("it stalls: {stalls}, its lease still holds"))
                },
            )
        })
        .await?;
        studio.open_tasks().await?;
        let over = Duration::from_secs(600);
        studio.proxy.advance_clock(browser, over).await?;
        studio.see(&[("queued", "Completed")]).await?;
        assert!(
            calls_of_tab(studio).await? > 0,
            "the third tab did not lead"
        );

        browser.switch_to(&second).await?;
        is_set(browser, "hasStalled").await?;
        studio.see(&[("queued", "Completed")]).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "it led all the same");
        assert_eq!(studio.sent("queued"), 2, "refused, and once more");
        browser.switch_to(&third).await
    })
    .await;
}

/// Guards against two tabs that both lead: once a person has cleared the site's data, the browser
/// gives the lock once more, to the next page, and what a third tab submitted was sent, and paid,
/// twice.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_leads_after_the_sites_data_was_cleared() {
    let name = "one_tab_leads_after_the_sites_data_was_cleared";
    play_without_keys(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let form = studio.form().await?;
        studio.generate(&form, "before").await?;
        studio.accepted(1).await?;
        let follower = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        studio.form().await?;
        studio.proxy.clear_site(browser).await?;
        studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        studio.form().await?;
        // Until it has had its first turn to renew the lease.
        let lease = "return localStorage.getItem('atelier.leader') !== null";
        until("a tab to lead", TIMEOUT, async || {
            Ok(if browser.run(lease, vec![]).await? == json!(true) {
                Seen::Yes(())
            } else {
                Seen::NotYet("nobody does".into())
            })
        })
        .await?;
        browser.switch_to(&follower).await?;
        let form = studio.form().await?;
        for n in 1..=3 {
            let prompt = format!("after {n}");
            studio.generate(&form, &prompt).await?;
            studio.accepted(n + 1).await?;
        }
        studio.show_tasks().await?;
        studio.settled().await?;
        for n in 1..=3 {
            assert_eq!(studio.sent(&format!("after {n}")), 1, "sent by two tabs");
        }
        Ok(())
    })
    .await;
}
