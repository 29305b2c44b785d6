//! Decides what Generate does while uploads of its form run: it waits for them, and does not submit if one fails.

use super::state::UploadState;

/// An upload of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormUpload {
    pub id: u32,
    /// The name of the file.
    pub name: String,
    pub state: UploadState,
    /// Whether the file is an item of a list, where it stays visible after a failure.
    pub is_in_list: bool,
}

/// What a press of Generate does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    /// It waits for these uploads.
    Wait(Vec<u32>, String),
    Submit,
    /// It does not submit, for this reason.
    Stop(String),
}

/// Decides about a press of Generate. `waited`: the ids of the uploads that it has waited for so far. `uploads`: those of
/// the form that are not in their field yet.
pub fn pending(waited: &[u32], uploads: &[FormUpload]) -> Pending {
    // A finished upload runs until its address is in the field.
    let is_running = |upload: &&FormUpload| {
        upload.state.is_running() || matches!(upload.state, UploadState::Done(_))
    };
    let running: Vec<&FormUpload> = uploads.iter().filter(is_running).collect();
    if !running.is_empty() {
        let names: Vec<&str> = running.iter().map(|upload| upload.name.as_str()).collect();
        let mut ids = waited.to_vec();
        ids.extend(running.iter().map(|upload| upload.id));
        ids.sort_unstable();
        ids.dedup();
        let files = match names.as_slice() {
            [_, _, _, ..] => format!("{} files", names.len()),
            names => names.join(" and "),
        };
        let message = format!("Waiting for the upload of {files}. Generate follows.");
        return Pending::Wait(ids, message);
    }
    let ended = uploads.iter().filter(|upload| waited.contains(&upload.id));
    let failed = uploads
        .iter()
        .find(|upload| upload.is_in_list && matches!(upload.state, UploadState::Failed { .. }));
    if let Some(FormUpload { name, .. }) = failed.filter(|upload| !waited.contains(&upload.id)) {
        let message = format!(
            "Not sent: {name} could not be uploaded. Remove it from its list, or try again."
        );
        return Pending::Stop(message);
    }
    for FormUpload { name, state, .. } in ended {
        match state {
            UploadState::Failed { message, .. } => {
                return Pending::Stop(format!("Not sent: {name} could not be uploaded. {message}"));
            }
            UploadState::Canceled => {
                return Pending::Stop(format!("Not sent: the upload of {name} was canceled."));
            }
            _ => {}
        }
    }
    Pending::Submit
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Uploaded;

    fn upload(id: u32, state: UploadState) -> FormUpload {
        FormUpload {
            id,
            name: format!("{id}.jpg"),
            state,
            is_in_list: false,
        }
    }

    fn failed() -> UploadState {
        UploadState::Failed {
            message: "It is broken.".into(),
            can_retry: false,
        }
    }

    /// The service would bill a task without one of the pictures that the user sees in the list.
    #[test]
    fn a_failed_file_in_a_list_prevents_submission() {
        let file = FormUpload {
            is_in_list: true,
            ..upload(1, failed())
        };
        let Pending::Stop(message) = pending(&[], &[file]) else {
            panic!("it is submitted");
        };
        assert!(message.contains("1.jpg could not be uploaded"), "{message}");
        assert_eq!(pending(&[], &[upload(1, failed())]), Pending::Submit);
    }

    #[test]
    fn many_files_are_counted() {
        let uploads = [1, 2, 3].map(|id| upload(id, UploadState::Waiting));
        let Pending::Wait(ids, message) = pending(&[], &uploads) else {
            panic!("it does not wait");
        };
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(
            message,
            "Waiting for the upload of 3 files. Generate follows."
        );
    }

    #[test]
    fn waits_until_all_addresses_are_in_their_fields() {
        let running = [
            upload(1, UploadState::Waiting),
            upload(2, UploadState::Canceled),
        ];
        let text = "Waiting for the upload of 1.jpg. Generate follows.".to_owned();
        assert_eq!(pending(&[], &running), Pending::Wait(vec![1], text.clone()));
        let done = [upload(1, UploadState::Done(Uploaded::default()))];
        assert_eq!(pending(&[1], &done), Pending::Wait(vec![1], text));
        assert_eq!(pending(&[1], &[]), Pending::Submit);
    }

    #[test]
    fn an_upload_that_replaces_another_is_waited_for_as_well() {
        let replaced = [upload(3, UploadState::Sending { sent: 1, total: 2 })];
        let Pending::Wait(ids, _) = pending(&[1], &replaced) else {
            panic!("it has to wait");
        };
        assert_eq!(ids, [1, 3]);
        assert!(matches!(
            pending(&ids, &[upload(3, failed())]),
            Pending::Stop(_)
        ));
    }

    #[test]
    fn a_failed_or_canceled_upload_stops_it() {
        let stop = pending(&[1], &[upload(1, failed())]);
        let message = "Not sent: 1.jpg could not be uploaded. It is broken.";
        assert_eq!(stop, Pending::Stop(message.into()));
        let stop = pending(&[1], &[upload(1, UploadState::Canceled)]);
        let message = "Not sent: the upload of 1.jpg was canceled.";
        assert_eq!(stop, Pending::Stop(message.into()));
        // The next press sends the value that the field has.
        assert_eq!(pending(&[], &[upload(1, failed())]), Pending::Submit);
    }

    #[test]
    fn two_uploads_are_named() {
        let both = [
            upload(1, UploadState::Waiting),
            upload(2, UploadState::Waiting),
        ];
        let Pending::Wait(_, text) = pending(&[], &both) else {
            panic!("it has to wait");
        };
        assert_eq!(
            text,
            "Waiting for the upload of 1.jpg and 2.jpg. Generate follows."
        );
    }
}
