//! Restricts files to their owner, so that other users can't read prompts and pictures.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;

/// Sets the umask, so that only the owner can read files that this process or any library creates from now on.
pub fn restrict_umask() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Prevents other programs of the same user from reading this process's environment and memory in `/proc`. Only for
/// Linux.
pub fn hide_process() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // This never fails.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Creates a directory and its parents, if missing.
///
/// # Errors
///
/// Permissions are missing, or there is a file of that name.
pub fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Restricts files that earlier versions left readable for other users. Doesn't change the permissions of the data
/// directory itself, which may belong to another user.
///
/// # Errors
///
/// The permissions of a file can't be changed, for instance because it belongs to another user. A missing file is not an
/// error.
pub fn restrict_old_files(data: &Path) -> io::Result<()> {
    for (name, mode) in [
        ("outputs", 0o700),
        ("tasks.sqlite", 0o600),
        ("accounts.sqlite", 0o600),
        ("tasks.sqlite-wal", 0o600),
    ] {
        match restrict(&data.join(name), mode) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict(path: &Path, _mode: u32) -> io::Result<()> {
    fs::metadata(path).map(drop)
}
