//! Files that are their owner's alone: prompts and pictures are not readable by other users.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;

/// From here on, whatever this process makes can be read by its owner alone, whichever library
/// makes it.
pub fn from_now_on() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Closes this process to other programs of the same user, which could read its environment and memory in
/// `/proc` otherwise. Linux alone has that.
pub fn hide_process() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // No system refuses it.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Makes a directory, and those above it, if it is absent.
///
/// # Errors
///
/// It can't be made, for want of rights or because there is a file of that name.
pub fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Closes what an earlier version has left open to others. The directory itself may have been made
/// by another user, for more than this service.
///
/// # Errors
///
/// The rights of one of them can't be changed, for instance because it belongs to another user. That one is
/// absent is no error.
pub fn close(data: &Path) -> io::Result<()> {
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
