//! Answers of any shape to each call of the flow: whatever comes, the task is there, says something
//! true of itself, and the page goes on.

use std::fmt::Display;

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{any, by};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::studio::{Studio, TIMEOUT, play};

/// A reply that no good service sends.
struct OddReply {
    body: Value,
    /// What the task shows if this is the reply to generate; to status; and to response.
    states: [&'static str; 3],
}

/// What a task shows that was accepted and is asked about.
const RUNNING: &str = "Hide (keeps running)";

fn odd_replies() -> Vec<OddReply> {
    let data = |data: Value| json!({"success": true, "data": data});
    // Without an id, whether the task was accepted is unknown; a status or output that says nothing is asked for again,
    // and so is one of another task. Anything that may be a file is an output.
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

/// One task, one article, in the list of all tasks; and the rest of the page works.
async fn is_there_once(studio: &Studio<'_>) -> Result<()> {
    studio.open("/tasks").await?;
    let list = studio.browser.find(&by("list", "Tasks")).await?;
    let article = any("article").within(&list);
    studio.browser.find(&article).await?;
    assert_eq!(studio.browser.find_all(&article).await?.len(), 1);
    studio.browser.press(&by("link", "Models")).await?;
    studio.browser.find(&by("heading", "Models")).await?;
    Ok(())
}

/// Nothing tells whether it was taken: it is never sent again by itself.
#[tokio::test(flavor = "multi_thread")]
async fn an_odd_answer_to_generate_leaves_one_task_that_was_sent_once() {
    play(
        "an_odd_answer_to_generate_leaves_one_task_that_was_sent_once",
        async |studio| {
            for OddReply { body, states } in odd_replies() {
                studio.service.answer("/v2/generate", &body);
                let before = studio.service.bodies("/v2/generate").len();
                forget_all(studio).await?;
                studio.generate("odd").await?;
                shows(studio, states[0], &body).await?;
                is_there_once(studio).await?;
                let sent = studio.service.bodies("/v2/generate").len() - before;
                assert_eq!(sent, 1, "{body}");
            }
            Ok(())
        },
    )
    .await;
}

/// The task was accepted: it is asked about again, or shows what the service said of it.
async fn loses_nothing(studio: &Studio<'_>, path: &str, at: usize) -> Result<()> {
    for OddReply { body, states } in odd_replies() {
        studio.service.answer(path, &body);
        forget_all(studio).await?;
        let before = studio.service.bodies(path).len();
        studio.generate("odd").await?;
        if states[at] == RUNNING {
            // Shown before the first reply, too: it has come once the page asks again.
            until("the page to ask again", TIMEOUT, async || {
                let asked = studio.service.bodies(path).len() - before;
                Ok(if asked > 1 {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("asked {asked} times after {body}"))
                })
            })
            .await?;
        }
        shows(studio, states[at], &body).await?;
        is_there_once(studio).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_replies_to_status_lose_nothing() {
    play("odd_replies_to_status_lose_nothing", async |studio| {
        loses_nothing(studio, "/v2/status", 1).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_replies_to_response_lose_nothing() {
    play("odd_replies_to_response_lose_nothing", async |studio| {
        let data =
            json!({"id": "task-1", "status": "completed", "output": ["/outputs/picture.svg"]});
        let completed = json!({"success": true, "data": data});
        studio.service.answer("/v2/status", &completed);
        loses_nothing(studio, "/v2/response", 2).await
    })
    .await;
}

/// Statuses and kinds that come with no JSON.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_no_json_are_said_to_be_that() {
    play(
        "answers_that_are_no_json_are_said_to_be_that",
        async |studio| {
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
                forget_all(studio).await?;
                studio.generate("odd").await?;
                shows(studio, expected, &format!("{status} {kind}")).await?;
                is_there_once(studio).await?;
            }
            Ok(())
        },
    )
    .await;
}

/// Waits until the task next to the form shows this.
async fn shows(studio: &Studio<'_>, expected: &str, reply: impl Display) -> Result<()> {
    let what = format!("{expected} after {reply}");
    shown(studio, &what, |text| text.contains(expected)).await?;
    Ok(())
}

/// Waits until the task next to the form shows what `fits`, and returns its text.
async fn shown(studio: &Studio<'_>, what: &str, fits: impl Fn(&str) -> bool) -> Result<String> {
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

/// As if this browser had never been here. Cleared while the page is open, it would write again
/// what it knows.
async fn forget_all(studio: &Studio<'_>) -> Result<()> {
    // No JSON, of which Firefox would make a page of its own that refuses scripts.
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

/// Guards against a page that says that it may be closed next to its warning that closing it loses sight of tasks.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_keeps_no_tasks_never_says_that_it_may_be_closed() {
    play("a_page_that_keeps_no_tasks", async |studio| {
        let refuse = "
            IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') }";
        studio.browser.before_each_page(refuse).await?;
        studio.open("/models/image/plain").await?;
        // As nothing more is sent.
        let warning = "Those already sent go on, but closing this tab loses sight of them";
        studio
            .browser
            .see_text(warning, crate::studio::TIMEOUT)
            .await?;
        // Under a word that the interface does not name, and under one that it does.
        for word in ["considering", "processing"] {
            let status = json!({"success": true, "data": {"id": "t-1", "status": word}});
            studio.service.answer("/v2/generate", &status);
            studio.service.answer("/v2/status", &status);
            studio.send(word).await?;
            let text = shown(studio, word, |text| {
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

/// Guards against "Check User ID and Access token" where a quota is used up before anything was accepted, and against
/// rows that are "to be sent again" where nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_quota_is_told_in_the_words_of_the_service() {
    play("a_used_up_quota", async |studio| {
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
        browser.see_text(paused, TIMEOUT).await?;
        browser.press(&by("button", "Retry 1 failed")).await?;
        browser
            .see_text("1 item waits to be sent again.", TIMEOUT)
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
