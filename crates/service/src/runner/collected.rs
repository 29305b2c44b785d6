//! Collects the files of one answer: those that came, and the reasons why others are missing.

use super::file;
use crate::models::Ended;
use crate::outputs::Artifact;

/// The files of one answer, in its order.
#[derive(Debug, Default)]
pub struct Collected {
    pub files: Vec<Artifact>,
    /// A sentence for each file that is missing.
    pub missing: Vec<String>,
}

impl Collected {
    /// Adds a file, or the reason why it is missing.
    ///
    /// # Errors
    ///
    /// Anything but [`Ended::Failed`], which says nothing about the file.
    pub fn add(&mut self, file: Result<Artifact, Ended>) -> Result<(), Ended> {
        match file {
            Ok(file) => self.files.push(file),
            Err(Ended::Failed(why)) => self.missing.push(why),
            Err(ended) => return Err(ended),
        }
        Ok(())
    }

    /// All reasons, in one text.
    pub fn reasons(&self) -> String {
        self.missing.join(" ")
    }

    /// Returns a text output that reports the missing files, if there are any. `noun` is what they are;
    /// at least `expected` were to come.
    pub fn report(&self, task: &str, noun: &str, expected: usize) -> Option<Artifact> {
        let came = self.files.len();
        let count = expected.max(came + self.missing.len());
        let lost = count - came;
        if lost == 0 {
            return None;
        }
        let why = match self.missing[..] {
            [] => format!("the server's answer has only {came}."),
            _ => self.reasons(),
        };
        tracing::warn!("task {task}: {lost} of {count} {noun} missing");
        let text = format!("{lost} of {count} {noun} missing: {why}");
        Some(file::artifact(text.into_bytes(), "text/plain", ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(report: Option<Artifact>) -> Option<String> {
        report.map(|file| String::from_utf8(file.bytes).unwrap())
    }

    #[test]
    fn files_that_came_are_kept_and_missing_ones_are_reported() {
        let came = || Ok(file::artifact(b"a".to_vec(), "", ""));
        let mut collected = Collected::default();
        collected.add(came()).unwrap();
        assert_eq!(text(collected.report("t", "files", 0)), None);
        assert_eq!(
            text(collected.report("t", "pictures", 2)).unwrap(),
            "1 of 2 pictures missing: the server's answer has only 1."
        );
        collected.add(Err(Ended::Failed("Gone.".into()))).unwrap();
        collected.add(came()).unwrap();
        collected.add(Err(Ended::Failed("Dead.".into()))).unwrap();
        assert_eq!(
            text(collected.report("t", "files", 1)).unwrap(),
            "2 of 4 files missing: Gone. Dead."
        );
        assert_eq!(collected.files.len(), 2);
        assert!(collected.add(Err(Ended::Stopped)).is_err());
    }
}
