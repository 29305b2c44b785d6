//! What is WebKit's own: how it is started. There is no headless one: it needs a display, which may be
//! a virtual one (`xvfb-run`).

use crate::Result;
use crate::driver::{Port, Program};
use serde_json::{Value, json};
use std::path::Path;

/// How WebKit's driver is started. It keeps downloads where the desktop says, in a file of its configuration.
///
/// # Errors
///
/// The file can't be written.
pub(crate) fn driver(profile: &Path, downloads: &Path) -> Result<Program> {
    let folder = format!("XDG_DOWNLOAD_DIR=\"{}\"\n", downloads.display());
    std::fs::write(profile.join("user-dirs.dirs"), folder)?;
    let mut program = Program::named("WEBKITDRIVER", "WebKitWebDriver", Port::Given("--port="));
    program.command.env("XDG_CONFIG_HOME", profile);
    // A browser without hardware draws by itself, at once.
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
