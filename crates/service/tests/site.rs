//! `--site`: a built front-end beside the interface.

mod support;

use std::fs;

use support::Server;

#[test]
fn files_pages_and_encodings() {
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
