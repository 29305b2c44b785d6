//! Decides what Generate does while uploads of its form run: it waits for them, and does not submit if one fails.

use atelier_contract::Draft;

use super::state::UploadState;
use crate::form::media_list::{ListItem, MediaList};
use crate::text::plural::listed;

/// An upload of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormUpload {
    pub id: u32,
    /// The name of the file.
    pub name: String,
    pub state: UploadState,
    /// Whether the file is an item of a list, where it stays visible after a failure.
    pub is_in_list: bool,
    /// Whether the page started the upload by itself: it continues one from before a reload, uploads a lost file again, or
    /// uploads an output.
    pub is_automatic: bool,
}

impl FormUpload {
    /// Whether the file is shown in a list, but is not part of the value: it has failed, or was canceled.
    fn is_missing(&self) -> bool {
        let has_ended = matches!(
            self.state,
            UploadState::Failed { .. } | UploadState::Canceled
        );
        self.is_in_list && has_ended
    }

    /// Whether the file is uploaded, or not yet in its list.
    fn is_unfinished(&self) -> bool {
        let is_undelivered = self.is_in_list && matches!(self.state, UploadState::Done(_));
        self.state.is_running() || is_undelivered
    }
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

/// The message while it is not known yet which files have to be uploaded, or whether the service still has them.
pub const CHECKING: &str = "Checking the files. Generate follows.";

/// The message after the form was left while Generate waited.
pub const INTERRUPTED: &str =
    "Not sent: the form was left while Generate waited for an upload. Press Generate again.";

/// The message after a reload while Generate waited. The tab may also be a duplicate, whose original sends.
pub const RELOADED: &str = "Not sent from this tab: the page was reloaded while Generate waited for files. Press Generate again unless another tab has sent the input.";

/// The message after the form or the rows changed while Generate waited.
pub const CHANGED: &str =
    "Not sent: the input or the account changed meanwhile. Press Generate again.";

/// Returns why a batch, which uses the settings of the single form, can't be sent: a file for that form is being uploaded, or
/// a file of a list is missing.
pub fn batch_refusal(uploads: &[FormUpload]) -> Option<String> {
    let unfinished = uploads.iter().filter(|upload| upload.is_unfinished());
    let names: Vec<String> = unfinished.map(|upload| upload.name.clone()).collect();
    if !names.is_empty() {
        return Some(format!(
            "Not sent: the upload of {} for the single form is not finished. Wait for it, or cancel it there.",
            listed(&names)
        ));
    }
    let missing = uploads.iter().find(|upload| upload.is_missing())?;
    Some(format!(
        "Not sent: {} is not uploaded. Remove it from its list in the single form, or upload it again there.",
        missing.name
    ))
}

/// The message in a batch while uploads from before a reload are read from storage.
pub const RESTORING: &str =
    "Not sent: the uploads from before the reload are still being read. Press Generate again.";

/// Returns the id of the newest upload of a form; 0 without uploads. Ids increase.
pub fn newest(uploads: &[FormUpload]) -> u32 {
    let ids = uploads.iter().map(|upload| upload.id);
    ids.max().unwrap_or_default()
}

/// Returns the id of the newest upload of a form that the user has started; 0 without one.
pub fn newest_chosen(uploads: &[FormUpload]) -> u32 {
    let chosen = uploads.iter().filter(|upload| !upload.is_automatic);
    chosen.map(|upload| upload.id).max().unwrap_or_default()
}

/// Decides about a press of Generate. `waited`: the ids of the uploads that it waits for; empty at the press. `newest`: the
/// [`newest`] id at the press. `uploads`: those of the form that are not in their field yet.
pub fn pending(waited: &[u32], newest: u32, uploads: &[FormUpload]) -> Pending {
    // The user has chosen another file, or has tried to. The field may still have the value from before the press.
    let is_new =
        |upload: &&FormUpload| !waited.is_empty() && !upload.is_automatic && upload.id > newest;
    if let Some(upload) = uploads.iter().find(is_new) {
        return Pending::Stop(match &upload.state {
            UploadState::Failed { message, .. } => failed_message(&upload.name, message),
            _ => CHANGED.to_owned(),
        });
    }
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
    let mut missing = uploads.iter().filter(|upload| upload.is_missing());
    if let Some(FormUpload { name, .. }) = missing.find(|upload| !waited.contains(&upload.id)) {
        return Pending::Stop(format!(
            "Not sent: {name} is not uploaded. Remove it from its list, or upload it again."
        ));
    }
    for FormUpload { name, state, .. } in ended {
        match state {
            UploadState::Failed { message, .. } => {
                return Pending::Stop(failed_message(name, message));
            }
            UploadState::Canceled => {
                return Pending::Stop(format!("Not sent: the upload of {name} was canceled."));
            }
            _ => {}
        }
    }
    Pending::Submit
}

/// Whether the URLs of uploads are all that has changed in a draft. `delivered`: the parameters with the URLs.
pub fn is_delivery(before: &Draft, now: &Draft, delivered: &[(&str, &str)]) -> bool {
    let text = |draft: &Draft, name: &str| draft.get(name).map(|entry| entry.to_text());
    let is_delivered = |name: &str| {
        let (before, now) = (text(before, name), text(now, name));
        let contains =
            |text: &Option<String>, url: &str| text.as_ref().is_some_and(|text| text.contains(url));
        let mut urls = delivered.iter().filter(|(of, _)| *of == name);
        urls.any(|(_, url)| contains(&now, url) && !contains(&before, url))
    };
    let names = before.iter().chain(now.iter()).map(|(name, _)| name);
    let mut changed = names.filter(|name| before.get(name) != now.get(name));
    changed.all(is_delivered)
}

/// Whether the URLs of uploads are all that has changed in a list. `delivered`: the URLs.
pub fn is_same_list(before: &MediaList, now: &MediaList, delivered: &[&str]) -> bool {
    let (before, now) = (before.items(), now.items());
    let is_same = |(before, now): (&ListItem, &ListItem)| {
        let address = now.address.as_deref();
        let is_delivered = address.is_none_or(|address| delivered.contains(&address));
        before.id == now.id && (before.address == now.address || is_delivered)
    };
    before.len() == now.len() && before.iter().zip(now).all(is_same)
}

/// `name`: the name of the file; empty if there is none.
fn failed_message(name: &str, message: &str) -> String {
    match name {
        "" => format!("Not sent: {message}"),
        name => format!("Not sent: {name} could not be uploaded. {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::media_list::EarlierUpload;
    use atelier_contract::{Entry, Uploaded};

    fn upload(id: u32, state: UploadState) -> FormUpload {
        FormUpload {
            id,
            name: format!("{id}.jpg"),
            state,
            is_in_list: false,
            is_automatic: false,
        }
    }

    fn failed() -> UploadState {
        UploadState::Failed {
            message: "It is broken.".into(),
            can_retry: false,
        }
    }

    fn in_list(upload: FormUpload) -> FormUpload {
        FormUpload {
            is_in_list: true,
            ..upload
        }
    }

    /// The service would bill a task without one of the pictures that the user sees in the list.
    #[test]
    fn a_failed_or_canceled_file_in_a_list_prevents_submission() {
        for state in [failed(), UploadState::Canceled] {
            let file = upload(1, state);
            assert_eq!(
                pending(&[], 9, &[in_list(file.clone())]),
                Pending::Stop(
                    "Not sent: 1.jpg is not uploaded. Remove it from its list, or upload it again."
                        .into()
                )
            );
            assert_eq!(pending(&[], 9, &[file]), Pending::Submit);
        }
    }

    /// Guards against a batch whose items lack a picture, or have the one from before.
    #[test]
    fn a_batch_is_not_sent_while_a_file_of_the_form_is_missing() {
        let done = UploadState::Done(Uploaded::default());
        for (uploads, expected) in [
            (
                vec![
                    upload(1, UploadState::Waiting),
                    in_list(upload(2, done.clone())),
                ],
                "Not sent: the upload of 1.jpg and 2.jpg for the single form is not finished.",
            ),
            (
                vec![in_list(upload(1, failed()))],
                "Not sent: 1.jpg is not uploaded.",
            ),
            (
                vec![in_list(upload(1, UploadState::Canceled))],
                "Not sent: 1.jpg is not uploaded.",
            ),
        ] {
            let refusal = batch_refusal(&uploads).unwrap_or_default();
            assert!(refusal.starts_with(expected), "{refusal}");
        }
        // A field for one file has the value that it shows.
        let ended = [
            upload(1, failed()),
            upload(2, UploadState::Canceled),
            upload(3, done),
        ];
        assert_eq!(batch_refusal(&ended), None);
    }

    #[test]
    fn many_files_are_counted() {
        let uploads = [1, 2, 3].map(|id| upload(id, UploadState::Waiting));
        let Pending::Wait(ids, message) = pending(&[], 9, &uploads) else {
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
        assert_eq!(
            pending(&[], 9, &running),
            Pending::Wait(vec![1], text.clone())
        );
        let done = [upload(1, UploadState::Done(Uploaded::default()))];
        assert_eq!(pending(&[1], 9, &done), Pending::Wait(vec![1], text));
        assert_eq!(pending(&[1], 9, &[]), Pending::Submit);
    }

    #[test]
    fn an_older_upload_of_another_field_is_waited_for_as_well() {
        let running = [upload(1, UploadState::Sending { sent: 1, total: 2 })];
        let Pending::Wait(ids, _) = pending(&[3], 3, &running) else {
            panic!("it has to wait");
        };
        assert_eq!(ids, [1, 3]);
    }

    #[test]
    fn a_failed_or_canceled_upload_stops_it() {
        let stop = pending(&[1], 9, &[upload(1, failed())]);
        let message = "Not sent: 1.jpg could not be uploaded. It is broken.";
        assert_eq!(stop, Pending::Stop(message.into()));
        let stop = pending(&[1], 9, &[upload(1, UploadState::Canceled)]);
        let message = "Not sent: the upload of 1.jpg was canceled.";
        assert_eq!(stop, Pending::Stop(message.into()));
        // The next press sends the value that the field has.
        assert_eq!(pending(&[], 9, &[upload(1, failed())]), Pending::Submit);
    }

    /// Guards against a task that is paid for with the file from before: the awaited file was replaced by one that was
    /// refused at once, or by a failed paste.
    #[test]
    fn a_file_that_replaces_the_awaited_one_ends_the_wait() {
        let refused = |name: &str| FormUpload {
            id: 2,
            name: name.into(),
            state: UploadState::Failed {
                message: "It is empty.".into(),
                can_retry: false,
            },
            is_in_list: false,
            is_automatic: false,
        };
        for (upload, message) in [
            (
                refused("zero.png"),
                "Not sent: zero.png could not be uploaded. It is empty.",
            ),
            (refused(""), "Not sent: It is empty."),
            (upload(2, UploadState::Waiting), CHANGED),
            (upload(2, UploadState::Done(Uploaded::default())), CHANGED),
        ] {
            assert_eq!(
                pending(&[1], 1, &[upload]),
                Pending::Stop(message.to_owned())
            );
        }
        // A failure from before the press is shown at its field.
        assert_eq!(pending(&[1], 2, &[refused("old.png")]), Pending::Submit);
    }

    /// Guards against a press that is lost because the page uploads a lost file again while Generate waits.
    #[test]
    fn an_upload_that_the_page_started_is_waited_for_as_well() {
        let renewed = FormUpload {
            is_automatic: true,
            ..upload(2, UploadState::Waiting)
        };
        let Pending::Wait(ids, _) = pending(&[1], 1, &[renewed]) else {
            panic!("it does not wait");
        };
        assert_eq!(ids, [1, 2]);
    }

    #[test]
    fn only_the_addresses_of_uploads_may_change_during_the_wait() {
        let draft = |prompt: &str, image: &str| {
            let mut draft = Draft::default();
            draft.set("prompt", Entry::Text(prompt.into()));
            draft.set("image", Entry::Text(image.into()));
            draft
        };
        let before = draft("a cat", "https://a.example/1");
        let delivered = [("image", "https://a.example/2")];
        let is_delivery = |now: &Draft| is_delivery(&before, now, &delivered);
        assert!(is_delivery(&before));
        assert!(is_delivery(&draft("a cat", "https://a.example/2")));
        assert!(!is_delivery(&draft("a cat", "https://a.example/3")));
        assert!(!is_delivery(&draft("a dog", "https://a.example/2")));
        assert!(!is_delivery(&Draft::default()));
        assert!(!is_delivery(&draft(
            "https://a.example/2",
            "https://a.example/1"
        )));
    }

    /// Guards against a task with a list that the user has changed after the press of Generate.
    #[test]
    fn a_list_must_stay_the_same_during_the_wait() {
        let list = MediaList::new(
            &["a".to_owned()],
            &[EarlierUpload {
                item: 7,
                place: 1,
                replaces: None,
            }],
        );
        let uploaded = |address: &str| {
            let mut list = list.clone();
            list.set(7, Some(address.to_owned()));
            list
        };
        assert!(is_same_list(&list, &list, &[]));
        assert!(is_same_list(&list, &uploaded("b"), &["b"]));
        assert!(!is_same_list(&list, &uploaded("c"), &["b"]));
        let mut moved = uploaded("b");
        moved.move_to(7, 0);
        assert!(!is_same_list(&list, &moved, &["b"]));
        let mut shorter = uploaded("b");
        shorter.remove(7);
        assert!(!is_same_list(&list, &shorter, &["b"]));
    }

    #[test]
    fn two_uploads_are_named() {
        let both = [
            upload(1, UploadState::Waiting),
            upload(2, UploadState::Waiting),
        ];
        let Pending::Wait(_, text) = pending(&[], 9, &both) else {
            panic!("it has to wait");
        };
        assert_eq!(
            text,
            "Waiting for the upload of 1.jpg and 2.jpg. Generate follows."
        );
    }
}
