//! Kills the service repeatedly under load, while its disk fills and empties and idle sockets are open. Checks that no
//! accepted task is lost, fails or is completed twice.
//!
//! `ATELIER_TRIAL_SEED` sets the random seed, and `ATELIER_TRIAL_ROUNDS` the number of kills.
#![cfg(target_os = "linux")]

mod support;

use std::collections::HashSet;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::small_disk::SmallDisk;
use support::{STRATA, Server, request, try_call};

/// The SplitMix64 generator, which gives the same numbers on all platforms.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A submission with its idempotency key, which may be sent several times and must create one task.
struct Submission {
    body: Value,
    ids: HashSet<String>,
}

/// Sends the submissions without a response, a few at a time, until the service does not respond.
fn submit(url: &str, submissions: &mut [Submission], batch: usize) {
    let headers = [("authorization", "Bearer t")];
    let mut open: Vec<&mut Submission> = submissions
        .iter_mut()
        .filter(|w| w.ids.is_empty())
        .collect();
    for group in open.chunks_mut(batch) {
        let items: Vec<&Value> = group.iter().map(|submission| &submission.body).collect();
        let (path, body) = match items[..] {
            [item] => ("/v2/generate", item.clone()),
            _ => ("/v2/generate-batch", json!({"requests": items})),
        };
        let url = format!("{url}{path}");
        let Ok(answer) = try_call("POST", &url, &headers, body.to_string().as_bytes()) else {
            return;
        };
        let answer = answer.json();
        let bodies: Vec<&Value> = match answer.pointer("/data/results") {
            Some(Value::Array(entries)) => entries.iter().map(|entry| &entry["body"]).collect(),
            _ => vec![&answer],
        };
        for (submission, body) in group.iter_mut().zip(bodies) {
            match body["data"]["id"].as_str() {
                Some(id) => drop(submission.ids.insert(id.to_owned())),
                None => assert_eq!(body["error"], "disk_full", "{body}"),
            }
        }
    }
}

fn start(data: &Path) -> Server {
    let args = ["--speed", "0.05", "--workers", "2"];
    Server::start_limited(data, 256, &args)
}

#[test]
fn no_accepted_task_is_lost_failed_or_completed_twice() {
    let seed = setting("ATELIER_TRIAL_SEED", 1);
    let rounds = setting("ATELIER_TRIAL_ROUNDS", 20);
    println!("seed {seed}, {rounds} kills");
    let mut random = Random(seed);
    let disk = SmallDisk::mount("the part of the trial with a full disk", 600);
    let plain = tempfile::tempdir().unwrap();
    let data = disk
        .as_ref()
        .map_or(plain.path(), SmallDisk::path)
        .join("data");
    let begun = Instant::now();
    let (mut submissions, mut fills, mut crowds) = (Vec::<Submission>::new(), 0, 0);
    let mut is_full = false;
    for round in 0..rounds {
        let mut server = start(&data);
        for _ in 0..1 + random.below(3) {
            let key = format!("wish-{}", submissions.len());
            let input = json!({"prompt": key, "aspect_ratio": "16:9", "idempotency_key": key});
            submissions.push(Submission {
                body: request(STRATA, input),
                ids: HashSet::new(),
            });
        }
        // Repeats some submissions of earlier rounds, like clients whose response was lost.
        let len = submissions.len();
        for submission in &mut submissions[len.saturating_sub(8)..] {
            if random.below(3) == 0 && submission.ids.len() == 1 {
                let first = submission.ids.drain().next();
                submit(&server.url, std::slice::from_mut(submission), 1);
                submission.ids.extend(first);
            }
        }
        let mut crowd: Vec<TcpStream> = Vec::new();
        if random.below(3) == 0 {
            crowds += 1;
            crowd.extend((0..200).map(|_| server.connect()));
        }
        let fill = disk.as_ref().filter(|_| random.below(3) == 0);
        let (batch, wait) = (1 + random.below(4) as usize, random.below(700));
        std::thread::scope(|scope| {
            let url = server.url.clone();
            let submissions = &mut submissions;
            scope.spawn(move || submit(&url, submissions, batch));
            if let Some(disk) = fill
                && !is_full
            {
                fills += 1;
                is_full = true;
                disk.fill();
            }
            // The service is killed at a random time.
            std::thread::sleep(Duration::from_millis(wait));
            server.kill();
        });
        drop(crowd);
        // Sometimes the disk is still full at the next start.
        if let Some(disk) = &disk
            && is_full
            && (random.below(2) == 0 || round + 1 == rounds)
        {
            disk.empty();
            is_full = false;
        }
    }

    let mut server = start(&data);
    submit(&server.url, &mut submissions, 10);
    let mut ids = HashSet::new();
    for submission in &submissions {
        assert_eq!(
            submission.ids.len(),
            1,
            "{}: {:?}",
            submission.body["prompt"],
            submission.ids
        );
        ids.extend(submission.ids.iter().cloned());
        let mut task = request(STRATA, json!({}));
        task["id"] = submission.ids.iter().next().unwrap().as_str().into();
        let data = server.wait(&task);
        assert_eq!(data["status"], "completed", "{data}");
        let reply = server.post("/v2/response", &task).json();
        let url = reply["data"]["output"][0].as_str().unwrap();
        assert_eq!(server.get(url).status, 200);
    }
    assert_eq!(
        ids.len(),
        submissions.len(),
        "each submission has its own task"
    );
    server.kill();
    let database = rusqlite::Connection::open(data.join("tasks.sqlite")).unwrap();
    let count = |query: &str| -> u64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM task"), submissions.len() as u64);
    println!(
        "{} tasks, {rounds} kills, {fills} full disks, {crowds} times 200 idle sockets: \
         0 lost, 0 failed, 0 made twice, in {:.0} s",
        submissions.len(),
        begun.elapsed().as_secs_f64()
    );
}
