//! What the service refuses, and what it would refuse.

use crate::studio::{MODEL, TIMEOUT, play};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// Guards against a refusal that names a parameter, of which the form shows nothing, next to a Retry that is refused
/// again.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_refuses_is_marked_where_it_stands() {
    play("what_the_service_refuses", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let says = Fault::Says {
            status: 422,
            message: "num_outputs must be at least 2".into(),
        };
        studio.proxy.add(Rule::next(1, "/v2/generate", says));
        studio.type_prompt("amber").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "1")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let marked = "
            const marked = [...document.querySelectorAll('.form [aria-invalid=true]')];
            return marked.map(it => it.closest('.field').querySelector('.problem').innerText).join()";
        let said = "The service refused it: num_outputs must be at least 2.";
        becomes(browser, "what is marked", marked, said).await?;
        let offered = "
            const buttons = [...document.querySelectorAll('.task-actions button')];
            return buttons.filter(it => it.checkVisibility()).map(it => it.innerText.trim()).slice(0, 2).join()";
        becomes(browser, "what comes first", offered, "Edit,Remove").await?;
        browser.press(&by("link", "num_outputs")).await?;
        let at = "return document.activeElement === document.querySelector('.form [aria-invalid=true]')";
        becomes(browser, "whether the focus is there", at, true).await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "2")
            .await?;
        becomes(browser, "what is marked of another value", marked, "").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.see_text("Completed", TIMEOUT).await
    })
    .await;
}

/// Guards against a prompt that is written before the page says that nothing can be sent, and against a person who
/// looks for what is set already.
#[tokio::test(flavor = "multi_thread")]
async fn that_an_account_is_needed_is_said_before_the_press() {
    play("that_an_account_is_needed", &[], async |studio| {
        let browser = studio.browser;
        let field = "guest".to_owned();
        let hide = Rule::every("/api/models", Fault::HideField { field });
        studio.proxy.add(hide);
        studio.open(MODEL).await?;
        let why = "return document.querySelector('.form .why')?.innerText.trim() ?? ''";
        let both = "Needs an account: User ID and Access token in Settings";
        becomes(browser, "what is needed", why, both).await?;
        browser.open(&studio.address("/settings")).await?;
        browser.fill(&by("textbox", "User ID"), "me").await?;
        browser.press(&by("button", "Save")).await?;
        browser.press(&by("link", "Models")).await?;
        studio.open(MODEL).await?;
        let token = "Needs an account: Access token in Settings";
        becomes(browser, "what is needed still", why, token).await?;
        browser
            .fill(&starting("textbox", "prompt"), "amber")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .see_text("Not sent. Access token is not set yet.", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against a Retry that is refused again before anything else: what is to be set right is in Settings, or at the
/// service.
#[tokio::test(flavor = "multi_thread")]
async fn what_helps_against_a_refusal_comes_first() {
    play("what_helps_against_a_refusal", &["--speed", "0"], async |studio| {
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
        becomes(browser, "what comes first", offered, "Retry,Edit").await?;
        browser
            .see_text("Add some at the service, then retry.", TIMEOUT)
            .await?;
        studio.proxy.add(Rule::next(1, "/v2/generate", status(401)));
        // The same once more would be the second half of a double click.
        studio.type_prompt("umber").await?;
        browser.press(&by("button", "Generate")).await?;
        becomes(browser, "what comes first", offered, "Open Settings,Retry").await?;
        // Guards against a message that names the page and leaves the way there to be found.
        let result = browser.find(&by("region", "Result")).await?;
        let said = "Check User ID and Access token in Settings.";
        browser.see_text(said, TIMEOUT).await?;
        browser
            .press(&by("link", "Settings").within(&result))
            .await?;
        browser.find(&by("heading", "Settings")).await?;
        Ok(())
    })
    .await;
}
