//! Pictures of the input, which are sent as files to `/images/edits`.

use serde_json::json;
use tempfile::TempDir;

use crate::support::Server;
use crate::support::small_server::{Request, SmallServer, json_response};
use crate::{GENERATIONS, MODEL, PNG, PNG_BASE64, models, one_picture};

const EDITS: &str = "/v1/images/edits";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// The parameters of a model that edits pictures.
const PARAMETERS: &str = r#"
[[model.parameter]]
name = "prompt"
type = "string"
required = true
[[model.parameter]]
name = "image"
type = "file"
[[model.parameter]]
name = "references"
type = "array"
[[model.parameter]]
name = "images"
type = "array"
[[model.parameter]]
name = "mask"
type = "file"
[[model.parameter]]
name = "n"
type = "integer"
"#;

fn start(data: &TempDir, server: &SmallServer, more: &str) -> Server {
    let models = models(&server.url(), &format!("{more}\n{PARAMETERS}"));
    Server::start_with_models(data.path(), &models, &["--speed", "0"])
}

fn data_uri(bytes: &[u8]) -> String {
    let kind = if bytes == JPEG { "jpeg" } else { "png" };
    let data = if bytes == JPEG { "/9j/" } else { PNG_BASE64 };
    format!("data:image/{kind};base64,{data}")
}

/// One part of a form.
#[derive(Debug, PartialEq)]
struct Part {
    name: String,
    /// Empty for a text.
    file_name: String,
    content_type: String,
    content: Vec<u8>,
}

fn text(name: &str, content: &str) -> Part {
    Part {
        name: name.into(),
        file_name: String::new(),
        content_type: String::new(),
        content: content.as_bytes().to_vec(),
    }
}

