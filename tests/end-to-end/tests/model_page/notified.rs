//! Notifications are offered next to a task that takes long.

use std::time::Duration;

use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;

use crate::studio::{MODEL, TIMEOUT, play};

/// A browser that has not been told yet, and whose person allows it.
const UNDECIDED: &str = "
    window.Notification = class {
        static permission = 'default';
        static async requestPermission() {
            window.asked = true;
            return (this.permission = 'granted');
        }
    }";

/// Guards against notifications that only those find who look through Settings, and a question of the browser that no
/// person has asked for.
#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_offered_next_to_a_task_that_takes_long() {
    play("notifications_are_offered", &[], async |studio| {
        let browser = studio.browser;
        studio.proxy.before_each_page(browser, UNDECIDED).await?;
        studio.stop_clock().await?;
        studio.proxy.add(Rule::every("/v2/status*", Fault::Hold));
        studio.type_prompt("a slow window").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .see_text("You can close this page.", TIMEOUT)
            .await?;
        let offers = "return document.querySelectorAll('.notification-offer').length";
        studio.advance_clock(Duration::from_secs(15)).await?;
        becomes(browser, "offers after 15 s", offers, 0).await?;
        studio
            .proxy
            .let_pass(browser, Duration::from_secs(8))
            .await?;
        browser
            .see_text("This takes a while. Get a notification if", TIMEOUT)
            .await?;
        let asked = "return Boolean(window.asked)";
        becomes(browser, "whether the browser has asked", asked, false).await?;
        browser.press(&by("button", "Notify me")).await?;
        becomes(browser, "whether the browser has asked", asked, true).await?;
        becomes(browser, "offers once it is answered", offers, 0).await?;
        // It is what Settings has.
        browser.open(&studio.address("/settings")).await?;
        let label = "Notify me when a task ends while this page is hidden";
        browser.find(&by("checkbox", label)).await?;
        let ticked = "return document.querySelector('#notify').checked";
        becomes(browser, "the setting", ticked, true).await?;
        studio.proxy.clear();
        browser.open(&studio.address(MODEL)).await
    })
    .await;
}
