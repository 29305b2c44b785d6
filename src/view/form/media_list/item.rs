//! An item of a list: its picture, name, upload and buttons.

use atelier_contract::Media;
use atelier_contract::output::SafeUrl;
use atelier_studio::form::media_list;
use atelier_studio::form::reuse;
use atelier_studio::form::upload::embedding;
use atelier_studio::form::upload::state::UploadState;
use icondata_lu::{LuArrowDown, LuArrowUp, LuFileAudio, LuFileVideo, LuGripVertical, LuImage, LuX};
use leptos::prelude::*;
use web_sys::{HtmlImageElement, MouseEvent, PointerEvent, Url};

use super::ListField;
use super::dragging::Drag;
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::state::uploads::{self, Upload};
use crate::view::form::field::Field;
use crate::view::form::{copy_side, upload_progress};
use crate::view::parts::cached_output::object_url_signal;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::media::MediaView;

/// Returns the element id of an item.
pub fn element_id(field: &Field, item: u32) -> String {
    format!("{}-item-{item}", field.id)
}

/// Returns the name of an item: that of its file, or else the end of its address.
pub fn name(address: Option<&str>, upload: Option<&Upload>) -> String {
    match (address, upload) {
        (_, Some(upload)) => media_list::shown_name(&upload.file.name).to_owned(),
        (Some(address), None) => match uploads::description(address) {
            // The name of an uploaded file is the first part of its description.
            Some(known) => known.split(", ").next().unwrap_or_default().to_owned(),
            None => media_list::name(address),
        },
        (None, None) => media_list::shown_name("").to_owned(),
    }
}

/// The row of an item.
pub fn view(list: &ListField, item: u32, drag: Drag) -> AnyView {
    let upload = {
        let key = list.item_key(item);
        memo(move || uploads::of_field(&key))
    };
    let address = {
        let state = list.state.clone();
        memo(move || {
            let list = state.list.read();
            let found = list.items().iter().find(|it| it.id == item)?;
            found.address.clone()
        })
    };
    // The index, and the number of items.
    let place = {
        let state = list.state.clone();
        memo(move || {
            let list = state.list.read();
            (list.place(item).unwrap_or_default(), list.items().len())
        })
    };
    let name = memo(move || name(address.read().as_deref(), upload.read().as_ref()));
    // The size in pixels of a picture whose description does not contain it.
    let pixels = RwSignal::new(String::new());
    let details = text(move || match &*address.read() {
        Some(address) => match uploads::description(address) {
            Some(known) => known.split_once(", ").map(|(_, rest)| rest.to_owned()),
            None => Some(pixels.get()),
        }
        .unwrap_or_default(),
        None => String::new(),
    });
    let element = element_id(list.field(), item);
    let id = element.clone();
    view! {
        <li
            class="media-item"
            id=id
            data-drag=text(move || drag.mark(item, place.get().0).word().to_owned())
        >
            <span
                class="media-handle"
                aria-hidden="true"
                title="Drag to reorder"
                hidden=when(move || place.get().1 < 2)
                on:pointerdown=handler(move |event: PointerEvent| drag.start(item, &event))
                on:pointermove=handler(move |event: PointerEvent| drag.moves(&event))
                on:pointerup=handler(move |_: PointerEvent| drag.drop_item())
                on:pointercancel=handler(move |_: PointerEvent| drag.cancel())
            >
                <Glyph icon=LuGripVertical />
            </span>
            <span class="media-thumbnail">{picture(list, address, upload, pixels)}</span>
            <div class="media-about">
                <span class="media-name" translate="no" prop:textContent=name></span>
                <span class="muted" translate="no" prop:textContent=details></span>
                {progress(list, upload, name, element.clone())}
                {failure(list, upload, element)}
            </div>
            <div class="media-tools">{tools(list, item, place, name, upload)}</div>
        </li>
    }
    .into_any()
}

/// The buttons that move and remove an item.
fn tools(
    list: &ListField,
    item: u32,
    place: Memo<(usize, usize)>,
    name: Memo<String>,
    upload: Memo<Option<Upload>>,
) -> AnyView {
    let mover = |is_later: bool| {
        let list = list.clone();
        let (icon, word) = match is_later {
            true => (LuArrowDown, "later"),
            false => (LuArrowUp, "earlier"),
        };
        let is_at_end = move || {
            let (at, count) = place.get();
            if is_later { at + 1 >= count } else { at == 0 }
        };
        let class = format!("icon-button move-{word}");
        let id = format!("#{} .move-{word}", element_id(list.field(), item));
        let press = move |_: MouseEvent| {
            if untrack(is_at_end) {
                return;
            }
            let (at, _) = place.get_untracked();
            list.move_to(item, if is_later { at + 1 } else { at - 1 });
            // The browser takes the focus from an element that is moved.
            let id = id.clone();
            focus::when_lost(move || {
                focus::to(&id);
            });
        };
        view! {
            <button
                type="button"
                class=class
                // Not `disabled`: it would lose the focus at the end of the list.
                aria-disabled=text(move || is_at_end().to_string())
                hidden=when(move || place.get().1 < 2)
                aria-label=text(move || format!("Move {} {word}", name.get()))
                title=format!("Move {word}")
                on:click=handler(press)
            >
                <Glyph icon />
            </button>
        }
        .into_any()
    };
    let remove = {
        let list = list.clone();
        move |_: MouseEvent| list.remove(item)
    };
    // A running upload is canceled first, so that Generate notices it.
    let is_running = when(move || {
        let upload = upload.read();
        upload
            .as_ref()
            .is_some_and(|upload| upload.state.is_running())
    });
    view! {
        {mover(false)}
        {mover(true)}
        <button
            type="button"
            class="icon-button remove"
            aria-label=text(move || format!("Remove {}", name.get()))
            title="Remove"
            // Not `hidden`: the other buttons would move.
            class:concealed=is_running
            on:click=handler(remove)
        >
            <Glyph icon=LuX />
        </button>
    }
    .into_any()
}

