//! A small file system that tests fill.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A small file system, which is unmounted on drop.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a file system. If that fails, because it requires root, prints that the test is skipped and returns
    /// `None`.
    pub fn mount(test: &str, megabytes: u32) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        // The test harness hides the output of `eprintln!` in passing tests.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED {test}: a small file system can't be mounted here (it takes root)"
        );
        None
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills the file system completely.
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
        // Lazily, because a process may still have a file open there.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .status();
    }
}
