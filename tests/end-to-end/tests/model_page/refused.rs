//! Tests of requests that the service rejects, or would reject.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// Guards against a rejection that names a parameter without a mark in the form, with a Retry button that would be
/// rejected again.
#[tokio::test(flavor = "multi_thread")]
async fn parameter_named_in_rejection_is_marked() {
    run_steps("parameter_named_in_rejection_is_marked", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let rejection = Fault::StatusWithMessage {
            status: 422,
            message: "num_outputs must be at least 2".into(),
        };
        studio.proxy.add(Rule::next(1, "/v2/generate", rejection));
        studio.type_prompt("amber").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "1")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let marked = "
            const marked = [...document.querySelectorAll('.form [aria-invalid=true]')];
            return marked.map(it => it.closest('.field').querySelector('.problem').innerText).join()";
        let message = "The service refused it: num_outputs must be at least 2.";
        wait_for_value(browser, "the marked fields", marked, message).await?;
        let offered = "
            const buttons = [...document.querySelectorAll('.task-actions button')];
            return buttons.filter(it => it.checkVisibility()).map(it => it.innerText.trim()).slice(0, 2).join()";
        wait_for_value(browser, "the first actions", offered, "Edit,Remove").await?;
        browser.press(&by("link", "num_outputs")).await?;
        let at = "return document.activeElement === document.querySelector('.form [aria-invalid=true]')";
        wait_for_value(browser, "whether the marked field has the focus", at, true).await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "2")
            .await?;
        wait_for_value(browser, "the marked fields with another value", marked, "").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Completed", TIMEOUT).await
    })
    .await;
}

/// Guards against a prompt that is typed before the page shows that nothing can be sent, and against a message that
/// lists a setting that is already set.
#[tokio::test(flavor = "multi_thread")]
async fn account_requirement_is_shown_before_generate_is_pressed() {
    run_steps(
        "account_requirement_is_shown_before_generate_is_pressed",
        &[],
        async |studio| {
            let browser = studio.browser;
            let field = "guest".to_owned();
            let hide = Rule::every("/api/models", Fault::HideField { field });
            studio.proxy.add(hide);
            studio.open(MODEL).await?;
            let why = "return document.querySelector('.form .why')?.innerText.trim() ?? ''";
            let both = "Needs an account: User ID and Access token in Settings";
            wait_for_value(browser, "the missing settings", why, both).await?;
            browser.open(&studio.address("/settings")).await?;
            browser.fill(&by("textbox", "User ID"), "me").await?;
            browser.press(&by("button", "Save")).await?;
            browser.press(&by("link", "Models")).await?;
            studio.open(MODEL).await?;
            let token = "Needs an account: Access token in Settings";
            wait_for_value(browser, "the missing setting", why, token).await?;
            browser
                .fill(&starting("textbox", "prompt"), "amber")
                .await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .wait_for_text("Not sent. Access token is not set yet.", TIMEOUT)
                .await
        },
    )
    .await;
}

/// Guards against Retry as the first action when it would be rejected again: the fix is in Settings, or at the
/// service.
#[tokio::test(flavor = "multi_thread")]
async fn most_useful_action_after_rejection_comes_first() {
    run_steps("most_useful_action_after_rejection_comes_first", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let status = |status| Fault::Status {
            status,
            retry_after: None,
        };
        let offered = "
            const all = [...document.querySelectorAll('.task-actions :is(a, button)')];
            return all.filter(it => it.checkVisibility()).map(it => it.innerText.trim()).slice(0, 2).join()";
        studio.proxy.add(Rule::next(1, "/v2/generate", status(402)));
        studio.type_prompt("amber").await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the first actions", offered, "Retry,Edit").await?;
        browser
            .wait_for_text("Add some at the service, then retry.", TIMEOUT)
            .await?;
        studio.proxy.add(Rule::next(1, "/v2/generate", status(401)));
        // The same prompt again would count as a double click.
        studio.type_prompt("umber").await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the first actions", offered, "Open Settings,Retry").await?;
        // Guards against a message that names a page without a link to it.
        let result = browser.find(&by("region", "Result")).await?;
        let message = "Check User ID and Access token in Settings.";
        browser.wait_for_text(message, TIMEOUT).await?;
        browser
            .press(&by("link", "Settings").within(&result))
            .await?;
        browser.find(&by("heading", "Settings")).await?;
        Ok(())
    })
    .await;
}
