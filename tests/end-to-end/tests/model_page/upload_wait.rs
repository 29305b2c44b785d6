//! What Generate does while it is not known yet which files the form has to upload, and files of an input that is replaced.

use super::own_files::{
    CANCEL, COUNT_CALLS, PAGE, UPLOADS, VALUE, choose, open, release, uploaded,
};
use super::{mask, media_lists};
use crate::studio::{TIMEOUT, run_steps};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::site;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::Value;

/// Guards against a task that is paid for with the address of an output that the service no longer has: Generate submitted it
/// while the page was checking that.
#[tokio::test(flavor = "multi_thread")]
async fn generate_waits_until_an_output_is_checked() {
    const OUTPUTS: &str = "/outputs/*";
    const CHECKING: &str = "Checking the files. Generate follows.";
    run_steps("generate_waits_until", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("glass").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        open(studio).await?;
        studio.type_prompt("repainted").await?;
        let use_output = async || {
            studio.proxy.add(Rule::every(OUTPUTS, Fault::Hold));
            browser
                .press(&starting("button", "Use this output"))
                .await?;
            browser.press(&by("button", "Generate")).await?;
            browser.wait_for_text(CHECKING, TIMEOUT).await
        };
        use_output().await?;
        studio.type_prompt("changed").await?;
        studio.proxy.clear();
        let changed = "Not sent: the input or the account changed";
        browser.wait_for_text(changed, TIMEOUT).await?;
        assert_eq!(studio.sent_prompts(), ["glass"]);
        // The message is about an input that the form no longer has.
        studio.type_prompt("repainted").await?;
        let message = "return document.querySelector('.upload-wait [role=status]').textContent";
        wait_for_value(browser, "no message", message, "").await?;

        use_output().await?;
        assert_eq!(studio.sent_prompts(), ["glass"]);
        studio.proxy.clear();
        studio.wait_for_sent(2).await?;
        assert_eq!(studio.sent_prompts(), ["glass", "repainted"]);
        Ok(())
    })
    .await;
}

/// Guards against an address of another service that stays in the form, because the form was left while the page was deciding
/// whether the output has to be uploaded.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_decided_again_when_its_form_is_opened_again() {
    run_steps(
        "an_output_is_decided_again",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            browser.open(&studio.address("/gallery")).await?;
            browser.wait_for_text("No outputs yet.", TIMEOUT).await?;
            let picture = site::file("icon-192", ".png")?;
            let store = mask::STORE.replace("PICTURE", &picture);
            studio.run_script(&store).await?;
            open(studio).await?;
            studio.proxy.add(Rule::every(&picture, Fault::Hold));
            browser
                .press(&starting("button", "Use this output"))
                .await?;
            let is_output = |value: &Value| value.as_str().is_some_and(|it| it.ends_with(&picture));
            wait_for_match(browser, "the output in the field", VALUE, is_output).await?;
            browser.press(&by("link", "Models")).await?;
            browser.find(&by("heading", "Models")).await?;
            studio.proxy.clear();
            browser.run("history.back()", vec![]).await?;
            browser.find(&by("heading", "Repaint")).await?;
            uploaded(studio).await?;

            // A reload ends the decision as well.
            studio.proxy.add(Rule::every(&picture, Fault::Hold));
            browser
                .press(&starting("button", "Use this output"))
                .await?;
            wait_for_match(browser, "the output in the field", VALUE, is_output).await?;
            browser.reload().await?;
            browser.find(&by("group", "image_url")).await?;
            studio.proxy.clear();
            uploaded(studio).await?;
            let undecided = "return sessionStorage.getItem('atelier.undecided-outputs')";
            wait_for_value(browser, "no undecided output", undecided, Value::Null).await
        },
    )
    .await;
}

/// Guards against a loaded input that the upload of an earlier one changes later.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_ends_when_another_input_is_loaded() {
    run_steps("an_upload_ends", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        browser.run(COUNT_CALLS, vec![]).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        choose(studio, "cat.png").await?;
        browser.find(&by("button", CANCEL)).await?;
        let link = "location.hash = '#inputs=%7B%22prompt%22%3A%22a%20dale%22%7D'";
        browser.run(link, vec![]).await?;
        studio.wait_for_prompt("a dale").await?;
        browser.wait_until_gone(&by("button", CANCEL)).await?;
        release(studio).await?;
        wait_for_value(browser, "the empty field", VALUE, "").await?;
        // The stored file is gone as well.
        browser.open(&studio.address(PAGE)).await?;
        studio.wait_for_prompt("a dale").await?;
        browser.wait_until_gone(&by("button", CANCEL)).await?;
        wait_for_value(browser, "the empty field", VALUE, "").await
    })
    .await;
}

/// Guards against a task with a list that was changed after the press of Generate.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_during_the_wait_is_not_sent() {
    let models = media_lists::models();
    let name = "a_list_that_changes";
    run_steps(name, &["--models", models.path()], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address(media_lists::PAGE)).await?;
        browser.find(&by("group", "images")).await?;
        studio.type_prompt("a wall").await?;
        media_lists::hand(studio, "choose([await picture('a.png', 20)])").await?;
        let remove = by("button", "Remove a.png");
        browser.find_with_limit(&remove, TIMEOUT).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        media_lists::hand(studio, "choose([await picture('b.png', 30)])").await?;
        browser.press(&by("button", "Generate")).await?;
        let waiting = "Waiting for the upload of b.png. Generate follows.";
        browser.wait_for_text(waiting, TIMEOUT).await?;
        browser.press(&remove).await?;
        studio.proxy.clear();
        let changed = "Not sent: the input or the account changed";
        browser.wait_for_text(changed, TIMEOUT).await?;
        assert!(studio.sent_prompts().is_empty());
        Ok(())
    })
    .await;
}
