//! The service alone, killed again and again under load, with a disk that fills and empties and
//! sockets held open: no accepted task is lost, failed or made twice.
//!
//! `ATELIER_TRIAL_SEED` and `ATELIER_TRIAL_ROUNDS` (kills) make it another or a longer one.
#![cfg(target_os = "linux")]

mod support;

use std::collections::HashSet;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::small_disk::SmallDisk;
use support::{STRATA, Server, request, try_call};

/// SplitMix64: small, and the same everywhere.
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

/// One thing that a person wanted once, however often it has to be sent.
struct Wish {
    body: Value,
    ids: HashSet<String>,
}

/// Sends what has no answer yet, a few at a time, until the service is gone or refuses.
fn submit(url: &str, wishes: &mut [Wish], batch: usize) {
    let headers = [("authorization", "Bearer t")];
    let mut open: Vec<&mut Wish> = wishes.iter_mut().filter(|w| w.ids.is_empty()).collect();
    for group in open.chunks_mut(batch) {
        let items: Vec<&Value> = group.iter().map(|wish| &wish.body).collect();
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
        for (wish, body) in group.iter_mut().zip(bodies) {
            match body["data"]["id"].as_str() {
                Some(id) => drop(wish.ids.insert(id.to_owned())),
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
fn nothing_accepted_is_lost_failed_or_made_twice() {
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
    let (mut wishes, mut fills, mut crowds) = (Vec::<Wish>::new(), 0, 0);
    let mut is_full = false;
    for round in 0..rounds {
        let mut server = start(&data);
        for _ in 0..1 + random.below(3) {
            let key = format!("wish-{}", wishes.len());
            let input = json!({"prompt": key, "aspect_ratio": "16:9", "idempotency_key": key});
            wishes.push(Wish {
                body: request(STRATA, input),
                ids: HashSet::new(),
            });
        }
        // Those of some rounds before are sent once more: their answers might have been lost.
        let len = wishes.len();
        for wish in &mut wishes[len.saturating_sub(8)..] {
            if random.below(3) == 0 && wish.ids.len() == 1 {
                let first = wish.ids.drain().next();
                submit(&server.url, std::slice::from_mut(wish), 1);
                wish.ids.extend(first);
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
            let wishes = &mut wishes;
            scope.spawn(move || submit(&url, wishes, batch));
            if let Some(disk) = fill
                && !is_full
            {
                fills += 1;
                is_full = true;
                disk.fill();
            }
            // When it is killed is drawn, not waited for.
            std::thread::sleep(Duration::from_millis(wait));
            server.kill();
        });
        drop(crowd);
        // Sometimes the next start meets a full disk, too.
        if let Some(disk) = &disk
            && is_full
            && (random.below(2) == 0 || round + 1 == rounds)
        {
            disk.empty();
            is_full = false;
        }
    }

    let mut server = start(&data);
    submit(&server.url, &mut wishes, 10);
    let mut ids = HashSet::new();
    for wish in &wishes {
        assert_eq!(wish.ids.len(), 1, "{}: {:?}", wish.body["prompt"], wish.ids);
        ids.extend(wish.ids.iter().cloned());
        let mut task = request(STRATA, json!({}));
        task["id"] = wish.ids.iter().next().unwrap().as_str().into();
        let data = server.wait(&task);
        assert_eq!(data["status"], "completed", "{data}");
        let reply = server.post("/v2/response", &task).json();
        let url = reply["data"]["output"][0].as_str().unwrap();
        assert_eq!(server.get(url).status, 200);
    }
    assert_eq!(ids.len(), wishes.len(), "each has a task of its own");
    server.kill();
    let database = rusqlite::Connection::open(data.join("tasks.sqlite")).unwrap();
    let count = |query: &str| -> u64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM task"), wishes.len() as u64);
    println!(
        "{} tasks, {rounds} kills, {fills} full disks, {crowds} times 200 idle sockets: \
         0 lost, 0 failed, 0 made twice, in {:.0} s",
        wishes.len(),
        begun.elapsed().as_secs_f64()
    );
}
