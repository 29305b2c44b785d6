//! Refused calls and inputs, and their error messages.

use serde_json::{Value, json};

use super::support::{STRATA, Server, request};

#[test]
fn invalid_inputs_are_refused_with_the_names_of_all_invalid_fields() {
    let server = Server::start(&[]);
    let refused = |body: &Value| {
        let answer = server.post("/v2/generate", body);
        assert_eq!(answer.status, 422, "{body}: {}", answer.text());
        assert_eq!(answer.error(), "invalid_input");
        let fields = answer.json()["fields"].as_array().unwrap().clone();
        let names: Vec<String> = fields
            .iter()
            .map(|f| f["parameter"].as_str().unwrap().to_owned())
            .collect();
        names.join(",")
    };
    assert_eq!(refused(&json!({})), "uid,category,subcategory");
    assert_eq!(
        refused(&json!({"uid": "", "category": 1, "subcategory": "strata"})),
        "uid,category"
    );
    assert_eq!(refused(&request(STRATA, json!({}))), "prompt");
    let wrong = json!({"prompt": 7, "layers": 99, "mist": "much", "water": "salt", "other": 1});
    assert_eq!(
        refused(&request(STRATA, wrong)),
        "prompt,layers,mist,water,other"
    );
    let number = json!({"prompt": "a", "symmetry": "4"});
    assert_eq!(
        refused(&request(("image", "fluxfield"), number)),
        "symmetry",
        "\"4\" is not 4"
    );
    assert_eq!(
        refused(&request(STRATA, json!({"prompt": "a", "seed": -1}))),
        "seed"
    );
    let unknown = server.post(
        "/v2/generate",
        &request(("image", "nothing"), json!({"prompt": "a"})),
    );
    assert_eq!(
        (unknown.status, unknown.error().as_str()),
        (404, "unknown_model")
    );
}

#[test]
fn only_images_of_this_service_are_accepted() {
    let server = Server::start(&["--speed", "0"]);
    let repaint = ("image", "repaint");
    let urls = server.output(STRATA, json!({"prompt": "a"}));
    for style in ["duotone", "halftone", "oil", "pixel-sort", "kaleidoscope"] {
        let made = server.output(
            repaint,
            json!({"prompt": "b", "image_url": urls[0], "style": style}),
        );
        assert_eq!(server.get(&made[0]).status, 200);
    }
    let elsewhere = urls[0].replace("127.0.0.1", "localhost");
    server.output(repaint, json!({"prompt": "b", "image_url": elsewhere}));
    for url in [
        "http://169.254.169.254/latest/meta-data.png",
        "http://example.com/outputs/a/0.png",
        "file:///etc/passwd",
        "/outputs/../tasks.sqlite",
        "",
        "data:image/png;base64,AAAA",
        &format!(
            "{}/outputs/00000000000000000000000000000000/0.png",
            server.url
        ),
        &format!("http://evil@{}", &urls[0]["http://".len()..]),
    ] {
        let answer = server.post(
            "/v2/generate",
            &request(repaint, json!({"prompt": "b", "image_url": url})),
        );
        assert_eq!(answer.status, 422, "{url}");
        assert_eq!(answer.json()["fields"][0]["parameter"], "image_url");
    }
}

#[test]
fn malformed_calls_are_refused() {
    let server = Server::start(&["--token", "secret"]);
    let json_type = ("content-type", "application/json");
    let body = request(STRATA, json!({"prompt": "a"})).to_string();
    let steps = ["generate", "status", "response"];
    let paths = steps
        .iter()
        .flat_map(|step| [format!("/v2/{step}"), format!("/v2/{step}-batch")]);
    for path in paths {
        for authorization in ["", "Bearer ", "Bearer wrong", "Basic secret"] {
            let headers = [("authorization", authorization), json_type];
            let answer = server.call("POST", &path, &headers, body.as_bytes());
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (401, "unauthorized"),
                "{path}"
            );
        }
    }
    let headers = [("authorization", "Bearer secret"), json_type];
    assert_eq!(
        server
            .call("POST", "/v2/generate", &headers, body.as_bytes())
            .status,
        200
    );
    let answer = server.call("POST", "/v2/generate", &headers, b"{\"uid\":");
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (400, "bad_request")
    );
    let large = vec![b' '; (1 << 20) + 1];
    let answer = server.call("POST", "/v2/generate", &headers, &large);
    assert_eq!((answer.status, answer.error().as_str()), (413, "too_large"));
    let answer = server.get("/v2/generate");
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (405, "method_not_allowed")
    );
    for path in ["/api/nothing", "/v2/nothing", "/nothing"] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (404, "not_found"),
            "{path}"
        );
    }
    // Guards against the framework's default error responses, which are not JSON.
    for path in ["schema", "openai-function", "comfyui-node", "docs"] {
        let answer = server.get(&format!("/api/{path}/image/%ff"));
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (400, "bad_request")
        );
    }
    for path in [
        "/api/schema/a/b",
        "/api/openai-function/a/b",
        "/api/comfyui-node/a/b",
    ] {
        assert_eq!(server.get(path).error(), "unknown_model");
    }
}
