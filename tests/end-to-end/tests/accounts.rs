//! A service with accounts, on the page: whose token it is, and what the account has left.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

async fn user_id(browser: &Browser) -> Result<Value> {
    let value = "return document.querySelector('#uid').value";
    browser.run(value, vec![]).await
}

/// Guards against a person who has been given a token and can't tell whose it is, and against a User ID that
/// is not the token's: everything looks right, and each Generate is refused; and against what was found at one address
/// and is said of another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_alone_says_which_account_it_is() {
    drive("a_token_alone", async |browser| {
        let service = Service::with_site(&["--speed", "0", "--account-disk", "2GB"]).await?;
        let token = service.add_account("ada").await?;
        let settings = format!("{}/settings", service.address());
        browser.open(&settings).await?;
        browser.fill(&by("textbox", "User ID"), "bob").await?;
        browser.fill(&by("textbox", "Access token"), &token).await?;
        browser.press(&by("button", "Test connection")).await?;
        let words = "the token belongs to the account ada, not to bob";
        browser.see_text(words, TIMEOUT).await?;
        assert_eq!(user_id(browser).await?, "bob", "nothing typed is lost");
        // Of another address that is not known.
        let found = "return document.querySelector('.test-result').innerText";
        let address = by("textbox", "Service address");
        browser.fill(&address, "http://localhost:9").await?;
        becomes(browser, "what was found", found, "").await?;

        browser.reload().await?;
        browser.fill(&by("textbox", "Access token"), &token).await?;
        browser.press(&by("button", "Test connection")).await?;
        let words = "Account ada: 0 running, 0 waiting, 0 kB of 2 GB used.";
        browser.see_text(words, TIMEOUT).await?;
        assert_eq!(user_id(browser).await?, "ada");
        browser.press(&by("button", "Save")).await?;
        browser.see_text("Saved.", TIMEOUT).await?;

        browser
            .open(&format!("{}/models/image/strata", service.address()))
            .await?;
        browser
            .fill(&starting("textbox", "prompt"), "a lake of ada's")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        // It is told without being asked for, as it is now.
        browser.open(&settings).await?;
        browser
            .see_text("Account ada: 0 running, 0 waiting, ", TIMEOUT)
            .await?;
        let line = "return document.querySelector('#uid-hint').textContent";
        let line = browser.run(line, vec![]).await?;
        assert!(!line.to_string().contains(" 0 kB"), "{line}");
        Ok(())
    })
    .await;
}
