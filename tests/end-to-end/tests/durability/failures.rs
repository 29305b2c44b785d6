//! Responses that can't be used.

use crate::studio::{TIMEOUT, run_until_settled, run_without_keys_until_settled};
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

/// Guards against a task that becomes Failed because its status could not be read. Only a status from the service ends a
/// task.
#[tokio::test(flavor = "multi_thread")]
async fn polls_are_repeated_after_unusable_responses() {
    let name = "polls_are_repeated_after_unusable_responses";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        studio.proxy.hide_events();
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
            // All polls fail until the message was seen, since a response would remove it.
            studio.proxy.add(Rule::every("/v2/status*", Fault::Down));
            studio.generate(&form, prompt).await?;
            studio
                .browser
                .wait_for_text("Status unknown for", TIMEOUT)
                .await?;
            studio.proxy.bring_up("/v2/status*");
            studio.show_tasks().await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
            assert_eq!(
                studio.proxy.remaining_rules(),
                0,
                "not every fault occurred"
            );
            assert_eq!(studio.times_sent(prompt), 1);
        }
        Ok(())
    })
    .await;
}

/// Guards against repeating `generate` without asking the user: after any of these faults, the service may have
/// accepted and billed the first request.
#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_response_to_generate_makes_the_task_unconfirmed() {
    let name = "an_unusable_response_to_generate_makes_the_task_unconfirmed";
    run_without_keys_until_settled(name, &["--speed", "0"], async |studio| {
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
            studio.wait_for_states(&[(prompt, "Unconfirmed")]).await?;
        }
        studio.dismiss("dropped after").await?;
        for prompt in [
            "error",
            "dropped before",
            "not json",
            "elsewhere",
            "conflict",
        ] {
            assert_eq!(studio.times_sent(prompt), 1, "{prompt}");
            studio.resubmit(prompt).await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
        }
        Ok(())
    })
    .await;
}
