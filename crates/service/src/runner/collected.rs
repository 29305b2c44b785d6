//! Collects the files of one response, and the reasons why files are missing.

use super::{Run, file};
use crate::model::Ended;
use crate::outputs::Artifact;

/// The files of one response, in its order.
#[derive(Debug, Default)]
pub struct Collected {
    pub files: Vec<Artifact>,
    /// The reason for each missing file.
    pub missing: Vec<String>,
}

impl Collected {
    /// Adds a file, or the reason why it is missing.
    ///
    /// # Errors
    ///
    /// Returns every error except [`Ended::Failed`], because the other errors do not concern this file alone.
    pub fn add(&mut self, file: Result<Artifact, Ended>) -> Result<(), Ended> {
        match file {
            Ok(file) => self.files.push(file),
            Err(Ended::Failed(why)) => self.missing.push(why),
            Err(ended) => return Err(ended),
        }
        Ok(())
    }

    /// Returns all reasons in one text.
    pub fn reasons(&self) -> String {
        self.missing.join(" ")
    }

    /// Returns a text output that reports the missing files, if any. `noun` names the files; at least `expected` of them
    /// should be in the response.
    pub fn report(&self, run: &Run<'_>, noun: &str, expected: usize) -> Option<Artifact> {
        let text = self.report_text(noun, expected)?;
        let text = (run.hide)(&text);
        tracing::warn!("task {}: {text}", run.id);
        Some(file::artifact(text.into_bytes(), "text/plain", ""))
    }

    fn report_text(&self, noun: &str, expected: usize) -> Option<String> {
        let received = self.files.len();
        let count = expected.max(received + self.missing.len());
        let missing = count - received;
        if missing == 0 {
            return None;
        }
        let why = match self.missing[..] {
            [] => format!("the server's answer has only {received}."),
            _ => self.reasons(),
        };
        Some(format!("{missing} of {count} {noun} missing: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_files_are_kept_and_missing_ones_are_reported() {
        let received = || Ok(file::artifact(b"a".to_vec(), "", ""));
        let mut collected = Collected::default();
        collected.add(received()).unwrap();
        assert_eq!(collected.report_text("files", 0), None);
        assert_eq!(
            collected.report_text("pictures", 2).unwrap(),
            "1 of 2 pictures missing: the server's answer has only 1."
        );
        collected.add(Err(Ended::Failed("Gone.".into()))).unwrap();
        collected.add(received()).unwrap();
        collected.add(Err(Ended::Failed("Dead.".into()))).unwrap();
        assert_eq!(
            collected.report_text("files", 1).unwrap(),
            "2 of 4 files missing: Gone. Dead."
        );
        assert_eq!(collected.files.len(), 2);
        assert!(collected.add(Err(Ended::Stopped)).is_err());
    }
}
