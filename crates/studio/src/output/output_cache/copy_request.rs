use atelier_engine::TaskKey;

/// A request to the leading tab about cached outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyRequest {
    /// Cache the output with this name (see [`TaskKey::output`]). If it is cached, mark the copy as shown now.
    Output(String),
    /// Cache all outputs of a task that has finished.
    Task(TaskKey),
    /// Cache all existing outputs.
    All,
    /// Evict copies above the limit, because the limit may have changed.
    Evict,
}

impl CopyRequest {
    /// Returns the form in which the request is stored and sent to other tabs. It must not change, because tabs of
    /// other versions read it.
    pub fn to_text(&self) -> String {
        match self {
            Self::Output(name) => name.clone(),
            Self::Task(key) => format!("{key}/"),
            Self::All => "/".to_owned(),
            Self::Evict => String::new(),
        }
    }

    /// Parses the form of [`CopyRequest::to_text`].
    pub fn read(text: &str) -> Self {
        match text.strip_suffix('/') {
            None if text.is_empty() => Self::Evict,
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
    fn the_text_form_is_stable() {
        let key = TaskKey("a".into());
        for (text, request) in [
            ("a/0", CopyRequest::Output(key.output(0))),
            ("a/12", CopyRequest::Output(key.output(12))),
            ("a/", CopyRequest::Task(key)),
            ("/", CopyRequest::All),
            ("", CopyRequest::Evict),
        ] {
            assert_eq!(request.to_text(), text);
            assert_eq!(CopyRequest::read(text), request);
        }
    }
}
