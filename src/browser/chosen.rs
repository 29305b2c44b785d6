//! Files that the user chooses, drops or pastes.

use atelier_studio::form::upload::LocalFile;
use atelier_studio::form::upload::acceptance::media_of;
use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, DataTransfer, File, FileList, HtmlInputElement};

use atelier_contract::Media;

/// A file of the user with its content.
#[derive(Clone)]
pub struct ChosenFile {
    pub file: LocalFile,
    pub content: Blob,
}

impl From<File> for ChosenFile {
    fn from(content: File) -> Self {
        let file = LocalFile {
            name: content.name(),
            media_type: content.type_(),
            bytes: content.size() as u64,
            last_modified: Some(content.last_modified()),
        };
        Self {
            file,
            content: content.into(),
        }
    }
}

/// Content of the clipboard.
pub enum Pasted {
    File(ChosenFile),
    Text(String),
    /// Neither a file of the medium nor text.
    Nothing,
    /// The browser does not allow reading the clipboard.
    Denied,
}

/// Returns the file that the user chose in a file input, and clears the input, so that choosing the same file again fires an
/// event.
pub fn of_input(input: &HtmlInputElement) -> Vec<ChosenFile> {
    let files = input.files().map(|files| of_list(&files));
    input.set_value("");
    files.unwrap_or_default()
}

/// Returns the files of a drop or a paste.
pub fn of_transfer(transfer: Option<DataTransfer>) -> Vec<ChosenFile> {
    let files = transfer.and_then(|transfer| transfer.files());
    files.map(|files| of_list(&files)).unwrap_or_default()
}

fn of_list(files: &FileList) -> Vec<ChosenFile> {
    let files = (0..files.length()).filter_map(|at| files.item(at));
    files.map(ChosenFile::from).collect()
}

/// Whether a drag or a paste contains data of this type: `Files`, `text/plain`.
pub fn has_type(transfer: Option<&DataTransfer>, name: &str) -> bool {
    transfer.is_some_and(|transfer| transfer.types().includes(&name.into(), 0))
}

/// Reads a file of this medium from the clipboard, else text. Browsers allow this only while they handle a press.
pub async fn of_clipboard(media: Media) -> Pasted {
    let Ok(items) = clipboard_items().await else {
        return Pasted::Denied;
    };
    let mut text = None;
    for item in items.iter() {
        let types = Reflect::get(&item, &"types".into()).unwrap_or_default();
        for media_type in Array::from(&types).iter().filter_map(|it| it.as_string()) {
            let is_file = media_of(&media_type) == Some(media);
            if !is_file && media_type != "text/plain" {
                continue;
            }
            let Ok(content) = content(&item, &media_type).await else {
                continue;
            };
            if is_file {
                let file = LocalFile {
                    name: "the pasted file".into(),
                    media_type,
                    bytes: content.size() as u64,
                    last_modified: None,
                };
                return Pasted::File(ChosenFile { file, content });
            }
            text = JsFuture::from(content.text()).await.ok();
        }
    }
    let text = text.and_then(|text| text.as_string());
    let text = text.filter(|text| !text.trim().is_empty());
    text.map_or(Pasted::Nothing, Pasted::Text)
}

/// Older browsers don't have the function.
async fn clipboard_items() -> Result<Array, JsValue> {
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into())?;
    let read: Function = Reflect::get(&clipboard, &"read".into())?.dyn_into()?;
    let items: Promise = read.call0(&clipboard)?.dyn_into()?;
    JsFuture::from(items).await?.dyn_into()
}

async fn content(item: &JsValue, media_type: &str) -> Result<Blob, JsValue> {
    let get_type: Function = Reflect::get(item, &"getType".into())?.dyn_into()?;
    let content: Promise = get_type.call1(item, &media_type.into())?.dyn_into()?;
    JsFuture::from(content).await?.dyn_into()
}
