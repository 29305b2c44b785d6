//! Uploads: files for the inputs of tasks.

mod support;

use std::io::{Cursor, Write};
use std::path::Path;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use support::{Answer, STRATA, Server, exchange, request, until};
use tempfile::TempDir;

const QUICK: [&str; 2] = ["--speed", "0"];
const REPAINT: (&str, &str) = ("image", "repaint");
const PROGRAM: (&str, &str) = ("text", "own");

fn upload(server: &Server, bytes: &[u8]) -> Answer {
    // The header names a type that none of these files has, because the service must ignore it.
    let headers = [("authorization", "Bearer t"), ("content-type", "text/html")];
    server.call("POST", "/v2/uploads", &headers, bytes)
}

fn uploaded(server: &Server, bytes: &[u8]) -> Value {
    let answer = upload(server, bytes);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["success"], true);
    body["data"].clone()
}

fn image(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 90]));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(image)
        .write_to(&mut bytes, format)
        .unwrap();
    bytes.into_inner()
}

/// Adds an EXIF block that rotates the picture by 90°.
fn rotated(jpeg: &[u8]) -> Vec<u8> {
    let mut exif = b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08".to_vec();
    // One entry: orientation (0x0112), a short, once, 6.
    exif.extend(b"\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0");
    [&jpeg[..2], &exif, &jpeg[2..]].concat()
}

fn path_of(url: &Value) -> String {
    let url = url.as_str().unwrap();
    url[url.find("/outputs/").unwrap()..].to_owned()
}

/// Returns the files below a folder, at any depth.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for entry in entries.map(Result::unwrap) {
        match entry.path().is_dir() {
            true => names.extend(files(&entry.path())),
            false => names.push(entry.path().to_string_lossy().into_owned()),
        }
    }
    names
}

/// Returns the number of files that are being received.
fn incoming(data: &Path) -> usize {
    let is_incoming = |name: &&String| name.contains("incoming");
    files(data).iter().filter(is_incoming).count()
}

/// Starts a service with a model that runs a shell script.
#[cfg(unix)]
fn with_program(data: &TempDir, script: &str, args: &[&str]) -> Server {
    use std::os::unix::fs::PermissionsExt;
    let program = data.path().join("program.sh");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let models = "[[model]]\ncategory = \"text\"\nsubcategory = \"own\"\nname = \"Own\"\nat_once = 1\n\
        command = { program = \"program.sh\" }\n\
        [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\n\
        [[model.parameter]]\nname = \"picture\"\ntype = \"file\"\n\
        [[model.parameter]]\nname = \"others\"\ntype = \"array\"\n";
    Server::start_with_models(data.path(), models, args)
}

#[test]
fn an_upload_is_served_as_it_was_sent() {
    let server = Server::start(&QUICK);
    let png = image(30, 20, ImageFormat::Png);
    let data = uploaded(&server, &png);
    assert_eq!(data["type"], "image/png");
    assert_eq!(data["bytes"], png.len());
    assert_eq!((&data["width"], &data["height"]), (&json!(30), &json!(20)));
    assert_eq!(data["sha256"].as_str().unwrap().len(), 64);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let days = (data["expires_at"].as_u64().unwrap() - now.as_secs()) as f64 / 86400.0;
    assert!((6.9..7.1).contains(&days), "{days}");
    assert!(data["url"].as_str().unwrap().starts_with(&server.url));

    let served = server.get(&path_of(&data["url"]));
    assert_eq!(served.status, 200);
    assert_eq!(served.bytes, png);
    assert_eq!(served.header("content-type"), "image/png");
    assert!(
        served
            .header("content-security-policy")
            .starts_with("sandbox")
    );
    assert_eq!(served.header("x-content-type-options"), "nosniff");
}

#[test]
fn models_announce_the_limits_of_uploads() {
    let uploads = Server::start(&QUICK).get("/api/models").json()["uploads"].clone();
    assert_eq!(uploads["max_bytes"], 50_000_000);
    assert_eq!(uploads["ttl_seconds"], 604_800);
    assert!(
        uploads["types"]
            .as_array()
            .unwrap()
            .contains(&json!("image/webp"))
    );
}

#[test]
fn the_same_bytes_are_stored_once_per_account() {
    let server = Server::start(&QUICK);
    let png = image(30, 20, ImageFormat::Png);
    let first = uploaded(&server, &png);
    assert_eq!(uploaded(&server, &png)["url"], first["url"]);
    assert_ne!(
        uploaded(&server, &image(31, 20, ImageFormat::Png))["url"],
        first["url"]
    );
    let headers = [("authorization", "Bearer other")];
    let other = server.call("POST", "/v2/uploads", &headers, &png);
    assert_eq!(other.status, 200, "{}", other.text());
    assert_ne!(other.json()["data"]["url"], first["url"]);
}

