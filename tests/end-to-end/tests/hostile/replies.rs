//! Malformed replies to each call of a task: the task stays in the list with a correct state, and the page continues to
//! work.

use std::fmt::Display;

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{any, by};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::studio::{Studio, TIMEOUT, run_until_settled};

/// A reply that no correct service sends.
struct OddReply {
    body: Value,
    /// The text of the task if this is the reply to generate, to status, and to response.
    states: [&'static str; 3],
}

/// The text of a task that was accepted and is polled.
const RUNNING: &str = "Hide (keeps running)";

fn odd_replies() -> Vec<OddReply> {
    let data = |data: Value| json!({"success": true, "data": data});
    // Without an id, it is unknown whether the task was accepted. An unusable status or response, or one of another task,
    // is requested again. Anything that may be a file is an output.
    let unknown = ["Unconfirmed", RUNNING, RUNNING];
    let odd_output = ["Unconfirmed", RUNNING, "Completed"];
    let refused = ["Failed", RUNNING, RUNNING];
    let failed = ["Failed"; 3];
    let replies = [
        (json!(null), unknown),
        (json!([]), unknown),
        (json!({}), unknown),
        (json!("text"), unknown),
        (json!(7), unknown),
        (json!({"success": false}), refused),
        (json!({"success": "yes", "data": null}), unknown),
        (data(json!([])), unknown),
        (data(json!({})), unknown),
        (
            data(json!({"id": null, "status": null, "output": null})),
            unknown,
        ),
        (
            data(json!({"id": 7, "status": 7, "output": 7})),
            [RUNNING, RUNNING, "Completed"],
        ),
        (
            data(json!({"id": "", "status": "", "output": ""})),
            odd_output,
        ),
        (
            data(json!({"id": ["task-1"], "status": ["completed"], "output": [[]]})),
            unknown,
        ),
        (
            data(json!({"id": {"a": 1}, "status": {"a": 1}, "output": {"a": 1}})),
            odd_output,
        ),
        (
            data(
                json!({"id": "other", "status": "COMPLETED ", "output": [null, 1, {"url": "x"}, ""]}),
            ),
            ["Completed", RUNNING, "Completed"],
        ),
        (
            data(json!({"id": "task-1", "status": "failed", "error": {"message": ["a"]}})),
            failed,
        ),
        (
            data(json!({"id": "task-1", "status": "failed", "error": null})),
            failed,
        ),
        (
            data(json!({"results": [{"index": 0, "status": 200, "body": null}]})),
            unknown,
        ),
    ];
    let reply = |(body, states)| OddReply { body, states };
    replies.map(reply).into()
}

/// Checks that the list of tasks has exactly one task, and that the list of models works.
async fn check_one_task(studio: &Studio<'_>) -> Result<()> {
    studio.open("/tasks").await?;
    let list = studio.browser.find(&by("list", "Tasks")).await?;
    let article = any("article").within(&list);
    studio.browser.find(&article).await?;
    assert_eq!(studio.browser.find_all(&article).await?.len(), 1);
    studio.browser.press(&by("link", "Models")).await?;
    studio.browser.find(&by("heading", "Models")).await?;
    Ok(())
}

/// It is unknown whether the task was accepted, so it is never sent again without the user.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_reply_to_generate_leaves_one_task_that_was_sent_once() {
    let name = "a_malformed_reply_to_generate_leaves_one_task_that_was_sent_once";
    run_until_settled(name, async |studio| {
        for OddReply { body, states } in odd_replies() {
            studio.service.answer("/v2/generate", &body);
            let before = studio.service.bodies("/v2/generate").len();
            clear_all(studio).await?;
            studio.generate("odd").await?;
            wait_for_result(studio, states[0], &body).await?;
            check_one_task(studio).await?;
            let sent = studio.service.bodies("/v2/generate").len() - before;
            assert_eq!(sent, 1, "{body}");
        }
        Ok(())
    })
    .await;
}

