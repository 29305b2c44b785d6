//! The names and sizes of uploaded files by their URLs, which browsers store, so that fields show them after a reload.

use atelier_contract::{Uploaded, json};
use serde::{Deserialize, Serialize};

use super::LocalFile;

/// The maximum number of files, and the maximum length of a URL.
const MAX_FILES: usize = 500;
const MAX_URL: usize = 2_000;

/// A file that was uploaded. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RememberedFile {
    /// The address of the service.
    pub service: String,
    pub name: String,
    pub uploaded: Uploaded,
}

impl RememberedFile {
    /// Returns the file as it was chosen, as far as that is known.
    pub fn local(&self) -> LocalFile {
        LocalFile {
            name: self.name.clone(),
            media_type: self.uploaded.media_type.clone(),
            bytes: self.uploaded.bytes.unwrap_or_default(),
            last_modified: None,
        }
    }
}

/// The files, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RememberedFiles(Vec<RememberedFile>);

impl RememberedFiles {
    /// Returns the files, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &RememberedFile> {
        self.0.iter()
    }

    /// Reads stored files. Unreadable ones are left out.
    pub fn from_text(text: &str) -> Self {
        let files: Option<Vec<serde_json::Value>> = json::read(text).and_then(json::decode);
        let files = files.unwrap_or_default();
        Self(files.into_iter().filter_map(json::decode).collect())
    }

    pub fn to_text(&self) -> String {
        json::encode(&self.0).to_string()
    }

    pub fn find(&self, url: &str) -> Option<&RememberedFile> {
        self.0.iter().rfind(|file| file.uploaded.url == url)
    }

    /// Adds a file. The oldest ones beyond [`MAX_FILES`] are forgotten.
    pub fn add(&mut self, file: RememberedFile) {
        if file.uploaded.url.len() > MAX_URL {
            return;
        }
        self.0.retain(|it| it.uploaded.url != file.uploaded.url);
        self.0.push(file);
        let excess = self.0.len().saturating_sub(MAX_FILES);
        self.0.drain(..excess);
    }

    /// Forgets the files at a service.
    pub fn forget(&mut self, service: &str) {
        self.0.retain(|file| file.service != service);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"[{"service":"https://a.example","name":"cat.png","uploaded":{"url":"https://a.example/outputs/1","media_type":"image/png","bytes":3,"size":[64,48],"expires_at":1800000000}}]"#;

    fn file(url: &str) -> RememberedFile {
        let files = RememberedFiles::from_text(SAMPLE);
        let mut file = files.0.into_iter().next().expect("the sample is readable");
        file.uploaded.url = url.to_owned();
        file
    }

    /// Browsers store the files, so their format must stay the same.
    #[test]
    fn stored_samples_round_trip() {
        assert_eq!(RememberedFiles::from_text(SAMPLE).to_text(), SAMPLE);
        assert_eq!(RememberedFiles::from_text("{"), RememberedFiles::default());
        let mixed = SAMPLE.replace("[{", r#"[1,{"#);
        assert_eq!(RememberedFiles::from_text(&mixed).to_text(), SAMPLE);
    }

    #[test]
    fn the_oldest_of_too_many_files_are_forgotten() {
        let mut files = RememberedFiles::default();
        for number in 0..=MAX_FILES {
            files.add(file(&number.to_string()));
        }
        assert_eq!(files.find("0"), None);
        assert_eq!(files.0.len(), MAX_FILES);
        let renamed = RememberedFile {
            name: "dog.png".into(),
            ..file("1")
        };
        files.add(renamed.clone());
        assert_eq!(files.find("1"), Some(&renamed));
        assert_eq!(files.0.len(), MAX_FILES);
        files.add(file(&"a".repeat(MAX_URL + 1)));
        assert_eq!(files.0.len(), MAX_FILES);
        files.forget("https://b.example");
        assert_eq!(files.0.len(), MAX_FILES);
        files.forget("https://a.example");
        assert_eq!(files, RememberedFiles::default());
    }
}
