//! Twenty tasks, and everything at once.

use crate::studio::{Form, Studio, play_without_keys};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use std::time::Duration;

/// Another one is another course of events.
const SEED: u64 = 20;

/// SplitMix64: a test that failed has to fail again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    /// The moment itself is what is tested here, so this one waits for nothing but the time.
    async fn moment(&mut self, within_ms: u64) {
        tokio::time::sleep(Duration::from_millis(self.below(within_ms))).await;
    }

    /// A fault of polls. After none of them may anything be lost or sent again.
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
    // Slow enough that all twenty run at the same time.
    let service = ["--speed", "12", "--workers", "20"];
    play_without_keys(name, &service, async |studio| {
        let mut chance = Chance(SEED);
        let mut form = studio.form().await?;
        for n in 1..=20 {
            form = submit(studio, form, n, &mut chance).await?;
        }
        for n in 0..8 {
            studio.open_tasks().await?;
            if n == 3 {
                studio.service.restart().await?;
            }
            studio.proxy.add(chance.fault());
            chance.moment(2_500).await;
        }
        studio.open_tasks().await?;
        studio.settled().await?;
        // A reload may have come between a request and its answer, and two answers were lost on
        // purpose: a person looks at each of them.
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

/// Submits one of the twenty, with what goes wrong with it.
async fn submit(studio: &mut Studio<'_>, form: Form, n: u64, chance: &mut Chance) -> Result<Form> {
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
        chance.moment(400).await;
        return studio.open_model().await;
    }
    if n.is_multiple_of(3) {
        studio.proxy.add(chance.fault());
    }
    Ok(form)
}