/// Checks for each malformed reply to `path` that the accepted task is polled again or shows the state from the reply.
async fn check_odd_replies(studio: &Studio<'_>, path: &str, at: usize) -> Result<()> {
    for OddReply { body, states } in odd_replies() {
        studio.service.answer(path, &body);
        clear_all(studio).await?;
        let before = studio.service.bodies(path).len();
        studio.generate("odd").await?;
        if states[at] == RUNNING {
            // This text is also shown before the first reply. A second call shows that the reply was read.
            until("a second call", TIMEOUT, async || {
                let calls = studio.service.bodies(path).len() - before;
                Ok(if calls > 1 {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("{calls} calls after {body}"))
                })
            })
            .await?;
        }
        wait_for_result(studio, states[at], &body).await?;
        check_one_task(studio).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_replies_to_status_lose_no_task() {
    run_until_settled("malformed_replies_to_status_lose_no_task", async |studio| {
        check_odd_replies(studio, "/v2/status", 1).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_replies_to_response_lose_no_task() {
    let name = "malformed_replies_to_response_lose_no_task";
    run_until_settled(name, async |studio| {
        let data =
            json!({"id": "task-1", "status": "completed", "output": ["/outputs/picture.svg"]});
        let completed = json!({"success": true, "data": data});
        studio.service.answer("/v2/status", &completed);
        check_odd_replies(studio, "/v2/response", 2).await
    })
    .await;
}

/// Replies with various statuses and content types that are not JSON.
#[tokio::test(flavor = "multi_thread")]
async fn replies_that_are_not_json_leave_one_task() {
    run_until_settled("replies_that_are_not_json_leave_one_task", async |studio| {
        let answers = [
            (
                200,
                "text/html",
                "<script>window.pwned=1</script>",
                "Unconfirmed",
            ),
            (
                200,
                "application/json",
                "{\"success\": true, \"data\"",
                "Unconfirmed",
            ),
            (200, "application/json", "\u{feff}{}", "Unconfirmed"),
            (204, "application/json", "", "Unconfirmed"),
            (299, "text/plain", "\u{0}\u{1}", "Unconfirmed"),
            (418, "image/png", "PNG", "Failed"),
            (599, "application/json", "null", "Unconfirmed"),
            (400, "application/json", &"[".repeat(100_000), "Failed"),
        ];
        for (status, kind, body, expected) in answers {
            studio
                .service
                .answer_raw("/v2/generate", status, kind, body.to_owned());
            clear_all(studio).await?;
            studio.generate("odd").await?;
            wait_for_result(studio, expected, &format!("{status} {kind}")).await?;
            check_one_task(studio).await?;
        }
        Ok(())
    })
    .await;
}

/// Waits until the task next to the form shows this text.
async fn wait_for_result(studio: &Studio<'_>, expected: &str, reply: impl Display) -> Result<()> {
    let what = format!("{expected} after {reply}");
    wait_for_text(studio, &what, |text| text.contains(expected)).await?;
    Ok(())
}

/// Waits until the text of the task next to the form satisfies `fits`, and returns it.
async fn wait_for_text(
    studio: &Studio<'_>,
    what: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<String> {
    until(what, TIMEOUT, async || {
        let script =
            "return document.querySelector('[aria-label=Result] article')?.innerText ?? ''";
        let text = studio.script(script).await?;
        let text = text.as_str().unwrap_or_default().to_owned();
        Ok(if fits(&text) {
            Seen::Yes(text)
        } else {
            Seen::NotYet(text)
        })
    })
    .await
}

/// Clears all stored data. The page must not be open meanwhile, since it would store its tasks again.
async fn clear_all(studio: &Studio<'_>) -> Result<()> {
    // Not JSON, which Firefox would show in a viewer that refuses scripts.
    let nothing = "/api/nothing";
    let (service, empty) = (&studio.service, String::new());
    service.answer_raw(nothing, 200, "text/plain", empty);
    studio.open(nothing).await?;
    studio
        .browser
        .clear_databases(&studio.service.address())
        .await?;
    studio
        .script("localStorage.clear(); sessionStorage.clear()")
        .await?;
    Ok(())
}

/// Guards against a page that says that it can be closed, next to its warning that closing it loses sight of tasks.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_stores_no_tasks_never_says_that_it_can_be_closed() {
    let name = "a_page_that_stores_no_tasks_never_says_that_it_can_be_closed";
    run_until_settled(name, async |studio| {
        let refuse = "
            IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') }";
        studio.browser.before_each_page(refuse).await?;
        studio.open("/models/image/plain").await?;
        // The warning that nothing more is sent.
        let warning = "Tasks already sent keep running, but you lose them if you close this tab";
        studio
            .browser
            .wait_for_text(warning, crate::studio::TIMEOUT)
            .await?;
        // A status that the interface does not define, and one that it does.
        for word in ["considering", "processing"] {
            let status = json!({"success": true, "data": {"id": "t-1", "status": word}});
            studio.service.answer("/v2/generate", &status);
            studio.service.answer("/v2/status", &status);
            studio.send(word).await?;
            let text = wait_for_text(studio, word, |text| {
                text.contains(word) && !text.contains("Submitting")
            })
            .await?;
            assert!(!text.contains("close this page"), "{text}");
            let page = studio.script("return document.body.innerText").await?;
            let page = page.as_str().unwrap_or_default();
            assert!(!page.contains("keep running if you leave"), "{page}");
        }
        Ok(())
    })
    .await;
}

/// Guards against "Check User ID and Access token" when a quota is exceeded before anything was accepted, and against rows
/// that "wait to be sent again" although nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn an_exceeded_quota_shows_the_message_of_the_service() {
    let name = "an_exceeded_quota_shows_the_message_of_the_service";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let refused = json!({"success": false, "message": "Monthly quota used up."});
        for path in ["/v2/generate", "/v2/generate-batch"] {
            let body = refused.to_string();
            studio
                .service
                .answer_raw(path, 403, "application/json", body);
        }
        studio.open("/models/image/plain").await?;
        browser.press(&by("radio", "Batch")).await?;
        let prompts = by("textbox", "Prompts");
        browser.paste(&prompts, "dusk\ndawn\nnoon").await?;
        browser.press(&by("button", "Generate 3")).await?;
        let paused = "Paused: 2 items not accepted yet. The service says: Monthly quota used up.";
        browser.wait_for_text(paused, TIMEOUT).await?;
        browser.press(&by("button", "Retry 1 failed")).await?;
        browser
            .wait_for_text("1 item waits to be sent again.", TIMEOUT)
            .await?;
        let page = studio.script("return document.body.innerText").await?;
        let page = page.as_str().unwrap_or_default();
        for wrong in ["Access token", "does not accept the credentials"] {
            assert!(!page.contains(wrong), "{page}");
        }
        Ok(())
    })
    .await;
}
