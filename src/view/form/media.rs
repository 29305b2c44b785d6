//! A field for an image, a video or a sound: an address, or a file of the user's own (`own_file`), with a preview and a
//! choice of recent outputs.

use crate::state::contexts::contexts;
use atelier_contract::Media;
use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::stored_output;
use atelier_studio::form::{reuse, seed};
use atelier_studio::output::output_cache;
use leptos::prelude::*;
use maud::html;

use super::field::Field;
use super::frame::Parts;
use crate::files::output_file;
use crate::reactive::boxed::{dynamic, handler, memo, spawn, text, when};
use crate::runner::Runner;
use crate::view::parts::cached_output::stored_file;
use crate::view::parts::list::{Item, list};
use crate::view::parts::media::MediaView;
use crate::view::task::words;

/// The group with the address field.
pub fn html(field: &Field) -> Parts {
    let (label_id, address_id) = (field.label_id(), field.address_id());
    Parts::of(html! {
        div.media-field role="group" aria-labelledby=(label_id) {
            div.own-file id=(field.own_file_id()) {}
            span id=(address_id) hidden { "Address" }
            // The name begins with the parameter's, like those of all fields.
            input type="text" inputmode="url" id=(field.id) required[field.required] autocomplete="off"
                spellcheck="false" placeholder="https://…" aria-labelledby={ (label_id) " " (address_id) }
                aria-describedby=(field.described_by());
            div.below-address {}
        }
    })
}

/// The content below the address: recent outputs and a preview.
pub fn below(field: &Field, media: Media) -> AnyView {
    let session = contexts().session;
    let runner = contexts().runner;
    let kind = reuse::kind_of(media);
    let value = field.value();
    let preview = memo(move || {
        let address = session.settings().address;
        SafeUrl::media(value.read().trim(), address.as_str()).map(|url| url.to_string())
    });
    let recent = memo(move || runner.recent_outputs(kind, 8));
    let pick = field.clone();
    view! {
        // Reserves the height of the outputs, because the history is read after the form is shown.
        <p class="hint recent" hidden=when(move || !recent.read().is_empty())>
            "Your recent outputs appear here."
        </p>
        <div
            class="recent"
            role="group"
            aria-label="Recent outputs"
            hidden=when(move || recent.read().is_empty())
        >
            {list(move || {
                recent
                    .get()
                    .into_iter()
                    .map(|(name, url)| {
                        let field = pick.clone();
                        Item::new(url.clone(), move || recent_output(&field, &name, &url, kind))
                    })
                    .collect()
            })}
        </div>
        {dynamic(move || {
            preview
                .get()
                .map(|url| {
                    view! {
                        <div class="media-preview">
                            <MediaView url kind label="Preview" />
                        </div>
                    }.into_any()
                })
                .into_any()
        })}
    }
    .into_any()
}

/// A button that sets the field to one of the user's outputs.
fn recent_output(field: &Field, name: &str, url: &str, kind: OutputKind) -> AnyView {
    let runner = contexts().runner;
    let (shown, chosen) = (field.clone(), field.clone());
    let (own, of_choice) = (url.to_owned(), (url.to_owned(), name.to_owned()));
    let choose = move |_: web_sys::MouseEvent| {
        let (field, (url, name)) = (chosen.clone(), of_choice.clone());
        field.set_text(url.clone());
        if stored_output::is_reference(&url) {
            // The reference can't be sent; it is replaced by the data once that is read.
            spawn(async move {
                let data = output_file::address(runner, &url, &name).await;
                // The form may be disposed or changed by then.
                let now = field.entry_now().map(|entry| entry.to_text());
                if let Some(data) = data.filter(|_| now == Some(url)) {
                    field.set_text(data);
                }
            });
        }
    };
    let picture = stored_file(name, url, || ());
    let label = match label(runner, name, kind) {
        Some(label) => format!("Use this output: {label}"),
        None => "Use this output".to_owned(),
    };
    view! {
        <button
            type="button"
            class="recent-output"
            aria-label=label
            aria-pressed=text(move || {
                let chosen = shown.text();
                let stored = stored_output::reference(&chosen);
                (stored.unwrap_or(chosen) == own).to_string()
            })
            on:click=handler(choose)
        >
            {dynamic(move || {
                let url = picture.get();
                (!url.is_empty()).then(|| view! { <MediaView url kind label="" thumbnail=true /> }).into_any()
            })}
        </button>
    }
    .into_any()
}

/// Returns the name of an output, with its seed and position to distinguish it from others of the same prompt.
fn label(runner: Runner, name: &str, kind: OutputKind) -> Option<String> {
    let (key, position) = output_cache::parse_name(name)?;
    let task = runner.task(&key)?;
    let task = task.read_untracked();
    let mut label = words::output(&task, kind);
    // The name of a variation already contains the seed.
    if seed::variation_label(&task).is_none()
        && let Some(seed) = task.input.values().get(seed::NAME)
    {
        label.push_str(&format!(", seed {seed}"));
    }
    let count = task.outputs().len();
    if count > 1 {
        label.push_str(&format!(", {} of {count}", position + 1));
    }
    Some(label)
}
