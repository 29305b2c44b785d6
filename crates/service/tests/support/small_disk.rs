//! A small file system, to be filled.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Unmounted when dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None` where it can't be mounted, which takes root: then the test says, for all to see, that
    /// it was skipped.
    pub fn mount(test: &str, megabytes: u32) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        // Not by a macro, whose output a test that passes does not show.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED {test}: a small file system can't be mounted here (it takes root)"
        );
        None
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Until not a byte is left.
    pub fn fill(&self) {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(self.path().join("filler"))
            .unwrap();
        let mut block = vec![0; 1 << 20];
        while !block.is_empty() {
            match file.write_all(&block) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => {
                    block.truncate(block.len() / 2);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub fn empty(&self) {
        std::fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Also while a process still has a file open there.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .status();
    }
}
