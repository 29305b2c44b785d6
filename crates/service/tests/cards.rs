//! Extensions of the interface for cards and forms: posters and vocabularies.

mod support;

use std::collections::HashSet;

use serde_json::{Value, json};
use support::Server;

/// Posters are rendered at the first request, so that they don't delay the start.
#[test]
fn posters_are_rendered_at_the_first_request() {
    let data = tempfile::TempDir::new().unwrap();
    let server = Server::start_on(data.path(), &[]);
    let list = server.get("/api/models").json();
    let models = list["data"].as_array().unwrap();
    assert_eq!(models.len(), 6);
    assert!(!data.path().join("outputs/posters").exists());
    let address = |model: &'_ Value| model["poster"].as_str().unwrap().to_owned();
    let addresses: HashSet<String> = models.iter().map(address).collect();
    assert_eq!(addresses.len(), models.len());
    for address in addresses {
        assert!(address.starts_with(&server.url), "{address}");
        let poster = server.get(&address);
        assert_eq!(
            (poster.status, poster.header("content-type")),
            (200, "image/webp")
        );
        let size = poster.bytes.len();
        assert!((1_000..=20_000).contains(&size), "{address}: {size}");
        assert!(poster.bytes.starts_with(b"RIFF") && poster.bytes[8..].starts_with(b"WEBPVP8 "));
        // The frame header contains width and height.
        assert_eq!(poster.bytes[26..30], [0, 2, 64, 1], "512 by 320");
        assert!(poster.header("cache-control").contains("immutable"));
        assert_eq!(poster.header("x-content-type-options"), "nosniff");
        assert_eq!(server.get(&address).bytes, poster.bytes);
    }
}

/// The vocabulary is an addition to the documented fields, and does not replace them.
#[test]
fn a_schema_contains_the_vocabulary_of_its_model() {
    let server = Server::start(&[]);
    let reply = server.get("/api/schema/image/fluxfield").json();
    let prompt = &reply["data"]["parameters"]["required"][0];
    assert_eq!(prompt["name"], "prompt");
    assert_eq!(prompt["type"], "string");
    assert!(!prompt["description"].as_str().unwrap().contains("[fail]"));
    let words = prompt["vocabulary"].as_array().unwrap();
    for expected in [
        ("teal", "colour"),
        ("paper", "ground"),
        ("storm", "weather"),
    ] {
        let expected = json!({"word": expected.0, "kind": expected.1});
        assert!(words.contains(&expected), "{expected}");
    }
}
