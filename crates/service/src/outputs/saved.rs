//! The files of tasks that an earlier attempt has saved.

use std::fs;
use std::io;

use super::Outputs;

impl Outputs {
    /// Returns the paths of a task's files, if [`Self::save`] has written all of them, in their order.
    ///
    /// A bucket can't tell: files of an attempt that was killed may be some of its files.
    ///
    /// # Errors
    ///
    /// The directory can't be read.
    pub fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>> {
        #[cfg(feature = "cluster")]
        if self.bucket.is_some() {
            return Ok(None);
        }
        let files = match fs::read_dir(self.dir.join(task)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            files => files?,
        };
        let mut names = files
            .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        // A hidden file is none of the task's.
        names.retain(|name| !name.starts_with('.'));
        names.sort_by_key(|name| number_of(name));
        let paths = names.iter().map(|name| format!("{task}/{name}")).collect();
        Ok(Some(paths))
    }
}

/// The place of a file among those of its task.
fn number_of(name: &str) -> usize {
    let number = name.split('.').next().unwrap_or_default();
    number.parse().unwrap_or(usize::MAX)
}