/// The picture of an item: from its address, or else from the file that is uploaded.
fn picture(
    list: &ListField,
    address: Memo<Option<String>>,
    upload: Memo<Option<Upload>>,
    pixels: RwSignal<String>,
) -> AnyView {
    let (media, all) = (list.of.media, list.of.all);
    let kind = reuse::kind_of(media);
    let file = memo(move || {
        let upload = upload.read();
        upload
            .as_ref()
            .map(|upload| upload.id)
            .filter(|_| media == Media::Image)
    });
    let source = memo(move || {
        let service = all.session.settings().address;
        let address = address.read();
        let safe = SafeUrl::media(address.as_deref()?.trim(), service.as_str())?;
        Some(safe.to_string())
    });
    let icon = move || match media {
        Media::Image => LuImage,
        Media::Video => LuFileVideo,
        Media::Audio => LuFileAudio,
    };
    dynamic(move || {
        if let Some(url) = source.get() {
            let on_load = move |image: HtmlImageElement| {
                let size = format!("{} × {} px", image.natural_width(), image.natural_height());
                pixels.try_set(size);
            };
            return view! { <MediaView url kind label="" thumbnail=true on_load /> }.into_any();
        }
        let content = file.get().and_then(uploads::content);
        let local = content.and_then(|file| Url::create_object_url_with_blob(&file).ok());
        match local {
            Some(url) => {
                object_url_signal().set(url.clone());
                view! { <MediaView url kind label="" thumbnail=true /> }.into_any()
            }
            None => view! { <Glyph icon=icon() /> }.into_any(),
        }
    })
}

/// The progress of a running upload, with buttons that cancel it or don't wait.
fn progress(
    list: &ListField,
    upload: Memo<Option<Upload>>,
    name: Memo<String>,
    element: String,
) -> AnyView {
    let all = list.of.all;
    let running = memo(move || {
        let upload = upload.read();
        let upload = upload.as_ref().filter(|upload| upload.state.is_running())?;
        Some(upload.id)
    });
    let state = upload_progress::state(upload);
    let row = dynamic(move || {
        let Some(id) = running.get() else {
            return ().into_any();
        };
        let focus_on = |selector: String| {
            move || {
                let selector = selector.clone();
                focus::when_lost(move || {
                    focus::to_without_scrolling(&selector);
                });
            }
        };
        let (canceled, retried) = (
            focus_on(format!("#{element} .remove")),
            focus_on(format!("#{element} .cancel-upload")),
        );
        let cancel = move |_: MouseEvent| {
            uploads::cancel(id);
            canceled();
        };
        let label = text(move || format!("Upload of {}", name.get()));
        let now = text(move || format!("Try now to upload {}", name.get()));
        view! {
            <div class="upload">
                {upload_progress::bar(state, label)}
                {upload_progress::try_now(all, id, state, now, retried)}
                <button
                    class="button small cancel-upload"
                    type="button"
                    aria-label=text(move || format!("Cancel upload of {}", name.get()))
                    on:click=handler(cancel)
                >
                    "Cancel"
                </button>
            </div>
        }
        .into_any()
    });
    view! {
        {row}
        {upload_progress::wait(state)}
    }
    .into_any()
}

/// The message of an upload that has failed or was canceled, with a button for what the user can do about it.
fn failure(list: &ListField, upload: Memo<Option<Upload>>, element: String) -> AnyView {
    let all = list.of.all;
    let field = list.of.field.clone();
    let message = text(move || match &*upload.read() {
        Some(Upload {
            state: UploadState::Failed { message, .. },
            ..
        }) => message.clone(),
        Some(Upload {
            state: UploadState::Canceled,
            ..
        }) => "The upload was canceled.".to_owned(),
        _ => String::new(),
    });
    // The upload, and whether it can be tried again; otherwise its picture can be put into the request.
    let offer = memo(move || {
        let upload = upload.read();
        let upload = upload.as_ref()?;
        let UploadState::Failed { can_retry, .. } = upload.state else {
            return None;
        };
        (can_retry || upload.offers_copy()).then_some((upload.id, can_retry))
    });
    let button = dynamic(move || {
        let Some((id, can_retry)) = offer.get() else {
            return ().into_any();
        };
        let tool = format!("#{element} button:not([hidden], .concealed)");
        let field = field.clone();
        let press = move |_: MouseEvent| {
            match can_retry {
                true => uploads::retry(all, id),
                false => uploads::embed_all(all, vec![copy_side::copy(id, &field, true)]),
            }
            let tool = tool.clone();
            focus::when_lost(move || {
                focus::to_without_scrolling(&tool);
            });
        };
        let label = match can_retry {
            true => "Try again",
            false => embedding::LABEL,
        };
        view! {
            <button class="button small" type="button" on:click=handler(press)>
                {label}
            </button>
        }
        .into_any()
    });
    let is_copy_offered = when(move || upload.read().as_ref().is_some_and(Upload::offers_copy));
    view! {
        <p class="problem" role="alert" prop:textContent=message></p>
        {copy_side::view(&list.of.model, is_copy_offered)}
        {button}
    }
    .into_any()
}
