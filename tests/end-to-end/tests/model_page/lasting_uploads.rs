//! Uploads that outlast the page, the file at the service, and replies that may pass.

use super::own_files::{CANCEL, PAGE, UPLOADS, choose, count, open, uploaded};
use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Call, Fault, RetryAfter, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

/// The number of stored uploads.
const STORED: &str = "
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier-uploads');
        opened.onerror = () => failed(opened.error);
        opened.onsuccess = () => {
            const database = opened.result;
            if (!database.objectStoreNames.contains('facts')) {
                database.close();
                return done(0);
            }
            const count = database.transaction('facts').objectStore('facts').count();
            count.onsuccess = () => {
                database.close();
                done(count.result);
            };
        };
    })";

/// Whether the browser would ask before the page is left.
const ASKS: &str = "
    const event = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented";

/// Makes the browser refuse to store uploads.
const REFUSE_STORAGE: &str = "
    const open = indexedDB.open.bind(indexedDB);
    window.refusals = 0;
    indexedDB.open = (name, version) => {
        if (name !== 'atelier-uploads') return open(name, version);
        window.refusals += 1;
        throw new DOMException('refused', 'SecurityError');
    };";

/// Chooses a picture whose upload doesn't end.
async fn choose_held(studio: &Studio<'_>, name: &str) -> Result<()> {
    studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
    choose(studio, name).await?;
    studio.browser.find(&by("button", CANCEL)).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_continues_after_a_reload_and_in_one_tab_only() {
    run_steps("an_upload_reloaded", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.type_prompt("never").await?;
        choose_held(studio, "cat.png").await?;
        wait_for_value(browser, "the stored upload", STORED, 1).await?;
        wait_for_value(browser, "no question", ASKS, false).await?;
        browser.press(&by("button", "Generate")).await?;
        let waiting = "Waiting for the upload of cat.png. Generate follows.";
        browser.wait_for_text(waiting, TIMEOUT).await?;

        // Guards against a tab that takes the upload over while its own tab is reloaded.
        let first = browser.tab().await?;
        studio.open_tab(PAGE).await?;
        browser.find(&by("group", "image_url")).await?;
        browser.switch_to(&first).await?;
        browser.reload().await?;
        browser
            .find(&by("progressbar", "Upload of cat.png"))
            .await?;
        let interrupted = "Not sent from this tab: the page was reloaded while Generate waited";
        browser.wait_for_text(interrupted, TIMEOUT).await?;

        studio.proxy.clear();
        uploaded(studio).await?;
        browser
            .wait_for_text("cat.png, 64 × 48 px", TIMEOUT)
            .await?;
        wait_for_value(browser, "no stored upload", STORED, 0).await?;
        browser.wait_for_text(interrupted, TIMEOUT).await?;
        // The name is known after another reload.
        browser.reload().await?;
        browser
            .wait_for_text("cat.png, 64 × 48 px", TIMEOUT)
            .await?;
        browser.find(&by("button", "Remove")).await?;
        assert!(studio.sent_prompts().is_empty());
        // One before and one after the reload: none by the other tab.
        assert_eq!(count(studio), 2);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_cannot_be_stored_is_sent_and_guarded() {
    run_steps("an_upload_not_stored", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        browser.run(REFUSE_STORAGE, vec![]).await?;
        choose_held(studio, "cat.png").await?;
        let refusals = "return window.refusals > 0";
        wait_for_value(browser, "the refusal of storage", refusals, true).await?;
        wait_for_value(browser, "the question", ASKS, true).await?;
        studio.proxy.clear();
        uploaded(studio).await?;
        wait_for_value(browser, "no question", ASKS, false).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_service_lost_is_uploaded_again() {
    run_steps("a_lost_file", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        studio.proxy.add(Rule::every("/outputs/*", gone));
        choose(studio, "cat.png").await?;
        let message = "The service no longer has cat.png. It is uploaded again.";
        browser.wait_for_text(message, TIMEOUT).await?;
        uploaded(studio).await?;
        let is_sent_again = |calls: &[Call]| {
            let uploads = calls.iter().filter(|call| call.path == UPLOADS);
            uploads.filter(|call| call.status == Some(200)).count() == 2
        };
        studio.sees("the second upload", is_sent_again).await?;
        wait_for_value(browser, "no stored upload", STORED, 0).await?;
        // The file is not at hand after a reload.
        browser.reload().await?;
        let lost = "The service has no file at this address. Choose the file again";
        browser.wait_for_text(lost, TIMEOUT).await?;
        assert_eq!(count(studio), 2);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_that_may_pass_are_explained_and_retried() {
    run_steps(
        "refusals_that_may_pass",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            open(studio).await?;
            let limited = Fault::Status {
                status: 429,
                retry_after: Some(RetryAfter::Seconds(2)),
            };
            studio.proxy.add(Rule::next(1, UPLOADS, limited));
            choose(studio, "cat.png").await?;
            browser.wait_for_text("Next try at ", TIMEOUT).await?;
            // The rate limit can't be skipped, and applies to all calls.
            assert!(browser.find_all(&by("button", "Try now")).await?.is_empty());
            browser.wait_for_text("Rate-limited", TIMEOUT).await?;
            uploaded(studio).await?;
            assert_eq!(count(studio), 2);

            let refused = Fault::Status {
                status: 401,
                retry_after: None,
            };
            studio.proxy.add(Rule::next(1, UPLOADS, refused));
            choose(studio, "dog.png").await?;
            browser
                .wait_for_text(
                    "dog.png: The service did not accept the credentials.",
                    TIMEOUT,
                )
                .await?;
            browser.press(&by("button", "Try again")).await?;
            browser
                .wait_for_text("dog.png, 64 × 48 px", TIMEOUT)
                .await?;
            assert_eq!(count(studio), 4);
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_waits_for_an_account() {
    let arguments = ["--speed", "0", "--token", "a-long-secret-token"];
    run_steps("an_upload_waits", &arguments, async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        choose(studio, "cat.png").await?;
        browser
            .wait_for_text("Uploading needs an account", TIMEOUT)
            .await?;
        assert_eq!(count(studio), 0);
        let group = browser.find(&by("group", "image_url")).await?;
        browser
            .press(&by("link", "Settings").within(&group))
            .await?;
        browser.fill(&by("textbox", "User ID"), "me").await?;
        browser
            .fill(&by("textbox", "Access token"), "a-long-secret-token")
            .await?;
        browser.press(&by("button", "Save")).await?;
        browser.wait_for_text("Saved.", TIMEOUT).await?;
        browser.run("history.back()", vec![]).await?;
        uploaded(studio).await?;
        Ok(())
    })
    .await;
}
