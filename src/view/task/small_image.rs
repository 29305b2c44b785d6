//! An image where outputs are shown small: the small picture that this browser has made of it, else the
//! image itself, of which a small one is made then.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_studio::output::thumbnail;
use futures::lock::Mutex;
use leptos::prelude::*;
use leptos::task::spawn_local_scoped_with_cancellation;
use web_sys::{Blob, HtmlImageElement, Url};

use crate::browser::storage::thumbnails;
use crate::browser::{http, picture};
use crate::reactive::boxed::{dynamic, effect, spawn};
use crate::state::contexts::contexts;
use crate::view::parts::cached_output::address_of_copy;
use crate::view::parts::media::MediaView;

/// Of a larger file no small picture is made, in bytes.
const MAX_BYTES: u64 = 50_000_000;

thread_local! {
    /// One is made after the other: a decoded picture is large.
    static TURN: Arc<Mutex<()>> = Arc::default();
    /// Those that have one, or came to nothing: they are not tried again in this visit.
    static TRIED: RefCell<HashSet<String>> = RefCell::default();
}

#[derive(Clone, PartialEq)]
enum Source {
    /// Whether there is a small picture is not known yet.
    Unknown,
    Small(String),
    Whole,
}

/// The image at this address, of the output of this name.
pub fn small_image(name: String, url: String, on_gone: Callback<()>) -> AnyView {
    let source = RwSignal::new(Source::Unknown);
    let small = address_of_copy();
    // Tells whether the small picture can be shown.
    let show_small = move |picture: Option<Blob>| {
        let address = picture.and_then(|it| Url::create_object_url_with_blob(&it).ok());
        if let Some(address) = &address {
            small.set(address.clone());
            source.set(Source::Small(address.clone()));
        }
        address.is_some()
    };
    let (is_small_gone, is_whole_gone) = (StoredValue::new(false), StoredValue::new(false));
    // The whole image once it has been shown, and its width and height in pixels.
    let image_of_whole = StoredValue::new_local(None);
    let whole = RwSignal::new(None);
    effect({
        let (name, url) = (name.clone(), url.clone());
        move || {
            let size = whole.get().and_then(|(w, h)| thumbnail::size(w, h));
            if let (Some(size), Some(image)) = (size, image_of_whole.get_value()) {
                make(name.clone(), &url, size, Place { image, small });
            }
        }
    });
    spawn_local_scoped_with_cancellation({
        let name = name.clone();
        async move {
            let found = thumbnails::read(&name).await;
            if !matches!(found, Ok(None)) {
                // There is a small picture already, or nowhere to keep one.
                was_tried(&name);
            }
            if !show_small(found.ok().flatten()) {
                source.set(Source::Whole);
            }
        }
    });
    // A small one may have come too late to be waited for: better than none.
    let on_whole_gone = move |()| {
        if is_small_gone.get_value() {
            return on_gone.run(());
        }
        is_whole_gone.set_value(true);
        let name = name.clone();
        spawn(async move {
            let found = thumbnails::read(&name).await.ok().flatten();
            if source.is_disposed() {
                return;
            }
            if !show_small(found) {
                on_gone.run(());
            }
        });
    };
    dynamic(move || match source.get() {
        Source::Unknown => ().into_any(),
        Source::Small(address) => {
            let to_whole = move |()| {
                is_small_gone.set_value(true);
                source.set(Source::Whole);
            };
            let on_load = move |image: HtmlImageElement| {
                let (pixels, shown) = (image.natural_height(), image.client_height());
                let ratio = window().device_pixel_ratio();
                let is_sharp = thumbnail::is_sharp(pixels, shown.into(), ratio);
                if !is_sharp && !is_whole_gone.get_value() {
                    source.set(Source::Whole);
                }
            };
            view! {
                <MediaView url=address kind=OutputKind::Image label="" thumbnail=true on_gone=to_whole on_load />
            }
            .into_any()
        }
        Source::Whole => {
            let on_load = move |image: HtmlImageElement| {
                let sides = (image.natural_width(), image.natural_height());
                image_of_whole.set_value(Some(image));
                whole.set(Some(sides));
            };
            view! {
                <MediaView
                    url=url.clone()
                    kind=OutputKind::Image
                    label=""
                    thumbnail=true
                    on_gone=on_whole_gone.clone()
                    on_load
                />
            }
            .into_any()
        }
    })
}

/// Of data in an address no small picture is made.
fn is_file(url: &SafeUrl) -> bool {
    url.is_link() || url.as_str().starts_with("blob:")
}

/// Whether it was tried before.
fn was_tried(name: &str) -> bool {
    TRIED.with_borrow_mut(|tried| !tried.insert(name.to_owned()))
}

/// Where a whole image is shown, and room for the address of the small one.
struct Place {
    image: HtmlImageElement,
    small: RwSignal<String>,
}

impl Place {
    /// The whole one is let go, with all that is decoded of it. It stays in sight until the small one is there.
    fn show(&self, small: &Blob, height: u32) {
        let shown = self.image.client_height();
        if !thumbnail::is_sharp(height, shown.into(), window().device_pixel_ratio()) {
            return;
        }
        let Ok(address) = Url::create_object_url_with_blob(small) else {
            return;
        };
        match self.small.try_set(address.clone()) {
            // The view has gone meanwhile.
            Some(unwanted) => drop(Url::revoke_object_url(&unwanted)),
            None => {
                // Between the two there is no frame without a picture.
                self.image.set_decoding("sync");
                self.image.set_src(&address);
            }
        }
    }
}

/// Makes a small picture of what has just been shown, and shows it instead. Given up if it is not in sight
/// any more when its turn comes.
fn make(name: String, url: &str, size: (u32, u32), place: Place) {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(url, address.as_str()).filter(is_file) else {
        return;
    };
    spawn_local_scoped_with_cancellation(async move {
        let turn = TURN.with(Arc::clone).lock_owned().await;
        if was_tried(&name) {
            return;
        }
        // The file is read to its end: one left half read holds a connection.
        spawn(async move {
            // The browser has the file, having just shown it.
            if let Ok(file) = http::get_blob(safe.as_str(), MAX_BYTES).await
                && let Ok(small) = picture::resized(&file, size).await
            {
                thumbnails::write(&name, &small).await;
                place.show(&small, size.1);
            }
            drop(turn);
        });
    });
}
