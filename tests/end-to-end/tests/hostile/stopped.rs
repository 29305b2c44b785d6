//! A panic of the page.

use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::json;

use crate::service::Hostile;
use crate::studio::{Studio, TIMEOUT};

/// Makes the browser refuse to create the next element, so that the page panics.
const BREAK: &str = "
    for (const [of, name] of [[Document, 'createElement'], [Node, 'cloneNode'], [Document, 'importNode']]) {
        const works = of.prototype[name];
        of.prototype[name] = function () {
            of.prototype[name] = works;
            throw new Error('my-secret-prompt \"token-of-a-guest\"');
        };
    }";

/// Guards against a page that stops without a message, and that keeps the lead without polling its tasks.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_shows_a_reload_button_and_tasks_continue() {
    let name = "a_panic_shows_a_reload_button_and_tasks_continue";
    drive(name, async |browser| {
        let service = Hostile::start().await?;
        let running = json!({"success": true, "data": {"id": "task-1", "status": "processing"}});
        service.answer("/v2/status", &running);
        let studio = Studio { browser, service };
        studio.generate("my-secret-prompt").await?;
        studio.wait_for_status("Processing").await?;
        studio.script(BREAK).await?;
        studio
            .script("[...document.querySelectorAll('nav a')].find(a => a.textContent.includes('Settings')).click()")
            .await?;
        let dialog = browser.find(&by("dialog", "Atelier has stopped")).await?;
        browser.find(&by("button", "Copy report").within(&dialog)).await?;
        let report = dialog.text().await?;
        assert!(report.contains("at ") && report.contains("release "), "{report}");
        for secret in ["my-secret-prompt", "token-of-a-guest"] {
            assert!(!report.contains(secret), "{report}");
        }
        // The lead is released at once for other tabs. In this test there is no other.
        until("the tab to give up its leadership", TIMEOUT, async || {
            let held = studio
                .script("return navigator.locks.query().then(all => all.held.filter(lock => lock.name === 'atelier.leader').length)")
                .await?;
            // A released lease has the end 0.
            let lease = studio.script("return localStorage.getItem('atelier.leader')?.split(' ')[1] ?? '0'").await?;
            Ok(if held == 0 && lease == json!("0") { Seen::Yes(()) } else { Seen::NotYet(format!("{held} {lease}")) })
        })
        .await?;
        let done = json!({"success": true, "data": {"id": "task-1", "status": "completed"}});
        studio.service.answer("/v2/status", &done);
        browser.press(&by("button", "Reload").within(&dialog)).await?;
        studio.open("/tasks").await?;
        browser.find_with_limit(&containing("article", "my-secret-prompt"), TIMEOUT).await?;
        studio.wait_for_status("Completed").await?;
        assert_eq!(studio.service.bodies("/v2/generate").len(), 1);
        Ok(())
    })
    .await;
}