fn file(name: &str, file_name: &str, content_type: &str, content: &[u8]) -> Part {
    Part {
        name: name.into(),
        file_name: file_name.into(),
        content_type: content_type.into(),
        content: content.to_vec(),
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Parses a form as servers do.
fn parts(request: &Request) -> Vec<Part> {
    let content_type = request.header("content-type");
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let delimiter = format!("\r\n--{boundary}");
    let body = [b"\r\n".as_slice(), &request.body].concat();
    let mut rest = &body[find(&body, delimiter.as_bytes()).unwrap() + delimiter.len()..];
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        let end = find(rest, delimiter.as_bytes()).unwrap();
        let head = find(rest, b"\r\n\r\n").unwrap();
        let headers = std::str::from_utf8(&rest[..head]).unwrap();
        let after = |what: &str, until: &str| {
            let from = headers.find(what).map(|at| &headers[at + what.len()..]);
            let value = from.map(|from| from.split(until).next().unwrap());
            value.unwrap_or_default().to_owned()
        };
        parts.push(Part {
            name: after("; name=\"", "\""),
            file_name: after("filename=\"", "\""),
            content_type: after("Content-Type: ", "\r\n"),
            content: rest[head + 4..end].to_vec(),
        });
        rest = &rest[end + delimiter.len()..];
    }
    parts
}

fn upload(service: &Server, bytes: &[u8]) -> String {
    let answer = service.call(
        "POST",
        "/v2/uploads",
        &[("authorization", "Bearer t")],
        bytes,
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"]["url"].as_str().unwrap().to_owned()
}

/// Returns a small picture that the service accepts as an upload.
fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::DynamicImage::new_rgb8(2, 2);
    picture
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

#[test]
fn one_picture_is_sent_as_image_and_several_as_a_list() {
    let server = SmallServer::start(|_| one_picture());
    let data = TempDir::new().unwrap();
    let service = start(&data, &server, "fields = { quality = \"high\" }");
    let uploaded = picture();
    let url = upload(&service, &uploaded);
    let made = service.output(MODEL, json!({"prompt": "a fox", "image": url, "n": 1}));
    assert_eq!(service.get(&made[0]).bytes, PNG);
    let [request] = &server.requests(EDITS)[..] else {
        panic!("not exactly one request")
    };
    let image = file("image", "1.png", "image/png", &uploaded);
    let texts = [
        text("model", "gpt-image-1"),
        text("n", "1"),
        text("prompt", "a fox"),
        text("quality", "high"),
    ];
    let mut found = parts(request);
    found[1..].sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(found[0], image);
    assert_eq!(found[1..], texts);
    let length: usize = request.header("content-length").parse().unwrap();
    assert_eq!(length, request.body.len(), "the length is known");
    assert!(!request.header("idempotency-key").is_empty());

    // An earlier output, data, lists and a mask.
    let input = json!({
        "prompt": "a fox", "image": made[0], "images": [data_uri(JPEG), "", null, url], "mask": data_uri(PNG),
    });
    service.output(MODEL, input);
    let found = parts(&server.requests(EDITS)[1]);
    let pictures = [
        file("image[]", "1.png", "image/png", PNG),
        file("image[]", "2.jpg", "image/jpeg", JPEG),
        file("image[]", "3.png", "image/png", &uploaded),
        file("mask", "4.png", "image/png", PNG),
    ];
    assert_eq!(found[..4], pictures);
    assert!(found[4..].iter().all(|part| part.file_name.is_empty()));

    // Without pictures, a request is JSON.
    service.output(MODEL, json!({"prompt": "a fox", "images": []}));
    let [request] = &server.requests(GENERATIONS)[..] else {
        panic!("not exactly one request")
    };
    assert_eq!(request.json()["prompt"], "a fox");
    assert_eq!(server.requests(EDITS).len(), 2);
}

#[test]
fn the_models_file_chooses_how_pictures_are_sent() {
    let server = SmallServer::start(|_| one_picture());
    let input = json!({"prompt": "a", "images": [data_uri(PNG), data_uri(JPEG)]});
    let data = TempDir::new().unwrap();
    let service = start(&data, &server, "image_field = \"image\"");
    service.output(MODEL, input.clone());
    let found = parts(&server.requests(EDITS)[0]);
    assert_eq!((&*found[0].name, &*found[1].name), ("image", "image"));

    let data = TempDir::new().unwrap();
    let service = start(&data, &server, "pictures = \"data\"");
    service.output(MODEL, input.clone());
    let body = server.requests(GENERATIONS)[0].json();
    assert_eq!(body["images"], input["images"]);
    assert_eq!(server.requests(EDITS).len(), 1);

    // An address of another server stays a text.
    let data = TempDir::new().unwrap();
    let models = models(&server.url(), PARAMETERS);
    let models = models.replace("[model.openai]", "addresses = true\n[model.openai]");
    let service = Server::start_with_models(data.path(), &models, &["--speed", "0"]);
    let address = "https://a.example/b.png";
    service.output(MODEL, json!({"prompt": "a", "image": address}));
    assert!(parts(&server.requests(EDITS)[1]).contains(&text("image", address)));
}

#[test]
fn white_areas_of_a_mask_become_transparent_unless_the_models_file_keeps_them() {
    let server = SmallServer::start(|_| one_picture());
    for (more, is_converted) in [("", true), ("mask = \"unchanged\"", false)] {
        let data = TempDir::new().unwrap();
        let service = start(&data, &server, more);
        let mask = picture();
        let url = upload(&service, &mask);
        service.output(MODEL, json!({"prompt": "a", "image": url, "mask": url}));
        let requests = server.requests(EDITS);
        let found = parts(requests.last().unwrap());
        assert_eq!(found[0], file("image", "1.png", "image/png", &mask));
        assert_eq!((&*found[1].name, &*found[1].file_name), ("mask", "2.png"));
        let sent = image::load_from_memory(&found[1].content).unwrap();
        assert_eq!(sent.color().has_alpha(), is_converted);
        assert_eq!(found[1].content != mask, is_converted);
    }
}

/// Guards against paying twice for an edit whose answer was lost, and against paying for one whose file is gone.
#[test]
fn an_edit_is_sent_once_and_not_without_its_file() {
    let server = SmallServer::start(|request| match request.path.as_str() {
        EDITS => None,
        _ => json_response(404, json!({})),
    });
    let data = TempDir::new().unwrap();
    let service = start(&data, &server, "");
    let ended = |input| service.wait(&service.generate(MODEL, input))["error"].to_string();
    let error = ended(json!({"prompt": "a", "image": data_uri(PNG)}));
    assert!(error.contains("not sent again by itself"), "{error}");
    assert_eq!(server.requests(EDITS).len(), 1);
    let error = ended(json!({"prompt": "a", "image": "data:image/png;base64,***"}));
    assert!(error.contains("can't be decoded"), "{error}");
    let error = ended(json!({"prompt": "a", "images": [data_uri(PNG), "other"]}));
    assert!(
        error.contains("neither a picture nor an address"),
        "{error}"
    );
    let error = ended(json!({"prompt": "a", "mask": data_uri(PNG)}));
    assert!(error.contains("needs a picture"), "{error}");
    assert_eq!(server.requests(EDITS).len(), 1);
}

#[test]
fn a_server_with_idempotency_keys_gets_the_same_files_again() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = SmallServer::start(move |request| match request.path.as_str() {
        EDITS if count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => None,
        _ => one_picture(),
    });
    let data = TempDir::new().unwrap();
    let service = start(&data, &server, "idempotent = true");
    let url = upload(&service, &picture());
    service.output(MODEL, json!({"prompt": "a", "image": url}));
    let [first, second] = &server.requests(EDITS)[..] else {
        panic!("not exactly two requests")
    };
    assert_eq!(
        first.header("idempotency-key"),
        second.header("idempotency-key")
    );
    // Byte by byte, because servers compare digests.
    assert_eq!(first.header("content-type"), second.header("content-type"));
    assert!(first.body == second.body);
    assert_eq!(parts(first).len(), 3);
}
