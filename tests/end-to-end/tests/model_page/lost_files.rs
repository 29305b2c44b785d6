//! Files that the service has lost since they were uploaded.

use super::own_files::{choose, open, uploaded};
use super::{list_uploads, mask, media_lists};
use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Call, Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

const UPLOADS: &str = "/v2/uploads";

/// The numbers of uploaded files, and of masks, that are stored.
const REMEMBERED: &str = "
    return ['atelier.uploaded-files', 'atelier.mask-pictures'].map(
        key => JSON.parse(localStorage.getItem(key) ?? '[]').length)";

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
        // Afterwards, the new address is checked as well, and the note is replaced.
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
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
    let models = media_lists::models();
    run_steps(
        "a_lost_file_of_a_list",
        &["--models", models.path()],
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

/// Guards against a task that is paid for with an address at which the service has no file: Generate submitted it while the
/// page was checking that.
#[tokio::test(flavor = "multi_thread")]
async fn generate_checks_files_before_it_submits() {
    run_steps("generate_checks_files", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.type_prompt("a cat").await?;
        choose(studio, "cat.png").await?;
        uploaded(studio).await?;
        lose_files(studio);
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        browser.press(&by("button", "Generate")).await?;
        let waiting = "Waiting for the upload of cat.png. Generate follows.";
        browser.wait_for_text(waiting, TIMEOUT).await?;
        assert!(studio.sent_prompts().is_empty());
        studio.proxy.clear();
        studio.wait_for_sent(1).await?;
        wait_for_uploads(studio, 2).await?;

        // The file is not at hand after a reload.
        lose_files(studio);
        browser.reload().await?;
        browser.find(&by("group", "image_url")).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Not sent: the service no longer has cat.png.", TIMEOUT)
            .await?;
        // Another press, after the check.
        browser
            .wait_for_text("The service has no file at this address.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Not sent: the service no longer has cat.png.", TIMEOUT)
            .await?;
        assert_eq!(studio.sent_prompts(), ["a cat"]);
        studio.proxy.clear();
        choose(studio, "cat.png").await?;
        wait_for_uploads(studio, 3).await?;
        browser.press(&by("button", "Generate")).await?;
        studio.wait_for_sent(2).await
    })
    .await;
}

/// Guards against a picture that is in a list twice after a reload: as the address that the service has lost, and as the file
/// that is uploaded again.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_uploaded_again_stays_one_item_after_a_reload() {
    media_lists::run_with_list("a_renewed_file_of_a_list", async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a wall").await?;
        media_lists::hand(studio, "choose([await picture('a.png', 20)])").await?;
        wait_for_uploads(studio, 1).await?;
        media_lists::hand(studio, "choose([await picture('b.png', 21)])").await?;
        wait_for_uploads(studio, 2).await?;
        let stored = list_uploads::STORED;
        wait_for_value(browser, "no stored upload", stored, 0).await?;
        lose_files(studio);
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        leave_and_return(studio, "Collage").await?;
        wait_for_value(browser, "the stored uploads", stored, 2).await?;

        browser.reload().await?;
        browser.find(&by("progressbar", "Upload of a.png")).await?;
        browser.find(&by("progressbar", "Upload of b.png")).await?;
        media_lists::wait_for_names(studio, &["a.png", "b.png"]).await?;
        studio.proxy.clear();
        let unfinished = list_uploads::UNFINISHED;
        wait_for_value(browser, "no unfinished file", unfinished, 0).await?;
        media_lists::wait_for_names(studio, &["a.png", "b.png"]).await?;
        browser.press(&by("button", "Generate")).await?;
        studio.wait_for_sent(1).await?;
        assert_eq!(media_lists::sent_widths(studio).await?, json!([20, 21]));
        Ok(())
    })
    .await;
}

/// Guards against files without a name, which an item shows as nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_a_name_is_shown_and_removed_after_a_reload() {
    media_lists::run_with_list("a_file_without_a_name", async |studio| {
        let browser = studio.browser;
        media_lists::hand(
            studio,
            "choose([new File(['words'], '', { type: 'image/png' })])",
        )
        .await?;
        browser.wait_for_text("Accepted types", TIMEOUT).await?;
        let unfinished = list_uploads::UNFINISHED;
        wait_for_value(browser, "one unfinished file", unfinished, 1).await?;
        browser.reload().await?;
        browser
            .wait_for_text("The file was not uploaded. Choose it again.", TIMEOUT)
            .await?;
        media_lists::wait_for_names(studio, &["Unnamed file"]).await?;
        browser.press(&by("button", "Remove Unnamed file")).await?;
        media_lists::wait_for_names(studio, &[]).await?;
        wait_for_value(browser, "no unfinished file", unfinished, 0).await
    })
    .await;
}

/// Guards against names and addresses of pictures that the next user of a browser can read.
#[tokio::test(flavor = "multi_thread")]
async fn another_user_finds_nothing_about_files() {
    let arguments = ["--speed", "0", "--token", "a-long-secret-token"];
    run_steps("another_user", &arguments, async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/settings")).await?;
        browser.fill(&by("textbox", "User ID"), "me").await?;
        let token = by("textbox", "Access token");
        browser.fill(&token, "a-long-secret-token").await?;
        browser.press(&by("button", "Save")).await?;
        browser.wait_for_text("Saved.", TIMEOUT).await?;
        open(studio).await?;
        choose(studio, "cat.png").await?;
        uploaded(studio).await?;
        let remember_mask = "
            const [file] = JSON.parse(localStorage.getItem('atelier.uploaded-files'));
            const field = {
                address: file.service,
                model: { category: 'image', subcategory: 'repaint' },
                parameter: 'mask',
            };
            localStorage.setItem('atelier.mask-pictures', JSON.stringify([
                { field, mask: 'https://files.example/mask', picture: 'https://files.example/picture' },
                { field: { ...field, address: 'https://other.example' }, mask: 'a', picture: 'b' },
            ]))";
        browser.run(remember_mask, vec![]).await?;
        browser.open(&studio.address("/settings")).await?;
        browser.fill(&by("textbox", "User ID"), "you").await?;
        browser.press(&by("button", "Save")).await?;
        wait_for_value(browser, "the files", REMEMBERED, json!([0, 1])).await
    })
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
