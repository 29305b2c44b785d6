//! A hundred things go wrong with sixty tasks in one to three tabs, drawn from a seed: nothing is
//! lost, nothing is paid twice, no service is called before it wants to be, and nothing is stuck.
//!
//! The seed is the same each time, and printed. Any other by hand:
//!
//! ```sh
//! ATELIER_TRIAL_SEED=7 ATELIER_TRIAL_COUNT=10 cargo test -p atelier-end-to-end --test trials
//! ```

mod chance;
mod conditions;
mod judge;
mod person;
mod plan;
mod tabs;
mod world;

use atelier_end_to_end::Result;
use std::io::Write;

/// Another one is another course of events.
const SEED: u64 = 1;

/// What is said of idempotency keys by the service of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// It honours them: lost answers settle themselves, and no person is asked.
    Honoured,
    /// It says nothing of them, as most don't: what may have been taken is left to a person.
    Unknown,
}

fn number(variable: &str, otherwise: u64) -> Result<u64> {
    match std::env::var(variable) {
        Ok(text) => Ok(text
            .trim()
            .parse()
            .map_err(|error| format!("{variable}: {error}"))?),
        Err(_) => Ok(otherwise),
    }
}

async fn trials(keys: Keys) -> Result<()> {
    let first = number("ATELIER_TRIAL_SEED", SEED)?;
    let count = number("ATELIER_TRIAL_COUNT", 1)?;
    let mut failed = Vec::new();
    for seed in first..first + count {
        match world::run(seed, keys).await {
            // Not `println!`: its output is shown of failing tests only.
            Ok(sum) => {
                let _ = writeln!(std::io::stdout(), "trial {seed}, keys {keys:?}: {sum}");
            }
            Err(error) => {
                let _ = writeln!(
                    std::io::stdout(),
                    "trial {seed}, keys {keys:?} FAILED: {error}"
                );
                failed.push(seed);
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("keys {keys:?}: seeds {failed:?} failed").into())
    }
}

/// Guards against what no single test has thought of, at a service that honours keys.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_injections_over_sixty_tasks() -> Result<()> {
    trials(Keys::Honoured).await
}

/// The same at a service that says nothing of keys.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_injections_over_sixty_tasks_without_keys() -> Result<()> {
    trials(Keys::Unknown).await
}
