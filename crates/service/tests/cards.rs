//! What cards and forms are given beyond the interface.

mod support;

use std::collections::HashSet;

use serde_json::{Value, json};
use support::Server;

/// What a card needs is there at the first visit, and costs the start nothing.
#[test]
fn every_model_has_a_poster_that_is_drawn_when_it_is_first_asked_for() {
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
        // Width and height, in the head of the frame.
        assert_eq!(poster.bytes[26..30], [0, 2, 64, 1], "512 by 320");
        assert!(poster.header("cache-control").contains("immutable"));
        assert_eq!(poster.header("x-content-type-options"), "nosniff");
        assert_eq!(server.get(&address).bytes, poster.bytes);
    }
}

/// Guards against a vocabulary in place of what the interface documents, rather than in addition to it.
#[test]
fn a_schema_tells_the_words_that_its_model_understands() {
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
