//! Outputs in a bucket on a real server with the S3 API, which `./dev test cluster` installs and starts. The tests are
//! ignored otherwise. The tests of the interface also run with this server.
#![cfg(feature = "cluster")]

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use atelier_service::cluster::bucket::Bucket;
use atelier_service::outputs::{Artifact, Outputs};
use serde_json::json;
use support::small_server::unused_address;
use support::{STRATA, Server, try_call, until};
use tempfile::TempDir;

fn bucket() -> String {
    support::cluster::bucket().expect("no bucket is named; use ./dev test cluster")
}

/// Runs `doctor` and returns its line about the outputs.
fn doctor(outputs: &str, environment: &[(&str, &str)]) -> String {
    let data = TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(["doctor", "--listen", "127.0.0.1:0", "--outputs", outputs])
        .arg("--data")
        .arg(data.path())
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains(" outputs: "));
    line.unwrap_or_else(|| panic!("no outputs in\n{text}"))
        .to_owned()
}

/// An S3 server that checks credentials.
struct Strict(Child, String);

impl Strict {
    fn start() -> Self {
        let program = std::env::var("ATELIER_TEST_MOTO").expect("use ./dev test cluster");
        let address = unused_address();
        let child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &address.port().to_string()])
            .env("INITIAL_NO_AUTH_ACTION_COUNT", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let strict = Self(child, format!("http://{address}"));
        // The only call without credentials that the server accepts.
        until("the server runs", || {
            try_call("PUT", &format!("{}/mine", strict.1), &[], b"").is_ok()
        });
        strict
    }
}

impl Drop for Strict {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs a server of S3's interface: ./dev test cluster"]
fn an_output_is_served_from_the_bucket_as_from_a_folder() {
    let data = TempDir::new().unwrap();
    let mut server = Server::start_on(data.path(), &["--speed", "0"]);
    let url = server
        .output(STRATA, json!({"prompt": "a", "seed": 1}))
        .remove(0);
    let whole = server.get(&url);
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), "image/png");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    assert!(
        whole
            .header("content-security-policy")
            .starts_with("sandbox")
    );
    assert!(whole.header("cache-control").contains("immutable"));
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert!(whole.bytes.starts_with(b"\x89PNG"));
    assert!(
        !data.path().join("outputs").exists(),
        "there is no local copy"
    );

    let size = whole.bytes.len();
    for (range, expected) in [
        ("bytes=0-9", &whole.bytes[..10]),
        ("bytes=10-", &whole.bytes[10..]),
        ("bytes=-7", &whole.bytes[size - 7..]),
    ] {
        let part = server.call("GET", &url, &[("range", range)], b"");
        assert_eq!(part.status, 206, "{range}");
        assert_eq!(part.bytes, expected, "{range}");
        assert!(part.header("content-range").ends_with(&format!("/{size}")));
    }
    let beyond = format!("bytes={size}-");
    let beyond = server.call("GET", &url, &[("range", &beyond)], b"");
    assert_eq!(beyond.status, 416);
    assert_eq!(beyond.header("content-range"), format!("bytes */{size}"));
    let head = server.call("HEAD", &url, &[], b"");
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    assert_eq!(head.header("content-length"), size.to_string());
    let known = [("if-none-match", whole.header("etag"))];
    assert_eq!(server.call("GET", &url, &known, b"").status, 304);
    assert_eq!(server.call("POST", &url, &[], b"").status, 405);
    assert_eq!(server.get("/outputs/nothing/0.png").status, 404);
    assert_eq!(server.get("/outputs/../outputs").status, 404);

    // The output is available after a restart, and can be an input.
    server.kill();
    let server = Server::start_on(data.path(), &["--speed", "0"]);
    let path = &url[url.find("/outputs/").unwrap()..];
    assert_eq!(server.get(path).bytes, whole.bytes);
    let again = server.output(
        ("image", "repaint"),
        json!({"prompt": "b", "image_url": format!("{}{path}", server.url)}),
    );
    assert_eq!(server.get(&again[0]).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a server of S3's interface: ./dev test cluster"]
async fn attempts_do_not_overwrite_each_other_and_all_files_are_removed_with_the_task() {
    let copies = TempDir::new().unwrap();
    let bucket = Bucket::at(&format!("{}/own", bucket()), copies.path().to_owned()).unwrap();
    let outputs = Outputs::with_store(bucket);
    let file = |bytes: &[u8]| Artifact {
        extension: "png",
        bytes: bytes.to_vec(),
    };
    let first = outputs.save("ab12", &[file(b"one"), file(b"two")]).unwrap();
    let second = outputs.save("ab12", &[file(b"other")]).unwrap();
    let read = |path: &str| {
        let copy = outputs.own_file(&format!("/outputs/{path}")).unwrap();
        copy.map(|copy| std::fs::read(copy).unwrap())
    };
    assert_eq!(read(&first[0]).unwrap(), b"one");
    assert_eq!(read(&first[1]).unwrap(), b"two");
    assert_eq!(read(&second[0]).unwrap(), b"other");
    assert_eq!(outputs.bytes_of("ab12"), 11);

    let pin = outputs.pins.pin("/outputs/ab12/0.png");
    assert!(!outputs.remove("ab12").unwrap(), "the output is pinned");
    drop(pin);
    assert!(outputs.remove("ab12").unwrap());
    assert_eq!(outputs.bytes_of("ab12"), 0);
    assert!(!outputs.has(&format!("/outputs/{}", first[0])).unwrap());
    assert!(
        outputs.remove("ab12").unwrap(),
        "removing a missing task succeeds"
    );
}

#[test]
#[ignore = "needs a server of S3's interface: ./dev test cluster"]
fn doctor_reports_problems_of_a_bucket() {
    let bucket = bucket();
    assert!(doctor(&bucket, &[]).starts_with("ok"));
    let missing = doctor("s3://no-such-bucket/x", &[]);
    assert!(
        missing.starts_with("error") && missing.contains("no bucket no-such-bucket"),
        "{missing}"
    );
    let odd = doctor("s3://", &[]);
    assert!(odd.contains("s3://bucket/prefix"), "{odd}");
    let unreachable = format!("http://{}", unused_address());
    let unreachable = doctor(&bucket, &[("AWS_ENDPOINT", &unreachable)]);
    assert!(unreachable.contains("can't be reached"), "{unreachable}");
    let strict = Strict::start();
    let refused = doctor("s3://mine", &[("AWS_ENDPOINT", &strict.1)]);
    assert!(
        refused.contains("does not let these credentials"),
        "{refused}"
    );

    // The service doesn't start either.
    let data = TempDir::new().unwrap();
    let started = start(data.path(), "s3://no-such-bucket/x");
    assert!(started.contains("no bucket no-such-bucket"), "{started}");
}

/// Starts a service that can't start, and returns its error output.
fn start(data: &Path, outputs: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(["--listen", "127.0.0.1:0", "--outputs", outputs, "--data"])
        .arg(data)
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}
