//! Files that the service has lost since they were uploaded.

use super::own_files::{choose, open, uploaded};
use super::{mask, media_lists};
use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Call, Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

const UPLOADS: &str = "/v2/uploads";

/// Makes the service lose all files.
fn lose_files(studio: &Studio<'_>) {
    let gone = Fault::Status {
        status: 404,
        retry_after: None,
    };
    studio.proxy.add(Rule::every("/outputs/*", gone));
}

/// Shows another page, and then this one again. The page of the browser stays loaded.
async fn leave_and_return(studio: &Studio<'_>, heading: &str) -> Result<()> {
    let browser = studio.browser;
    browser.press(&by("link", "Models")).await?;
    browser.find(&by("heading", "Models")).await?;
    browser.run("history.back()", vec![]).await?;
    browser.find(&by("heading", heading)).await?;
    Ok(())
}

async fn wait_for_uploads(studio: &Studio<'_>, count: usize) -> Result<()> {
    let are_sent = |calls: &[Call]| {
        let uploads = calls.iter().filter(|call| call.path == UPLOADS);
        uploads.filter(|call| call.status == Some(200)).count() == count
    };
    studio.sees("the uploads", are_sent).await
}

/// Guards against a second field that asks for the file again although the page has it.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_file_is_uploaded_again_for_each_field() {
    mask::run("a_lost_file_of_two_fields", async |studio| {
        let browser = studio.browser;
        for (at, field) in ["[0]", "[1]"].into_iter().enumerate() {
            let choose = mask::CHOOSE.replace("[0]", field);
            studio.run_script(&choose).await?;
            let values = mask::VALUES;
            let is_filled = format!("{values}[{at}].includes('/outputs/')");
            wait_for_value(browser, "the upload", &is_filled, true).await?;
        }
        lose_files(studio);
        leave_and_return(studio, "Inpaint").await?;
        let notes = "
            const notes = [...document.querySelectorAll('.media-field [role=status]')];
            return notes.filter(it => it.textContent.includes('no longer has lake.png. It is uploaded again.')).length";
        wait_for_value(browser, "a note at each field", notes, 2).await
    })
    .await;
}

/// Guards against a task with an item whose file the service no longer has.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_file_of_a_list_is_uploaded_again_or_prevents_submission() {
    let (_folder, models) = media_lists::models().expect("the model file can be written");
    run_steps(
        "a_lost_file_of_a_list",
        &["--models", &models],
        async |studio| {
            let browser = studio.browser;
            browser.open(&studio.address(media_lists::PAGE)).await?;
            browser.find(&by("group", "images")).await?;
            studio.type_prompt("a wall").await?;
            media_lists::hand(studio, "choose([await picture('a.png', 20)])").await?;
            wait_for_uploads(studio, 1).await?;
            lose_files(studio);
            leave_and_return(studio, "Collage").await?;
            wait_for_uploads(studio, 2).await?;
            // The file is not at hand after a reload.
            browser.reload().await?;
            let lost = "The service has no file at this address.";
            browser.wait_for_text(lost, TIMEOUT).await?;
            browser.press(&by("button", "Generate")).await?;
            browser.wait_for_text("Not sent: ", TIMEOUT).await?;
            assert!(studio.sent_prompts().is_empty());
            Ok(())
        },
    )
    .await;
}

/// Guards against a batch whose tasks all fail because of the same file.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_with_a_lost_file_is_not_sent() {
    run_steps(
        "a_batch_with_a_lost_file",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            open(studio).await?;
            choose(studio, "cat.png").await?;
            uploaded(studio).await?;
            lose_files(studio);
            browser.reload().await?;
            browser
                .wait_for_text("The service has no file at this address.", TIMEOUT)
                .await?;
            browser.press(&by("radio", "Batch")).await?;
            browser
                .fill(&by("textbox", "Prompts"), "dusk\ndawn")
                .await?;
            browser.press(&by("button", "Generate 2")).await?;
            browser
                .wait_for_text("Not sent: the service no longer has cat.png.", TIMEOUT)
                .await?;
            assert!(studio.sent_prompts().is_empty());
            Ok(())
        },
    )
    .await;
}
