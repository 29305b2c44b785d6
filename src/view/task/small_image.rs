//! A small view of an image: the thumbnail stored in this browser, or else the image itself, from which a thumbnail is
//! then made.

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
use crate::view::parts::cached_output::object_url_signal;
use crate::view::parts::media::MediaView;

/// The size in bytes of the largest file from which a thumbnail is made.
const MAX_BYTES: u64 = 50_000_000;

thread_local! {
    /// Held while a thumbnail is made. Only one is made at a time, because a decoded picture takes much memory.
    static LOCK: Arc<Mutex<()>> = Arc::default();
    /// The names of outputs whose thumbnail exists or could not be made. They are not tried again during this visit.
    static TRIED: RefCell<HashSet<String>> = RefCell::default();
}

#[derive(Clone, PartialEq)]
enum Source {
    /// The stored thumbnail is still being read.
    Unknown,
    Small(String),
    Full,
}

/// The image at `url`, of the output `name`.
pub fn small_image(name: String, url: String, on_gone: Callback<()>) -> AnyView {
    let source = RwSignal::new(Source::Unknown);
    let small = object_url_signal();
    // Shows the thumbnail and returns true if there is one.
    let show_small = move |picture: Option<Blob>| {
        let address = picture.and_then(|it| Url::create_object_url_with_blob(&it).ok());
        if let Some(address) = &address {
            small.set(address.clone());
            source.set(Source::Small(address.clone()));
        }
        address.is_some()
    };
    let (is_small_gone, is_full_gone) = (StoredValue::new(false), StoredValue::new(false));
    // The full image once it is loaded, and its width and height in pixels.
    let full_image = StoredValue::new_local(None);
    let full_size = RwSignal::new(None);
    effect({
        let (name, url) = (name.clone(), url.clone());
        move || {
            let size = full_size.get().and_then(|(w, h)| thumbnail::size(w, h));
            if let (Some(size), Some(image)) = (size, full_image.get_value()) {
                make_thumbnail(name.clone(), &url, size, FullImage { image, small });
            }
        }
    });
    spawn_local_scoped_with_cancellation({
        let name = name.clone();
        async move {
            let found = thumbnails::read(&name).await;
            if !matches!(found, Ok(None)) {
                // A thumbnail exists, or storage is unavailable.
                mark_as_tried(&name);
            }
            if !show_small(found.ok().flatten()) {
                source.set(Source::Full);
            }
        }
    });
    // The first read may have timed out, so the thumbnail is read again.
    let on_full_gone = move |()| {
        if is_small_gone.get_value() {
            return on_gone.run(());
        }
        is_full_gone.set_value(true);
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
            let show_full = move |()| {
                is_small_gone.set_value(true);
                source.set(Source::Full);
            };
            let on_load = move |image: HtmlImageElement| {
                let (pixels, shown) = (image.natural_height(), image.client_height());
                let ratio = window().device_pixel_ratio();
                let is_sharp = thumbnail::is_sharp(pixels, shown.into(), ratio);
                if !is_sharp && !is_full_gone.get_value() {
                    source.set(Source::Full);
                }
            };
            view! {
                <MediaView url=address kind=OutputKind::Image label="" thumbnail=true on_gone=show_full on_load />
            }
            .into_any()
        }
        Source::Full => {
            let on_load = move |image: HtmlImageElement| {
                let sides = (image.natural_width(), image.natural_height());
                full_image.set_value(Some(image));
                full_size.set(Some(sides));
            };
            view! {
                <MediaView
                    url=url.clone()
                    kind=OutputKind::Image
                    label=""
                    thumbnail=true
                    on_gone=on_full_gone.clone()
                    on_load
                />
            }
            .into_any()
        }
    })
}

/// Returns whether the address refers to a file. No thumbnail is made from a data URL.
fn is_file(url: &SafeUrl) -> bool {
    url.is_link() || url.as_str().starts_with("blob:")
}

/// Marks an output as tried, and returns whether it already was.
fn mark_as_tried(name: &str) -> bool {
    TRIED.with_borrow_mut(|tried| !tried.insert(name.to_owned()))
}

/// The element that shows a full image, and the signal for the address of its thumbnail.
struct FullImage {
    image: HtmlImageElement,
    small: RwSignal<String>,
}

impl FullImage {
    /// Shows the thumbnail in place of the full image, which frees the memory of the decoded full image. Does nothing if the
    /// thumbnail would look blurred.
    fn replace_by(&self, small: &Blob, height: u32) {
        let shown = self.image.client_height();
        if !thumbnail::is_sharp(height, shown.into(), window().device_pixel_ratio()) {
            return;
        }
        let Ok(address) = Url::create_object_url_with_blob(small) else {
            return;
        };
        match self.small.try_set(address.clone()) {
            // The view was removed.
            Some(unwanted) => drop(Url::revoke_object_url(&unwanted)),
            None => {
                // Decodes synchronously, so that no frame is empty.
                self.image.set_decoding("sync");
                self.image.set_src(&address);
            }
        }
    }
}

/// Makes a thumbnail of an image that was just loaded, and shows it instead. Cancelled if the view is removed before the
/// lock is free.
fn make_thumbnail(name: String, url: &str, size: (u32, u32), full_image: FullImage) {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(url, address.as_str()).filter(is_file) else {
        return;
    };
    spawn_local_scoped_with_cancellation(async move {
        let guard = LOCK.with(Arc::clone).lock_owned().await;
        if mark_as_tried(&name) {
            return;
        }
        // Not cancelled: a response that is not read to its end blocks a connection.
        spawn(async move {
            // The browser has just shown the file, so it is in its cache.
            if let Ok(file) = http::get_blob(safe.as_str(), MAX_BYTES).await
                && let Ok(small) = picture::resize(&file, size).await
            {
                thumbnails::write(&name, &small).await;
                full_image.replace_by(&small, size.1);
            }
            drop(guard);
        });
    });
}
