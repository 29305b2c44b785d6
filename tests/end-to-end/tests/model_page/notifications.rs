//! Tests of the offer of notifications at a slow task.

use std::time::Duration;

use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

use crate::studio::{MODEL, TIMEOUT, run_steps};

/// A fake `Notification` whose permission is undecided, and is granted on request.
const UNDECIDED: &str = "
    window.Notification = class {
        static permission = 'default';
        static async requestPermission() {
            window.requested = true;
            return (this.permission = 'granted');
        }
    }";

/// Guards against notifications that are only offered in Settings, and against a permission request without a user
/// action.
#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_offered_for_slow_task() {
    run_steps(
        "notifications_are_offered_for_slow_task",
        &[],
        async |studio| {
            let browser = studio.browser;
            studio.proxy.before_each_page(browser, UNDECIDED).await?;
            studio.stop_clock().await?;
            // The task runs as long as its polls are held.
            studio.proxy.add(Rule::every("/v2/status*", Fault::Hold));
            studio.type_prompt("a slow window").await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .wait_for_text("You can close this page.", TIMEOUT)
                .await?;
            let offers = "return document.querySelectorAll('.notification-offer').length";
            studio.advance_clock(Duration::from_secs(15)).await?;
            wait_for_value(browser, "offers after 15 s", offers, 0).await?;
            studio
                .proxy
                .advance_clock_by_seconds(browser, Duration::from_secs(8))
                .await?;
            browser
                .wait_for_text("This takes a while. Get a notification if", TIMEOUT)
                .await?;
            let requested = "return Boolean(window.requested)";
            wait_for_value(
                browser,
                "whether the browser has requested",
                requested,
                false,
            )
            .await?;
            browser.press(&by("button", "Notify me")).await?;
            wait_for_value(
                browser,
                "whether the browser has requested",
                requested,
                true,
            )
            .await?;
            wait_for_value(browser, "offers after the answer", offers, 0).await?;
            // Settings shows the same choice.
            browser.open(&studio.address("/settings")).await?;
            let label = "Notify me when a task ends while this page is hidden";
            browser.find(&by("checkbox", label)).await?;
            let ticked = "return document.querySelector('#notify').checked";
            wait_for_value(browser, "the setting", ticked, true).await?;
            studio.proxy.clear();
            browser.open(&studio.address(MODEL)).await
        },
    )
    .await;
}