#[test]
fn uploads_that_can_not_be_used_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &["--speed", "0", "--upload-limit", "100kB"]);
    let png = image(30, 20, ImageFormat::Png);
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    for (bytes, status, error) in [
        (&b""[..], 415, "unsupported_type"),
        (svg, 415, "unsupported_type"),
        (b"<!DOCTYPE html><p>", 415, "unsupported_type"),
        (&png[..png.len() - 20], 422, "unusable_file"),
        (&[0; 100_001], 413, "too_large"),
    ] {
        let answer = upload(&server, bytes);
        assert_eq!((answer.status, answer.error().as_str()), (status, error));
    }
    let without_token = server.call("POST", "/v2/uploads", &[], &png);
    assert_eq!(without_token.status, 401);
    assert_eq!(files(&data.path().join("outputs")), Vec::<String>::new());
    assert_eq!(incoming(data.path()), 0);
}

/// Guards against corrupting large files, in particular when they are sent to a bucket in parts.
#[test]
fn a_large_file_is_served_as_it_was_sent() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &QUICK);
    let samples = (0..5_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
    let mut wav = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    wav.extend(samples);
    let upload = uploaded(&server, &wav);
    assert_eq!(upload["type"], "audio/wav");
    assert!(server.get(&path_of(&upload["url"])).bytes == wav);
    assert_eq!(incoming(data.path()), 0);
}

/// The input of a task names several uploads. Guards against refusing the task, and against giving the model the same
/// file for two different uploads.
#[test]
#[cfg(unix)]
fn a_task_can_use_several_uploads_and_one_of_them_twice() {
    let data = tempfile::tempdir().unwrap();
    let server = with_program(&data, "cat > 1-input.json", &["--speed", "0"]);
    let first = uploaded(&server, &image(30, 20, ImageFormat::Png))["url"].clone();
    let second = uploaded(&server, &image(31, 20, ImageFormat::Png))["url"].clone();
    let input = json!({"prompt": "a", "picture": first, "others": [first, second]});
    let urls = server.output(PROGRAM, input);
    let seen: Value = server.get(&path_of(&json!(urls[0]))).json();
    let read = |value: &Value| std::fs::read(value.as_str().unwrap()).unwrap();
    assert_eq!(read(&seen["picture"]), image(30, 20, ImageFormat::Png));
    assert_eq!(read(&seen["others"][0]), image(30, 20, ImageFormat::Png));
    assert_eq!(read(&seen["others"][1]), image(31, 20, ImageFormat::Png));
}

/// Guards against running a model, which may cost money, when its input file is missing.
#[test]
#[cfg(unix)]
fn a_task_whose_input_file_is_missing_fails_without_its_model() {
    let data = tempfile::tempdir().unwrap();
    if support::cluster::bucket().is_some() {
        return; // The test removes a file of a folder.
    }
    let folder = data.path().display();
    let script = format!(
        "echo run >> {folder}/runs; while [ -d {folder} ] && [ ! -e {folder}/go ]; do sleep 0.05; done\n\
         echo made > 1.txt"
    );
    let server = with_program(&data, &script, &["--speed", "0"]);
    let upload = uploaded(&server, &image(30, 20, ImageFormat::Png));
    // The second task waits for the end of the first one.
    let first = server.generate(PROGRAM, json!({"prompt": "a"}));
    let task = server.generate(PROGRAM, json!({"prompt": "a", "picture": upload["url"]}));
    let file = data.path().join(&path_of(&upload["url"])[1..]);
    std::fs::remove_file(file).unwrap();
    std::fs::write(data.path().join("go"), "").unwrap();
    assert_eq!(server.wait(&first)["status"], "completed");
    let ended = server.wait(&task);
    assert_eq!(ended["status"], "failed", "{ended}");
    assert!(
        ended["error"]
            .as_str()
            .unwrap()
            .contains("does not exist any more"),
        "{ended}"
    );
    let runs = std::fs::read_to_string(data.path().join("runs")).unwrap();
    assert_eq!(runs, "run\n", "the program was run for the second task");
}

