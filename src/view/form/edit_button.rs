//! The button that edits the picture of a field.

use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::output::SafeUrl;
use atelier_contract::{Draft, Media, Schema};
use atelier_studio::picture_edit::ratio;
use icondata_lu::LuCrop;
use leptos::prelude::*;
use web_sys::MouseEvent;

use super::own_file::MediaField;
use crate::reactive::boxed::{handler, memo, when};
use crate::state::contexts::contexts;
use crate::state::picture_edits::{self, Original, Request};
use crate::state::uploads;
use crate::view::parts::glyph::Glyph;

/// The values of the form, which may ask for a ratio.
#[derive(Clone)]
struct FormValues {
    draft: RwSignal<Draft>,
    schema: Arc<Schema>,
}

/// Provides the values of a form to [`view`].
pub fn provide(draft: RwSignal<Draft>, schema: &Arc<Schema>) {
    provide_context(FormValues {
        draft,
        schema: schema.clone(),
    });
}

/// Returns the button for an image field. It is hidden while the field is empty.
pub fn view(of: &MediaField) -> AnyView {
    if of.media != Media::Image {
        return ().into_any();
    }
    let session = contexts().session;
    let values = use_context::<FormValues>();
    let field = of.field.clone();
    let picture = memo(move || {
        let address = session.settings().address;
        SafeUrl::media(field.text().trim(), address.as_str()).map(|url| url.as_str().to_owned())
    });
    // The edited copy would replace the file that is being uploaded.
    let is_uploading = {
        let of = of.clone();
        memo(move || uploads::of_field(&of.key()).is_some_and(|upload| upload.state.is_running()))
    };
    // The form may be left with the browser's Back.
    on_cleanup(picture_edits::interrupt);
    let of = of.clone();
    let edit = move |_: MouseEvent| {
        let Some(url) = picture.get_untracked() else {
            return;
        };
        let key = of.key();
        let ratio = values.as_ref().and_then(|FormValues { draft, schema }| {
            ratio::of_form(&draft.read_untracked(), schema)
        });
        let Original {
            url: original,
            name,
            edit,
        } = picture_edits::original(&key, &url);
        let of = of.clone();
        picture_edits::open(Request {
            interrupted: picture_edits::take_interrupted(&key, &original),
            key,
            original,
            name,
            edit,
            ratio,
            on_done: Rc::new(move |file| of.accept(vec![file])),
        });
    };
    view! {
        <button
            class="button small"
            type="button"
            aria-haspopup="dialog"
            hidden=when(move || picture.read().is_none() || is_uploading.get())
            on:click=handler(edit)
        >
            <Glyph icon=LuCrop />
            "Edit"
        </button>
    }
    .into_any()
}
