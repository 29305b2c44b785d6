//! `--site`: serves a built front-end in addition to the interface.

mod support;

use std::fs;

use support::Server;

#[test]
fn files_and_pages_are_served_with_their_encodings() {
    let site = tempfile::tempdir().unwrap();
    fs::write(site.path().join("index.html"), "the page").unwrap();
    fs::write(site.path().join("app-0123456789abcdef_bg.wasm"), "plain").unwrap();
    fs::write(
        site.path().join("app-0123456789abcdef_bg.wasm.br"),
        "brotli",
    )
    .unwrap();
    fs::write(site.path().join("app-0123456789abcdef_bg.wasm.gz"), "gzip").unwrap();
    let server = Server::start(&["--site", site.path().to_str().unwrap()]);
    for path in ["/", "/index.html", "/models/image/strata", "/tasks?x=1"] {
        let page = server.get(path);
        assert_eq!(
            (page.status, page.text().as_str()),
            (200, "the page"),
            "{path}"
        );
        assert_eq!(page.header("cache-control"), "no-cache");
        assert!(page.header("content-type").starts_with("text/html"));
    }
    assert_eq!(server.get("/missing.css").status, 404);
    assert_eq!(server.get("/api/missing").status, 404);
    assert_eq!(server.get("/../Cargo.toml").status, 404);
    for (accepted, text, encoding) in [("br, gzip", "brotli", "br"), ("identity", "plain", "")] {
        let headers = [("accept-encoding", accepted)];
        let file = server.call("GET", "/app-0123456789abcdef_bg.wasm", &headers, b"");
        assert_eq!(
            (file.text().as_str(), file.header("content-encoding")),
            (text, encoding)
        );
        assert_eq!(file.header("content-type"), "application/wasm");
        assert!(file.header("cache-control").contains("immutable"));
    }
    assert_eq!(server.get("/api/models").status, 200);
}

/// Guards against caching a missing file for a year, and against a 304 for a page that a rollback has replaced with an
/// older one.
#[test]
fn missing_files_are_not_cached_and_dates_are_ignored() {
    let site = tempfile::tempdir().unwrap();
    fs::write(site.path().join("index.html"), "the page").unwrap();
    let server = Server::start(&["--site", site.path().to_str().unwrap()]);
    let file = server.get("/app-0123456789abcdef.js");
    assert_eq!(
        (file.status, file.header("cache-control")),
        (404, "no-cache")
    );
    let if_newer = [("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")];
    for path in ["/", "/tasks"] {
        let page = server.call("GET", path, &if_newer, b"");
        assert_eq!(
            (page.status, page.text().as_str()),
            (200, "the page"),
            "{path}"
        );
    }
}
