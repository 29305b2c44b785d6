//! The mask that is being drawn, and the masks that were drawn in this visit.

use std::cell::RefCell;
use std::rc::Rc;

use atelier_contract::ModelId;
use atelier_studio::form::upload::LocalFile;
use atelier_studio::mask::bitmap::Bitmap;
use atelier_studio::mask::pictures::MaskPictures;
use atelier_studio::mask::png::White;
use leptos::prelude::*;

use crate::browser::chosen::ChosenFile;
use crate::browser::local::LocalStore;
use crate::state::uploads::{self, FieldKey};

/// The maximum number of masks in memory. One of a picture with 64 megapixels has 8 MB.
const MAX_DRAWN: usize = 8;

/// The key in `localStorage` of the pictures of masks.
const PICTURES: &str = "atelier.mask-pictures";

/// A request to draw a mask.
#[derive(Clone)]
pub struct Request {
    pub key: FieldKey,
    /// The URL of the picture.
    pub picture: String,
    /// The name of the mask's file.
    pub file_name: String,
    /// Receives the file.
    pub on_done: Rc<dyn Fn(ChosenFile)>,
}

/// A mask that was drawn in this visit.
struct Drawn {
    key: FieldKey,
    picture: String,
    bitmap: Bitmap,
}

#[derive(Default)]
struct Store {
    request: Option<Request>,
    is_open: ArcRwSignal<bool>,
    /// The field whose mask is drawn as soon as its form and the picture are ready.
    wanted: ArcRwSignal<Option<FieldKey>>,
    drawn: Vec<Drawn>,
    /// The files of masks, with the field and the URL of the picture of each.
    files: Vec<(FieldKey, LocalFile, String)>,
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

/// Opens the dialog.
pub fn open(request: Request) {
    STORE
        .with_borrow_mut(|store| {
            store.request = Some(request);
            store.is_open.clone()
        })
        .set(true);
}

fn wanted_signal() -> ArcRwSignal<Option<FieldKey>> {
    STORE.with_borrow(|store| store.wanted.clone())
}

/// Asks the form of a field to open the dialog as soon as the picture is ready.
pub fn want(key: FieldKey) {
    wanted_signal().set(Some(key));
}

/// Whether [`want`] was called for a field; tracked.
pub fn is_wanted(key: &FieldKey) -> bool {
    wanted_signal().read().as_ref() == Some(key)
}

/// Takes back [`want`].
pub fn forget_wanted(key: &FieldKey) {
    let wanted = wanted_signal();
    if wanted.read_untracked().as_ref() == Some(key) {
        wanted.set(None);
    }
}

/// Closes the dialog.
pub fn close() {
    let is_open = STORE.with_borrow_mut(|store| {
        store.request = None;
        store.is_open.clone()
    });
    if is_open.get_untracked() {
        is_open.set(false);
    }
}

/// Closes the dialog without a decision of the user. It remembers what was drawn.
pub fn interrupt() {
    let is_open = STORE.with_borrow(|store| store.is_open.clone());
    if is_open.get_untracked() {
        is_open.set(false);
    }
}

/// Returns whether the dialog is open; tracked.
pub fn is_open() -> bool {
    STORE.with_borrow(|store| store.is_open.clone()).get()
}

/// Returns the request of the open dialog.
pub fn request() -> Option<Request> {
    STORE.with_borrow(|store| store.request.clone())
}

/// Remembers a mask, so that drawing can continue.
pub fn remember(key: &FieldKey, picture: &str, bitmap: &Bitmap) {
    STORE.with_borrow_mut(|store| {
        let is_same = |drawn: &Drawn| drawn.key == *key && drawn.picture == picture;
        store.drawn.retain(|drawn| !is_same(drawn));
        let excess = (store.drawn.len() + 1).saturating_sub(MAX_DRAWN);
        store.drawn.drain(..excess);
        store.drawn.push(Drawn {
            key: key.clone(),
            picture: picture.to_owned(),
            bitmap: bitmap.clone(),
        });
    });
}

/// Remembers the picture of a mask's file.
pub fn remember_file(request: &Request, file: &LocalFile) {
    let (key, picture) = (request.key.clone(), request.picture.clone());
    STORE.with_borrow_mut(|store| store.files.push((key, file.clone(), picture)));
}

/// Returns the URL of the picture over which the mask at a URL was drawn in this browser.
pub fn picture_of(key: &FieldKey, mask: &str) -> Option<String> {
    let of_visit = of_visit(key, mask);
    of_visit.or_else(|| stored_pictures().find(key, mask).map(str::to_owned))
}

/// Stores which picture the mask at a URL belongs to, if the mask was drawn in this visit.
pub fn store_picture(key: &FieldKey, mask: &str) {
    let Some(picture) = of_visit(key, mask) else {
        return;
    };
    let mut pictures = stored_pictures();
    if pictures.find(key, mask) != Some(picture.as_str()) {
        pictures.add(key, mask, &picture);
        // A browser that refuses storage gives no warning after a reload.
        LocalStore::Browser.write(PICTURES, &pictures.to_text());
    }
}

fn of_visit(key: &FieldKey, mask: &str) -> Option<String> {
    let file = uploads::file(mask)?;
    STORE.with_borrow(|store| {
        let mut files = store.files.iter();
        let found = files.rfind(|(of, it, _)| of == key && *it == file);
        found.map(|(.., picture)| picture.clone())
    })
}

fn stored_pictures() -> MaskPictures {
    let text = LocalStore::Browser.read(PICTURES);
    text.map(|text| MaskPictures::from_text(&text))
        .unwrap_or_default()
}

/// Returns the mask of this size that was drawn last for a field over a picture.
pub fn recall(key: &FieldKey, picture: &str, size: (u32, u32)) -> Option<Bitmap> {
    STORE.with_borrow(|store| {
        let drawn = store.drawn.iter().find(|drawn| {
            drawn.key == *key && drawn.picture == picture && drawn.bitmap.size() == size
        });
        drawn.map(|drawn| drawn.bitmap.clone())
    })
}

/// Forgets the masks for the forms of a service, here and in storage. A dialog for one is closed, and remembers nothing.
pub fn forget(address: &str) {
    if request().is_some_and(|request| request.key.address == address) {
        close();
    }
    STORE.with_borrow_mut(|store| {
        store.drawn.retain(|drawn| drawn.key.address != address);
        store.files.retain(|(key, ..)| key.address != address);
    });
    let before = stored_pictures();
    let mut pictures = before.clone();
    pictures.forget(address);
    if pictures.is_empty() {
        LocalStore::Browser.remove(PICTURES);
    } else if pictures != before {
        LocalStore::Browser.write(PICTURES, &pictures.to_text());
    }
}

/// Returns what white means for a model.
pub fn white(model: &ModelId) -> White {
    match LocalStore::Browser.read(&storage_key(model)) {
        Some(_) => White::Stays,
        None => White::Changes,
    }
}

/// Remembers what white means for a model.
pub fn set_white(model: &ModelId, white: White) {
    let key = storage_key(model);
    match white {
        White::Changes => LocalStore::Browser.remove(&key),
        // If it can't be stored, the choice applies to this dialog.
        White::Stays => drop(LocalStore::Browser.write(&key, "stays")),
    }
}

fn storage_key(model: &ModelId) -> String {
    format!(
        "atelier.mask-white.{}/{}",
        model.category, model.subcategory
    )
}
