//! The progress that a service reports for a running task.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::studio::{Studio, TIMEOUT, run_until_settled};

/// The message that shows that a reply was read.
fn reply(message: &str, progress: &Value, preview: &str) -> Value {
    json!({"success": true, "data": {
        "id": "task-1", "status": "processing", "progress": progress, "message": message, "preview": preview,
    }})
}

/// Waits until the bar has this value and the preview this address.
async fn wait_for(studio: &Studio<'_>, expected: Value) -> Result<()> {
    let script = "
        const bar = document.querySelector('.waiting progress');
        const preview = document.querySelector('.task-preview');
        return [bar.position < 0 ? null : bar.value, preview?.getAttribute('src') ?? null]";
    until(format!("{expected}"), TIMEOUT, async || {
        let shown = studio.script(script).await?;
        Ok(match shown == expected {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("shown is {shown}")),
        })
    })
    .await
}

/// Guards against a preview that runs code, against a bar with an impossible value, and against a preview that stays over
/// the output.
#[tokio::test(flavor = "multi_thread")]
async fn previews_and_fractions_are_shown_only_if_they_are_valid() {
    let name = "previews_and_fractions_are_shown_only_if_they_are_valid";
    run_until_settled(name, async |studio| {
        let answer = |message: &str, progress: Value, preview: &str| {
            let body = reply(message, &progress, preview);
            studio.service.answer("/v2/status", &body);
        };
        answer("first", json!(0.5), "/outputs/preview.svg");
        studio.generate("a preview").await?;
        studio.browser.wait_for_text("first", TIMEOUT).await?;
        studio.browser.find(&by("image", "Preview")).await?;
        wait_for(studio, json!([0.5, "/outputs/preview.svg"])).await?;

        // The enlarged picture must not cause scroll bars.
        let script = "
            const place = document.querySelector('.waiting');
            return [place.parentElement.style.getPropertyValue('--shape'), getComputedStyle(place).overflow]";
        let place = studio.script(script).await?;
        assert_eq!(place, json!(["1 / 1", "clip"]));

        answer("second", json!(62), "/outputs/next.svg");
        studio.browser.wait_for_text("second", TIMEOUT).await?;
        wait_for(studio, json!([0.62, "/outputs/next.svg"])).await?;

        answer("third", json!(-1), "javascript:window.pwned=1");
        studio.browser.wait_for_text("third", TIMEOUT).await?;
        wait_for(studio, json!([null, null])).await?;

        // The file does not exist.
        answer("fourth", json!(0.9), "/api/schema/no-picture");
        studio.browser.wait_for_text("fourth", TIMEOUT).await?;
        studio
            .browser
            .wait_until_gone(&by("image", "Preview"))
            .await?;

        let done = json!({"success": true, "data": {"id": "task-1", "status": "completed"}});
        studio.service.answer("/v2/status", &done);
        studio.wait_for_status("Completed").await?;
        assert_eq!(
            studio
                .script("return document.querySelector('.task-preview')")
                .await?,
            json!(null)
        );
        Ok(())
    })
    .await;
}
