//! The addresses in an input that the service passes on to remote models.

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::small_server::{Request, Response, SmallServer, json_response};
use support::{Server, request};
use tempfile::TempDir;

const COG: (&str, &str) = ("image", "cog");

/// Returns a container whose inputs can contain addresses in every position.
fn container() -> SmallServer {
    SmallServer::start(|request: &Request| -> Response {
        let file = json!({"type": "string", "format": "uri"});
        match request.path.as_str() {
            "/health-check" => json_response(200, json!({"status": "READY"})),
            "/openapi.json" => json_response(
                200,
                json!({"components": {"schemas": {"Input": {"properties": {
                    "prompt": {"type": "string"},
                    "image": {"type": "string"},
                    "pictures": {"type": "array", "items": file},
                    "words": {"type": "array", "items": {"type": "string"}},
                    "options": {"type": "object"},
                    "anything": {}
                }}}}}),
            ),
            _ => json_response(200, json!({"status": "succeeded", "output": "done"})),
        }
    })
}

fn start(data: &Path, address: &str, more: &str) -> Server {
    let models = format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"cog\"\nname = \"Cog\"\n{more}\n\
         [model.cog]\naddress = \"{address}\"\n"
    );
    Server::start_with_models(data, &models, &["--speed", "0"])
}

/// Guards against passing on addresses in lists and objects, or in capitals, although the models file does not permit
/// addresses.
#[test]
fn without_addresses_no_address_is_passed_on_in_any_position() {
    let container = container();
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &container.url(), "");
    let address = "http://169.254.169.254/latest/meta-data";
    for (input, name) in [
        (json!({"image": address}), "image"),
        (json!({"image": "HTTP://169.254.169.254/"}), "image"),
        (json!({"image": "file:///etc/passwd"}), "image"),
        (json!({"image": "//169.254.169.254/"}), "image"),
        (json!({"pictures": [address]}), "pictures[0]"),
        (json!({"pictures": ["data:,a", address]}), "pictures[1]"),
        (json!({"pictures": [[address]]}), "pictures[0][0]"),
        (json!({"pictures": ["/etc/passwd"]}), "pictures[0]"),
        (json!({"options": {"from": address}}), "options.from"),
        (
            json!({"options": {"a": [{"b": address}]}}),
            "options.a[0].b",
        ),
        (json!({"anything": address}), "anything"),
        (json!({"anything": [" HTTPS://a.example/ "]}), "anything[0]"),
    ] {
        let answer = server.post("/v2/generate", &request(COG, input.clone()));
        assert_eq!(answer.status, 422, "{input}: {}", answer.text());
        let problem = format!("{name} must be the address of a file that this service made");
        assert!(answer.text().contains(&problem), "{}", answer.text());
    }
    // Plain texts may contain addresses.
    let input = json!({"prompt": address, "words": [address], "options": {"a": "see http://x"}});
    assert_eq!(sent(&server, &container, input.clone()), input);

    drop(server);
    let server = start(data.path(), &container.url(), "addresses = true");
    let input = json!({"image": address, "pictures": [address], "options": {"a": [address]}});
    assert_eq!(sent(&server, &container, input.clone()), input);
}

/// `addresses = true` permits only http and https: other schemes can refer to files of this machine, or use credentials
/// of the model. Guards against a misleading message for other schemes, such as `s3://`.
#[test]
fn other_schemes_are_refused_and_permitted_in_plain_texts() {
    let container = container();
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &container.url(), "addresses = true");
    let bucket = "s3://bucket/a.png";
    for (input, words) in [
        (json!({"image": bucket}), "image is an address with s3:, "),
        (
            json!({"pictures": [bucket]}),
            "pictures[0] is an address with s3:, ",
        ),
        (
            json!({"options": {"a": "file:/etc/passwd"}}),
            "options.a is an address with file:, ",
        ),
        (
            json!({"pictures": ["a.png"]}),
            "pictures[0] must be an http(s) address, ",
        ),
    ] {
        let answer = server.post("/v2/generate", &request(COG, input));
        let text = answer.text();
        assert_eq!(answer.status, 422, "{text}");
        let permitted =
            "http(s) address, a data: URI, or the address of a file that this service made";
        assert!(text.contains(words) && text.contains(permitted), "{text}");
    }
    let input = json!({"prompt": bucket, "words": [bucket, "file:///a"], "options": {"a": "see s3://bucket"}});
    assert_eq!(sent(&server, &container, input.clone()), input);
}

/// Runs a task and returns the input that the container received.
fn sent(server: &Server, container: &SmallServer, input: Value) -> Value {
    let task = server.generate(COG, input);
    assert_eq!(server.wait(&task)["status"], "completed");
    let path = format!("/predictions/{}", task["id"].as_str().unwrap());
    container.requests(&path)[0].json()["input"].clone()
}

/// Guards against passing on addresses of outputs in lists, which models can't read.
#[test]
fn outputs_in_lists_and_objects_are_passed_on_as_files() {
    let container = container();
    let data = TempDir::new().unwrap();
    let server = start(data.path(), &container.url(), "");
    let picture = server
        .output(support::STRATA, json!({"prompt": "a"}))
        .remove(0);
    let input = json!({"pictures": [picture, [picture]], "options": {"a": {"b": picture}}});
    let sent = sent(&server, &container, input);
    for place in ["/pictures/0", "/pictures/1/0", "/options/a/b"] {
        let value = sent.pointer(place).unwrap().as_str().unwrap();
        assert!(
            value.starts_with("data:image/png;base64,"),
            "{place}: {value:.60}"
        );
    }
}
