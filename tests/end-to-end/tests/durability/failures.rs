//! Answers that are of no use.

use crate::studio::{TIMEOUT, play, play_without_keys};
use atelier_end_to_end::fault::{Fault, Rule};

const ERROR: Fault = Fault::Status {
    status: 500,
    retry_after: None,
};

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

/// Guards against a task that counts as failed because its status could not be read: only the
/// service's own word ends it.
#[tokio::test(flavor = "multi_thread")]
async fn useless_answers_to_polls_are_asked_again() {
    let name = "useless_answers_to_polls";
    play(name, &["--speed", "0.2"], async |studio| {
        let faults = [
            ("error", ERROR),
            ("dropped before", Fault::DropBefore),
            ("dropped after", Fault::DropAfter),
            ("not json", Fault::NotJson),
        ];
        for (prompt, fault) in faults {
            let form = studio.open_model().await?;
            for path in ["/v2/status*", "/v2/response*"] {
                studio.proxy.add(Rule::next(2, path, fault.clone()));
            }
            // Until the words were seen there is no answer that takes them away.
            studio.proxy.add(Rule::every("/v2/status*", Fault::Down));
            studio.generate(&form, prompt).await?;
            studio
                .browser
                .see_text("Status unknown for", TIMEOUT)
                .await?;
            studio.proxy.bring_up("/v2/status*");
            studio.show_tasks().await?;
            studio.see(&[(prompt, "Completed")]).await?;
            assert_eq!(studio.proxy.rules_left(), 0, "not every fault was met");
            assert_eq!(studio.sent(prompt), 1);
        }
        Ok(())
    })
    .await;
}

/// Guards against `generate` being sent again by itself: after any of these the service may have
/// taken, and billed, the first one.
#[tokio::test(flavor = "multi_thread")]
async fn a_useless_answer_to_generate_is_left_to_a_person() {
    let name = "a_useless_answer_to_generate";
    play_without_keys(name, &["--speed", "0"], async |studio| {
        let faults = [
            ("error", ERROR),
            ("dropped before", Fault::DropBefore),
            ("dropped after", Fault::DropAfter),
            ("not json", Fault::NotJson),
            ("elsewhere", status(302)),
            ("conflict", status(409)),
        ];
        for (prompt, fault) in faults {
            let form = studio.open_model().await?;
            studio.proxy.add(Rule::next(1, "/v2/generate", fault));
            studio.generate(&form, prompt).await?;
            studio.show_tasks().await?;
            studio.see(&[(prompt, "Unconfirmed")]).await?;
        }
        studio.dismiss("dropped after").await?;
        for prompt in [
            "error",
            "dropped before",
            "not json",
            "elsewhere",
            "conflict",
        ] {
            assert_eq!(studio.sent(prompt), 1, "{prompt}");
            studio.resubmit(prompt).await?;
            studio.see(&[(prompt, "Completed")]).await?;
        }
        Ok(())
    })
    .await;
}
