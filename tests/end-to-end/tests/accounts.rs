//! Tests of the settings page with a service that has accounts.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

async fn read_user_id(browser: &Browser) -> Result<Value> {
    let value = "return document.querySelector('#uid').value";
    browser.run(value, vec![]).await
}

/// Guards against a page that does not show the account of the token, and against a test result that is shown for
/// another address. Also guards against a User ID that does not belong to the token: the service then rejects each
/// Generate.
#[tokio::test(flavor = "multi_thread")]
async fn connection_test_shows_account_of_token() {
    drive("connection_test_shows_account_of_token", async |browser| {
        let service = Service::start_with_site(&["--speed", "0", "--account-disk", "2GB"]).await?;
        let token = service.add_account("ada").await?;
        let settings = format!("{}/settings", service.address());
        browser.open(&settings).await?;
        browser.fill(&by("textbox", "User ID"), "bob").await?;
        browser.fill(&by("textbox", "Access token"), &token).await?;
        browser.press(&by("button", "Test connection")).await?;
        let message = "the token belongs to the account ada, not to bob";
        browser.wait_for_text(message, TIMEOUT).await?;
        assert_eq!(
            read_user_id(browser).await?,
            "bob",
            "the typed User ID was replaced"
        );
        // The result is cleared when the address changes.
        let found = "return document.querySelector('.test-result').innerText";
        let address = by("textbox", "Service address");
        browser.fill(&address, "http://localhost:9").await?;
        wait_for_value(browser, "the test result", found, "").await?;

        browser.reload().await?;
        browser.fill(&by("textbox", "Access token"), &token).await?;
        browser.press(&by("button", "Test connection")).await?;
        let message = "Account ada: 0 running, 0 waiting, 0 kB of 2 GB used.";
        browser.wait_for_text(message, TIMEOUT).await?;
        assert_eq!(read_user_id(browser).await?, "ada");
        browser.press(&by("button", "Save")).await?;
        browser.wait_for_text("Saved.", TIMEOUT).await?;

        browser
            .open(&format!("{}/models/image/strata", service.address()))
            .await?;
        browser
            .fill(&starting("textbox", "prompt"), "a lake of ada's")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        // The page shows the current usage without a connection test.
        browser.open(&settings).await?;
        browser
            .wait_for_text("Account ada: 0 running, 0 waiting, ", TIMEOUT)
            .await?;
        let line = "return document.querySelector('#uid-hint').textContent";
        let line = browser.run(line, vec![]).await?;
        assert!(!line.to_string().contains(" 0 kB"), "{line}");
        Ok(())
    })
    .await;
}
