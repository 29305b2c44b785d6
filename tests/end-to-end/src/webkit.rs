//! Starts WebKit. It has no headless mode: it needs a display, which may be virtual (`xvfb-run`).

use crate::Result;
use crate::driver::{Port, Program};
use serde_json::{Value, json};
use std::path::Path;

/// Returns the command for WebKit's driver. Sets the download folder in a configuration file of the desktop.
///
/// # Errors
///
/// The file can't be written.
pub(crate) fn driver(profile: &Path, downloads: &Path) -> Result<Program> {
    let folder = format!("XDG_DOWNLOAD_DIR=\"{}\"\n", downloads.display());
    std::fs::write(profile.join("user-dirs.dirs"), folder)?;
    let mut program = Program::named("WEBKITDRIVER", "WebKitWebDriver", Port::Assigned("--port="));
    program.command.env("XDG_CONFIG_HOME", profile);
    // Renders in software, as there is no graphics hardware.
    program.command.env("LIBGL_ALWAYS_SOFTWARE", "1");
    Ok(program)
}

pub(crate) fn capabilities() -> Value {
    let mut options = json!({ "args": ["--automation"] });
    if let Some(binary) = std::env::var_os("WEBKIT") {
        options["binary"] = json!(binary.to_string_lossy());
    }
    json!({ "webkitgtk:browserOptions": options })
}
