//! The permitted host names and origins, and the addresses in responses.

use super::support::Server;

#[test]
fn pages_of_this_machine_may_call() {
    let server = Server::start(&[]);
    let page = ("origin", "http://localhost:8080");
    let preflight = [
        page,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    let answer = server.call("OPTIONS", "/v2/generate", &preflight, b"");
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, page.1)
    );
    assert!(
        answer
            .header("access-control-allow-headers")
            .contains("authorization")
    );
    assert!(!answer.header("access-control-max-age").is_empty());
    let refused = server.call("POST", "/v2/status", &[page], b"");
    assert_eq!(
        (
            refused.status,
            refused.header("access-control-allow-origin")
        ),
        (401, page.1)
    );
    assert!(
        refused
            .header("access-control-expose-headers")
            .contains("retry-after")
    );
    assert!(
        refused
            .header("access-control-allow-credentials")
            .is_empty()
    );
    // A browser must not use a response that it cached without CORS headers for a request that needs them.
    let vary = server.get("/api/models").header("vary").to_owned();
    assert!(vary.contains("origin"), "{vary}");
}

/// Guards against calls by other web pages. Such a page sends its own origin or, with DNS rebinding, its own host name.
#[test]
fn other_hosts_and_origins_are_refused() {
    let server = Server::start(&[]);
    let port = server.url.rsplit(':').next().unwrap();
    let evil = [("host", "evil.example")];
    let with_port = format!("evil.example:{port}");
    for (path, method) in [
        ("/api/models", "GET"),
        ("/v2/generate", "POST"),
        ("/", "GET"),
    ] {
        for headers in [evil, [("host", with_port.as_str())]] {
            let answer = server.call(method, path, &headers, b"");
            assert_eq!(
                (answer.status, answer.error().as_str()),
                (421, "host_not_allowed")
            );
        }
        let answer = server.call(method, path, &[("origin", "https://evil.example")], b"");
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (403, "origin_not_allowed")
        );
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    assert_eq!(
        server
            .call("GET", "/api/models", &[("origin", "null")], b"")
            .status,
        403
    );
    let local = [("host", "localhost:1"), ("origin", "http://[::1]:9")];
    assert_eq!(server.call("GET", "/api/models", &local, b"").status, 200);

    let server = Server::start(&[
        "--allow-host",
        "evil.example",
        "--allow-origin",
        "https://evil.example",
    ]);
    let headers = [("host", "evil.example"), ("origin", "https://evil.example")];
    let answer = server.call("GET", "/api/models", &headers, b"");
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "https://evil.example")
    );
}

#[test]
fn urls_follow_the_address_that_the_caller_used() {
    // Guards against using the headers of any client in addresses and downloaded files.
    let server = Server::start(&[]);
    let forwarded = [
        ("x-forwarded-host", "localhost:1"),
        ("x-forwarded-proto", "https"),
    ];
    let file = server.call("GET", "/api/openai-function/image/strata", &forwarded, b"");
    let address = format!("BASE_URL = \"{}\"", server.url);
    assert!(file.text().contains(&address), "{address}");

    let server = Server::start(&["--trust-proxy", "--allow-host", "studio.example"]);
    let evil = [("x-forwarded-host", "evil.example")];
    assert_eq!(server.call("GET", "/api/models", &evil, b"").status, 421);
    let headers = [
        ("x-forwarded-host", "studio.example"),
        ("x-forwarded-proto", "https"),
    ];
    let models = server.call("GET", "/api/models", &headers, b"").json();
    let preview = models["data"][0]["preview"].as_str().unwrap();
    assert!(
        preview.starts_with("https://studio.example/outputs/previews/"),
        "{preview}"
    );
    let server = Server::start(&["--public-url", "https://a.example/x/"]);
    let models = server.get("/api/models").json();
    assert!(
        models["data"][0]["documentation"]
            .as_str()
            .unwrap()
            .starts_with("https://a.example/x/api/")
    );
    let file = server.get("/api/openai-function/image/strata").text();
    assert!(file.contains("BASE_URL = \"https://a.example/x\""));
}
