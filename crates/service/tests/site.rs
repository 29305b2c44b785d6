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
    // MCP clients look for OAuth servers there after a 401.
    let metadata = "/.well-known/oauth-protected-resource";
    assert_eq!(server.get(metadata).status, 404);
    for path in ["/api/missing", "/mcp/", "/mcp/sse", "/v1/missing"] {
        let missing = server.get(path);
        assert_eq!(
            (missing.status, missing.header("content-type")),
            (404, "application/json"),
            "{path}"
        );
    }
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

/// Guards against differences that are sent to browsers without the earlier file, or stored by caches for them.
#[test]
fn differences_are_sent_to_browsers_that_have_the_earlier_file() {
    const PATH: &str = "/app-0123456789abcdef_bg.wasm";
    // The beginning of a hash may contain a slash.
    const DICTIONARY: &str = ":uvUYbTLU67Wrj58/QVxTE5luI1it7a0VOVEOCnP8jkA=:";
    let site = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = site.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("index.html", "the page");
    write(PATH, "whole");
    write(
        "differences/uvUYbTLU67Wrj58/app-0123456789abcdef_bg.wasm.dcz",
        "difference",
    );
    let server = Server::start(&["--site", site.path().to_str().unwrap()]);
    let other = DICTIONARY.replace("uv", "vu");
    let accept = ("accept-encoding", "gzip, dcz");
    let had = ("available-dictionary", DICTIONARY);
    for (headers, text, encoding) in [
        (vec![accept, had], "difference", "dcz"),
        (vec![accept], "whole", ""),
        (vec![had], "whole", ""),
        (vec![accept, ("available-dictionary", &other)], "whole", ""),
        (vec![accept, had, ("range", "bytes=0-1")], "wh", ""),
    ] {
        let file = server.call("GET", PATH, &headers, b"");
        assert_eq!(
            (file.text().as_str(), file.header("content-encoding")),
            (text, encoding),
            "{headers:?}"
        );
        assert_eq!(file.header("content-type"), "application/wasm");
        assert_eq!(file.header("use-as-dictionary"), "match=\"/app-*_bg.wasm\"");
        assert!(file.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("vary") && value.contains("available-dictionary")
        }));
    }
}
