//! Calls the service with the official packages for JavaScript.
//!
//! `ATELIER_NODE_MODULES` names the folder of the packages. `./dev test` installs them, and sets the variable.

#![cfg(unix)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Server;

/// Runs a script with the address of the service.
fn node(script: &str, server: &Server) {
    let packages = std::env::var_os("ATELIER_NODE_MODULES").map(PathBuf::from);
    let packages = packages.expect("set ATELIER_NODE_MODULES, or run ./dev test native");
    // Node.js looks for packages next to the script.
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(packages, folder.path().join("node_modules")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/javascript");
    let copy = folder.path().join(script);
    std::fs::copy(source.join(script), &copy).unwrap();
    let output = Command::new("node")
        .arg(&copy)
        .arg(&server.url)
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn openais_client_generates_and_edits_images() {
    let server = Server::start(&["--speed", "0"]);
    node("proof_images_api.mjs", &server);
}

/// Guards against an MCP server that the official clients can't use, and against a second charge when one gives up.
#[test]
fn the_official_mcp_clients_use_the_service() {
    let server = Server::start_with_mcp_tools();
    node("proof_mcp.mjs", &server);
}
