//! The files of lists that are not uploaded yet. A tab stores their names, so that none is missing silently after a reload.

use atelier_contract::Media;
use serde::{Deserialize, Serialize};

use super::LocalFile;
use super::state::UploadState;
use super::stored::{FieldKey, StoredUpload};

/// A file of a list that is not in the value yet, as a tab stores it. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedFile {
    /// The field, with the item.
    pub field: FieldKey,
    pub media: Media,
    pub file: LocalFile,
    /// The index in the list.
    pub place: usize,
    /// The address in the list that the file replaces, because the service has lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl UnfinishedFile {
    /// Whether a stored upload is that of this file. The lists of two tabs have the same ids, and pasted pictures the same
    /// name. `tab`: the name of the tab of the file.
    pub fn is_stored_as(&self, tab: &str, stored: &StoredUpload) -> bool {
        let before = stored.before.as_ref().map(|before| before.to_text());
        let is_same_address = self.replaces.is_none() || self.replaces == before;
        stored.tab == tab
            && stored.field == self.field
            && stored.file == self.file
            && is_same_address
    }
}

/// Whether a file of a list has to be remembered. `is_renewed`: whether its item still has the address that the file replaces.
/// The address remains if the upload ends otherwise.
pub fn is_unfinished(state: &UploadState, is_renewed: bool) -> bool {
    let can_continue = match state {
        UploadState::Failed { can_retry, .. } => *can_retry,
        UploadState::Canceled => false,
        _ => true,
    };
    can_continue || !is_renewed
}

/// Returns the message of a file whose upload was lost with the page.
pub fn lost_message(name: &str) -> String {
    match name {
        "" => "The file was not uploaded. Choose it again.".to_owned(),
        name => format!("{name} was not uploaded. Choose it again."),
    }
}

/// Whether a chosen file takes the place of an earlier one, whose upload has failed or was canceled.
pub fn is_chosen_again(earlier: &LocalFile, state: &UploadState, chosen: &LocalFile) -> bool {
    let has_ended = matches!(state, UploadState::Failed { .. } | UploadState::Canceled);
    has_ended && earlier.name == chosen.name
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::{Entry, json};

    const SAMPLE: &str = r#"{"field":{"address":"","model":{"category":"image","subcategory":"collage"},"parameter":"images","item":3},"media":"image","file":{"name":"cat.png","media_type":"image/png","bytes":3,"last_modified":5.5},"place":1}"#;

    /// Tabs store unfinished files, so their format must stay the same.
    #[test]
    fn a_stored_sample_round_trips() {
        assert_eq!(json::encode(&unfinished()).to_string(), SAMPLE);
        let replacing = SAMPLE.replace(
            "\"place\":1",
            "\"place\":1,\"replaces\":\"https://a.example/b\"",
        );
        let read: Option<UnfinishedFile> = json::read(&replacing).and_then(json::decode);
        assert_eq!(
            read.map(|read| json::encode(&read).to_string()),
            Some(replacing)
        );
    }

    fn unfinished() -> UnfinishedFile {
        let read = json::read(SAMPLE).and_then(json::decode);
        read.expect("the sample is readable")
    }

    /// Guards against the picture of another tab in a list: the files have the same name, and the items the same id.
    #[test]
    fn a_stored_upload_belongs_to_one_file() {
        let file = UnfinishedFile {
            replaces: Some("https://a.example/b".into()),
            ..unfinished()
        };
        let stored = StoredUpload {
            key: "k".into(),
            at: 1,
            tab: "t".into(),
            uid: String::new(),
            field: file.field.clone(),
            media: file.media,
            file: file.file.clone(),
            before: Some(Entry::Text("https://a.example/b".into())),
            note: String::new(),
            uploaded: None,
        };
        assert!(file.is_stored_as("t", &stored));
        assert!(!file.is_stored_as("other", &stored));
        for change in [
            |stored: &mut StoredUpload| stored.field.item = Some(4),
            |stored: &mut StoredUpload| stored.field.parameter = "others".into(),
            |stored: &mut StoredUpload| stored.field.address = "https://b.example".into(),
            |stored: &mut StoredUpload| stored.file.bytes += 1,
            |stored: &mut StoredUpload| stored.before = None,
        ] {
            let mut other = stored.clone();
            change(&mut other);
            assert!(!file.is_stored_as("t", &other), "{other:?}");
        }
        // The entry before is the whole list.
        let other = StoredUpload {
            before: None,
            ..stored
        };
        assert!(unfinished().is_stored_as("t", &other));
    }

    /// Guards against a picture that is in the list twice after a reload.
    #[test]
    fn a_replacement_that_has_ended_is_not_remembered() {
        let failed = |can_retry| UploadState::Failed {
            message: String::new(),
            can_retry,
        };
        for (state, expected) in [
            (UploadState::Waiting, true),
            (failed(true), true),
            (failed(false), false),
            (UploadState::Canceled, false),
        ] {
            assert_eq!(is_unfinished(&state, true), expected, "{state:?}");
            assert!(is_unfinished(&state, false), "{state:?}");
        }
    }

    #[test]
    fn only_a_file_that_was_not_uploaded_is_replaced_by_one_of_the_same_name() {
        let file = |name: &str, bytes| LocalFile {
            name: name.into(),
            media_type: "image/png".into(),
            bytes,
            last_modified: None,
        };
        let failed = UploadState::Failed {
            message: String::new(),
            can_retry: true,
        };
        let earlier = file("a.png", 1);
        for (state, chosen, expected) in [
            (&failed, "a.png", true),
            (&UploadState::Canceled, "a.png", true),
            (&failed, "b.png", false),
            (&UploadState::Waiting, "a.png", false),
        ] {
            let chosen = file(chosen, 2);
            assert_eq!(is_chosen_again(&earlier, state, &chosen), expected);
        }
    }
}
