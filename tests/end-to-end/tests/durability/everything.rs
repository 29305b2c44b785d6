//! Twenty tasks with all kinds of faults at random times.

use crate::studio::{Form, Studio, run_without_keys_until_settled};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use std::time::Duration;

/// Seed of the random numbers. Another seed gives another sequence of faults.
const SEED: u64 = 20;

/// A SplitMix64 generator with a fixed seed, so that failures can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    /// Sleeps for a random time below `limit_ms`. Random times are the point of this test, so it does not wait for a
    /// condition.
    async fn sleep(&mut self, limit_ms: u64) {
        tokio::time::sleep(Duration::from_millis(self.below(limit_ms))).await;
    }

    /// Returns a random fault of polls. No such fault may lose a task or send it again.
    fn fault(&mut self) -> Rule {
        let (times, path, fault) = match self.below(8) {
            0 => (2, "/v2/status*", error()),
            1 => (2, "/v2/status*", Fault::DropBefore),
            2 => (2, "/v2/status*", Fault::DropAfter),
            3 => (2, "/v2/response*", Fault::NotJson),
            4 => (1, "/v2/status*", refusal(RetryAfter::Seconds(2))),
            5 => (1, "/v2/status*", refusal(RetryAfter::Date(2))),
            6 => (2, "/v2/status-batch", Fault::CutBatch { keep: 3 }),
            _ => (3, "/v2/status-batch", Fault::ReorderBatch),
        };
        Rule::next(times, path, fault)
    }
}

fn error() -> Fault {
    Fault::Status {
        status: 500,
        retry_after: None,
    }
}

fn refusal(retry_after: RetryAfter) -> Fault {
    Fault::Status {
        status: 429,
        retry_after: Some(retry_after),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_tasks_survive_reloads_and_faults() {
    let name = "twenty_tasks_survive_reloads_and_faults";
    // So slow that all twenty tasks run at the same time.
    let service = ["--speed", "12", "--workers", "20"];
    run_without_keys_until_settled(name, &service, async |studio| {
        let mut random = Random(SEED);
        let mut form = studio.find_form().await?;
        for n in 1..=20 {
            form = submit(studio, form, n, &mut random).await?;
        }
        for n in 0..8 {
            studio.open_tasks().await?;
            if n == 3 {
                studio.service.restart().await?;
            }
            studio.proxy.add(random.fault());
            random.sleep(2_500).await;
        }
        studio.open_tasks().await?;
        studio.wait_until_settled().await?;
        // Two responses were dropped on purpose, and a reload may have interrupted other requests. The user resolves
        // these unconfirmed tasks.
        let states = studio.states().await?;
        let unconfirmed = states
            .iter()
            .filter(|(_, state)| *state == "Unconfirmed")
            .map(|(prompt, _)| prompt);
        let mut resubmit = false;
        for prompt in unconfirmed {
            resubmit = !resubmit;
            if resubmit {
                studio.resubmit(prompt).await?;
            } else {
                studio.dismiss(prompt).await?;
            }
        }
        Ok(())
    })
    .await;
}

/// Submits task `n` with its fault, if it has one.
async fn submit(studio: &mut Studio<'_>, form: Form, n: u64, random: &mut Random) -> Result<Form> {
    let fault = match n {
        4 => Some(refusal(RetryAfter::Seconds(2))),
        8 => Some(Fault::DropAfter),
        12 => Some(refusal(RetryAfter::Date(2))),
        16 => Some(error()),
        _ => None,
    };
    if let Some(fault) = fault {
        studio.proxy.add(Rule::next(1, "/v2/generate*", fault));
    }
    studio.generate(&form, &format!("task {n:02}")).await?;
    if n.is_multiple_of(5) {
        random.sleep(400).await;
        return studio.open_model().await;
    }
    if n.is_multiple_of(3) {
        studio.proxy.add(random.fault());
    }
    Ok(form)
}
