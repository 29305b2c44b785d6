//! The measured calls: by one client, by eight clients, and by thousands of clients.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::client::Client;
use crate::service::Service;

/// The interval between two polls of a client.
const INTERVAL: Duration = Duration::from_secs(2);

/// Polls the status of ten random stored tasks at a time.
pub struct Polls {
    stored: u64,
    at: u64,
}

impl Polls {
    pub fn new(stored: u64, start: u64) -> Self {
        Self { stored, at: start }
    }

    /// Polls the next ten tasks.
    ///
    /// # Errors
    ///
    /// The call fails, or the last of the ten tasks is not completed.
    pub fn next(&mut self, client: &mut Client<'_>) -> Outcome<()> {
        let requests: Vec<Value> = (0..10)
            .map(|_| {
                self.at = (self.at.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
                let n = (self.at >> 20) % self.stored;
                json!({"uid": format!("user-{}", n % 1000), "category": "image",
                       "subcategory": "strata", "id": format!("task-{n}")})
            })
            .collect();
        let body = json!({"requests": requests}).to_string();
        let answer = client.call("POST", "/v2/status-batch", &body)?;
        match answer["data"]["results"][9]["body"]["data"]["status"].as_str() {
            Some("completed") => Ok(()),
            _ => Err(format!("not found: {answer}").into()),
        }
    }
}

/// Repeats a call of one client for `time`. Returns the duration of each call, in milliseconds.
///
/// # Errors
///
/// A call fails. No further calls are made then.
pub fn repeat<'a>(
    service: &'a Service,
    time: Duration,
    mut call: impl FnMut(&mut Client<'a>) -> Outcome<()>,
) -> Outcome<Vec<f64>> {
    let mut client = Client::new(&service.address);
    let (begun, mut took) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        let at = Instant::now();
        call(&mut client)?;
        took.push(milliseconds(at.elapsed()));
    }
    Ok(took)
}

/// Returns the number of tasks per second that the service accepts from eight clients. Each call sends one task, or ten
/// with `in_batches`.
///
/// # Errors
///
/// A task is not accepted, or a client's thread panics.
pub fn measure_accepted(service: &Service, time: Duration, in_batches: bool) -> Outcome<f64> {
    let begun = Instant::now();
    let counts: Vec<Outcome<u32>> = std::thread::scope(|scope| {
        let client =
            |number| scope.spawn(move || count_accepted(service, number, time, in_batches));
        let clients: Vec<_> = (0..8).map(client).collect();
        let crashed = |_| Err("a client crashed".into());
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(crashed))
            .collect()
    });
    let sum: u32 = counts.into_iter().sum::<Outcome<u32>>()?;
    Ok(f64::from(sum) / begun.elapsed().as_secs_f64())
}

fn count_accepted(
    service: &Service,
    number: u32,
    time: Duration,
    in_batches: bool,
) -> Outcome<u32> {
    let task = json!({"uid": format!("client-{number}"), "category": "image",
                      "subcategory": "strata", "prompt": "a lighthouse at dusk"});
    let batch = json!({"requests": vec![task.clone(); 10]});
    let mut count = 0;
    repeat(service, time, |client| {
        if in_batches {
            let answer = client.call("POST", "/v2/generate-batch", &batch.to_string())?;
            match answer["data"]["results"][9]["status"].as_u64() {
                Some(200) => count += 10,
                _ => return Err(format!("refused: {answer}").into()),
            }
        } else {
            client.call("POST", "/v2/generate", &task.to_string())?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

/// Polls with `count` clients. Returns the durations of their calls, in milliseconds, and the number of failed calls.
///
/// # Errors
///
/// A thread can't be started, or panics. A call that fails is counted.
pub fn pollers(
    service: &Service,
    count: usize,
    stored: u64,
    time: Duration,
) -> Outcome<(Vec<f64>, usize)> {
    let found = Mutex::new((Vec::new(), 0));
    let begun = Instant::now();
    std::thread::scope(|scope| -> Outcome<()> {
        for number in 0..count {
            let found = &found;
            let work = move || {
                // Spreads the clients evenly over the interval.
                std::thread::sleep(INTERVAL.mul_f64(number as f64 / count as f64));
                let mut polls = Polls::new(stored, number as u64);
                let mut client = Client::new(&service.address);
                let (mut took, mut failed) = (Vec::new(), 0);
                while begun.elapsed() < time {
                    let at = Instant::now();
                    match polls.next(&mut client) {
                        Ok(()) => took.push(milliseconds(at.elapsed())),
                        Err(_) => failed += 1,
                    }
                    std::thread::sleep(INTERVAL.saturating_sub(at.elapsed()));
                }
                if let Ok(mut found) = found.lock() {
                    found.0.extend(took);
                    found.1 += failed;
                }
            };
            std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, work)?;
        }
        Ok(())
    })?;
    Ok(found.into_inner().map_err(|_| "a client crashed")?)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
