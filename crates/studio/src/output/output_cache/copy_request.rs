use atelier_engine::TaskKey;

/// A request to the tab that leads, about the copies of outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyRequest {
    /// A copy of this output is wanted, by its name (see [`TaskKey::output`]); or it is looked at, so that the copy
    /// that there is counts as used just now.
    Output(String),
    /// Copies of all outputs of a task are wanted, because it has finished.
    Task(TaskKey),
    /// Copies of all outputs that there are already are wanted.
    All,
    /// No copy is wanted, but the limit may have changed: what is above it goes.
    MakeRoom,
}

impl CopyRequest {
    /// The text by which tabs tell each other of it, and by which it is stored. Tabs of other versions read and write
    /// the same texts, so that they must not change.
    pub fn to_text(&self) -> String {
        match self {
            Self::Output(name) => name.clone(),
            Self::Task(key) => format!("{key}/"),
            Self::All => "/".to_owned(),
            Self::MakeRoom => String::new(),
        }
    }

    /// Reads what [`CopyRequest::to_text`] has written.
    pub fn read(text: &str) -> Self {
        match text.strip_suffix('/') {
            None if text.is_empty() => Self::MakeRoom,
            None => Self::Output(text.to_owned()),
            Some("") => Self::All,
            Some(key) => Self::Task(TaskKey(key.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_in_the_words_of_every_version() {
        let key = TaskKey("a".into());
        for (text, request) in [
            ("a/0", CopyRequest::Output(key.output(0))),
            ("a/12", CopyRequest::Output(key.output(12))),
            ("a/", CopyRequest::Task(key)),
            ("/", CopyRequest::All),
            ("", CopyRequest::MakeRoom),
        ] {
            assert_eq!(request.to_text(), text);
            assert_eq!(CopyRequest::read(text), request);
        }
    }
}
