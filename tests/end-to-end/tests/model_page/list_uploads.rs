//! Uploads of lists that end while the list is not shown, and after a reload.

use crate::media_lists::{hand, run_with_list, sent_widths, wait_for_names};
use crate::studio::{Studio, TIMEOUT};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

const UPLOADS: &str = "/v2/uploads";

/// The number of files that the tab remembers as unfinished.
pub(crate) const UNFINISHED: &str =
    "return JSON.parse(sessionStorage.getItem('atelier.unfinished-files') ?? '[]').length";

/// The number of uploads whose content is stored.
pub(crate) const STORED: &str = "
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier-uploads');
        opened.onerror = () => failed(opened.error);
        opened.onsuccess = () => {
            const database = opened.result;
            if (!database.objectStoreNames.contains('files')) {
                database.close();
                return done(0);
            }
            const count = database.transaction('files').objectStore('files').count();
            count.onsuccess = () => {
                database.close();
                done(count.result);
            };
        };
    })";

/// Writes one prompt in Batch, and presses Generate.
async fn generate_in_batch(studio: &Studio<'_>) -> Result<()> {
    studio.browser.press(&by("button", "Generate 1")).await
}

/// Guards against a batch that can't be sent until "One" is opened, against rows that were written before the uploads have
/// ended and lack their files, and against a batch without a picture that the user sees in the list of the single form.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_added_to_a_list_while_batch_is_shown() {
    run_with_list("files_added_in_batch", async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        hand(
            studio,
            "choose([await picture('a.png', 41), await picture('b.png', 42)])",
        )
        .await?;
        wait_for_names(studio, &["a.png", "b.png"]).await?;
        browser.press(&by("radio", "Batch")).await?;
        browser.press(&by("radio", "Lines")).await?;
        browser.fill(&by("textbox", "Prompts"), "a harbour").await?;
        generate_in_batch(studio).await?;
        let unfinished = "Not sent: the upload of a.png and b.png for the single form";
        browser.wait_for_text(unfinished, TIMEOUT).await?;
        studio.proxy.clear();
        wait_for_value(browser, "no unfinished file", UNFINISHED, 0).await?;
        generate_in_batch(studio).await?;
        studio.wait_for_sent(1).await?;
        assert_eq!(sent_widths(studio).await?, json!([41, 42]));

        // A file that was refused is missing.
        browser.press(&by("radio", "One")).await?;
        wait_for_names(studio, &["a.png", "b.png"]).await?;
        hand(
            studio,
            "choose([new File(['words'], 'words.png', { type: 'image/png' })])",
        )
        .await?;
        browser.find(&by("button", "Remove words.png")).await?;
        browser.press(&by("radio", "Batch")).await?;
        browser.press(&by("radio", "Lines")).await?;
        browser.fill(&by("textbox", "Prompts"), "a fox").await?;
        generate_in_batch(studio).await?;
        let missing = "Not sent: words.png is not uploaded.";
        browser.wait_for_text(missing, TIMEOUT).await?;
        assert_eq!(studio.sent_prompts(), ["a harbour"]);
        Ok(())
    })
    .await;
}

/// Guards against a task without the pictures that were in the list before a reload.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_list_continue_or_are_missed_after_a_reload() {
    run_with_list("files_of_a_list_after_a_reload", async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a harbour").await?;
        hand(
            studio,
            "choose([new File(['words'], 'words.png', { type: 'image/png' })])",
        )
        .await?;
        browser.wait_for_text("Accepted types", TIMEOUT).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        hand(studio, "choose([await picture('b.png', 42)])").await?;
        wait_for_names(studio, &["words.png", "b.png"]).await?;
        wait_for_value(browser, "the stored file", STORED, 1).await?;

        browser.reload().await?;
        browser.find(&by("group", "images")).await?;
        wait_for_names(studio, &["words.png", "b.png"]).await?;
        let lost = "words.png was not uploaded. Choose it again.";
        browser.wait_for_text(lost, TIMEOUT).await?;
        browser.find(&by("progressbar", "Upload of b.png")).await?;
        studio.proxy.clear();
        wait_for_value(browser, "one unfinished file", UNFINISHED, 1).await?;
        browser.press(&by("button", "Generate")).await?;
        let missing = "Not sent: words.png is not uploaded.";
        browser.wait_for_text(missing, TIMEOUT).await?;
        assert!(studio.sent_prompts().is_empty());

        // The file takes its place again.
        hand(studio, "choose([await picture('words.png', 43)])").await?;
        wait_for_value(browser, "no unfinished file", UNFINISHED, 0).await?;
        wait_for_names(studio, &["words.png", "b.png"]).await?;
        browser.press(&by("button", "Generate")).await?;
        studio.wait_for_sent(1).await?;
        assert_eq!(sent_widths(studio).await?, json!([43, 42]));
        Ok(())
    })
    .await;
}

/// Guards against an upload that replaces a JSON text which the user has not completed.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_not_added_while_the_json_text_is_incomplete() {
    run_with_list("a_file_during_json", async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        hand(studio, "choose([await picture('b.png', 42)])").await?;
        wait_for_names(studio, &["b.png"]).await?;
        wait_for_value(browser, "the stored file", STORED, 1).await?;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        browser.fill(&text, "{\"prompt\": \"a fox\"").await?;
        studio.proxy.clear();
        wait_for_value(browser, "the finished upload", STORED, 0).await?;
        let value = "return document.getElementById('input-json').value";
        wait_for_value(browser, "the text", value, "{\"prompt\": \"a fox\"").await?;
        wait_for_value(browser, "an unfinished file", UNFINISHED, 1).await?;
        browser.find(&text).await?.send_keys("}").await?;
        wait_for_value(browser, "no unfinished file", UNFINISHED, 0).await?;
        browser.press(&by("radio", "Form")).await?;
        wait_for_names(studio, &["b.png"]).await?;
        studio.wait_for_prompt("a fox").await
    })
    .await;
}

/// Guards against an upload that is canceled because the user takes back the removal of another item.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_removal_keeps_a_running_upload() {
    run_with_list("undo_of_a_removal", async |studio| {
        let browser = studio.browser;
        browser
            .fill(
                &by("textbox", "images Address"),
                "https://files.example/x.png",
            )
            .await?;
        browser.press(&by("button", "Add")).await?;
        wait_for_names(studio, &["x.png"]).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        hand(studio, "choose([await picture('b.png', 42)])").await?;
        wait_for_names(studio, &["x.png", "b.png"]).await?;
        browser.press(&by("button", "Remove x.png")).await?;
        wait_for_names(studio, &["b.png"]).await?;
        let cancel = by("button", "Cancel upload of b.png");
        browser.find(&cancel).await?.send_keys("\u{e009}z").await?;
        wait_for_names(studio, &["x.png", "b.png"]).await?;
        browser.find(&cancel).await?;
        studio.proxy.clear();
        wait_for_value(browser, "no unfinished file", UNFINISHED, 0).await?;
        wait_for_names(studio, &["x.png", "b.png"]).await
    })
    .await;
}
