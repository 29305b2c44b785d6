//! The files of lists that are not uploaded yet. A tab stores their names, so that none is missing silently after a reload.

use atelier_contract::Media;
use serde::{Deserialize, Serialize};

use super::LocalFile;
use super::state::UploadState;
use super::stored::FieldKey;

/// A file of a list that is not in the value yet, as a tab stores it. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedFile {
    /// The field, with the item.
    pub field: FieldKey,
    pub media: Media,
    pub file: LocalFile,
    /// The index in the list.
    pub place: usize,
}

/// Returns the message of a file whose upload was lost with the page.
pub fn lost_message(name: &str) -> String {
    format!("{name} was not uploaded. Choose it again.")
}

/// Whether a chosen file takes the place of an earlier one, whose upload has failed or was canceled.
pub fn is_chosen_again(earlier: &LocalFile, state: &UploadState, chosen: &LocalFile) -> bool {
    let has_ended = matches!(state, UploadState::Failed { .. } | UploadState::Canceled);
    has_ended && earlier.name == chosen.name
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::json;

    /// Tabs store unfinished files, so their format must stay the same.
    #[test]
    fn a_stored_sample_round_trips() {
        const SAMPLE: &str = r#"{"field":{"address":"","model":{"category":"image","subcategory":"collage"},"parameter":"images","item":3},"media":"image","file":{"name":"cat.png","media_type":"image/png","bytes":3,"last_modified":5.5},"place":1}"#;
        let read: Option<UnfinishedFile> = json::read(SAMPLE).and_then(json::decode);
        let read = read.expect("the sample is readable");
        assert_eq!(json::encode(&read).to_string(), SAMPLE);
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