/// Guards against comparing only the declared length with the limit.
#[test]
fn a_body_without_a_length_is_limited_too() {
    let server = Server::start(&["--speed", "0", "--upload-limit", "100kB"]);
    let mut stream = server.connect();
    let head = "POST /v2/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"8000\r\n", &[7; 0x8000][..], b"\r\n"].concat();
    for _ in 0..3 {
        stream.write_all(&chunk).unwrap();
    }
    let answer = exchange(&mut stream, &chunk);
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[test]
fn an_aborted_upload_leaves_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &QUICK);
    let mut stream = server.connect();
    let head = "POST /v2/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\nContent-Length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&[7; 200_000]).unwrap();
    until("a file is received", || incoming(data.path()) == 1);
    drop(stream);
    until("it is removed", || incoming(data.path()) == 0);
}

#[test]
fn uploads_can_be_switched_off() {
    let server = Server::start(&["--speed", "0", "--upload-limit", "off"]);
    let refused = upload(&server, &image(30, 20, ImageFormat::Png));
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (403, "uploads_off")
    );
    assert_eq!(server.get("/api/models").json().get("uploads"), None);
}

#[test]
fn uploads_count_for_the_disk_limit_of_their_account() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &["--speed", "0", "--account-disk", "20kB"]);
    let noise = |seed: u32| {
        let mut state = seed;
        let image = RgbImage::from_fn(60, 60, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgb([(state >> 24) as u8, (state >> 16) as u8, (state >> 8) as u8])
        });
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::from(image)
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        bytes.into_inner()
    };
    let first = noise(1);
    assert!(first.len() > 10_000);
    uploaded(&server, &first);
    let refused = upload(&server, &noise(2));
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (402, "account_disk_full")
    );
    // The same bytes take no more space.
    uploaded(&server, &first);
}

#[test]
fn repaint_takes_uploads_of_several_formats_upright() {
    let server = Server::start(&QUICK);
    let jpeg = rotated(&image(64, 48, ImageFormat::Jpeg));
    let upright = uploaded(&server, &jpeg);
    assert_eq!(
        (&upright["width"], &upright["height"]),
        (&json!(48), &json!(64))
    );
    for (data, size) in [
        (upright, (48, 64)),
        (
            uploaded(&server, &image(64, 48, ImageFormat::WebP)),
            (64, 48),
        ),
        (
            uploaded(&server, &image(64, 48, ImageFormat::Png)),
            (64, 48),
        ),
    ] {
        let input = json!({"prompt": "coral", "image_url": data["url"]});
        let urls = server.output(REPAINT, input);
        let made = image::load_from_memory(&server.get(&path_of(&json!(urls[0]))).bytes).unwrap();
        assert_eq!((made.width(), made.height()), size);
    }
    let sound = uploaded(&server, b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0");
    let input = json!({"prompt": "coral", "image_url": sound["url"]});
    let refused = server.post("/v2/generate", &request(REPAINT, input));
    assert_eq!(refused.status, 422, "{}", refused.text());
}

/// Guards against removing an upload while a task needs it, and against never removing it.
#[test]
fn an_expired_upload_is_removed_with_the_last_task_that_uses_it() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &QUICK);
    let used = uploaded(&server, &image(30, 20, ImageFormat::Png));
    let unused = uploaded(&server, &image(31, 20, ImageFormat::Png));
    let input = json!({"prompt": "coral", "image_url": used["url"]});
    let task = server.generate(REPAINT, input);
    server.wait(&task);
    server.kill();
    let age = |statement: &str| {
        if !support::cluster::execute(data.path(), statement) {
            let database = rusqlite::Connection::open(data.path().join("tasks.sqlite")).unwrap();
            database.execute_batch(statement).unwrap();
        }
    };
    age("UPDATE upload SET expires_ms = expires_ms - 8 * 86400000");
    let mut server = Server::start_on(data.path(), &["--speed", "0", "--keep-days", "7"]);
    let is_gone =
        |server: &Server, upload: &Value| server.get(&path_of(&upload["url"])).status == 404;
    until("the unused upload is removed", || is_gone(&server, &unused));
    assert!(!is_gone(&server, &used));
    // It can be uploaded again.
    let again = uploaded(&server, &image(31, 20, ImageFormat::Png));
    assert!(!is_gone(&server, &again));
    server.kill();
    age("UPDATE task SET finished_ms = finished_ms - 8 * 86400000");
    let server = Server::start_on(data.path(), &["--speed", "0", "--keep-days", "7"]);
    until("the used upload is removed", || is_gone(&server, &used));
    assert!(!is_gone(&server, &again));
    assert_eq!(server.post("/v2/status", &task).status, 404);
    let tasks_left = server.generate(STRATA, json!({"prompt": "a"}));
    server.wait(&tasks_left);
}
