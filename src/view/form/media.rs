//! A field for an image, a video or a sound: an address, or a file of the user's own (`own_file`), with a preview and a
//! choice of recent outputs.

use crate::state::contexts::contexts;
use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::stored_output;
use atelier_studio::form::{media_list, reuse, seed};
use atelier_studio::output::output_cache;
use leptos::prelude::*;
use maud::html;

use super::field::Field;
use super::frame::Parts;
use super::own_file::MediaField;
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::runner::{Runner, uploaded_outputs};
use crate::state::uploads;
use crate::view::parts::cached_output::stored_file;
use crate::view::parts::list::{Item, list};
use crate::view::parts::media::{MediaView, follow_sides};
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
pub fn below(of: MediaField) -> AnyView {
    let session = contexts().session;
    let kind = reuse::kind_of(of.media);
    let value = of.field.value();
    let preview = memo(move || {
        let address = session.settings().address;
        SafeUrl::media(value.read().trim(), address.as_str()).map(|url| url.to_string())
    });
    let field = of.field.clone();
    view! {
        {recent(of)}
        {dynamic(move || {
            let field = field.clone();
            preview
                .get()
                .map(|url| {
                    let element = NodeRef::new();
                    let size = RwSignal::new(String::new());
                    // An uploaded file is described above the address.
                    follow_sides(
                        element,
                        move |sides| {
                            let is_described = untrack(|| uploads::description(&field.text())).is_some();
                            let sides = sides.filter(|_| !is_described);
                            let text = sides.map(|(width, height)| format!("{width} × {height} px"));
                            size.try_set(text.unwrap_or_default());
                        },
                    );
                    view! {
                        <div class="media-preview" node_ref=element>
                            <MediaView url kind label="Preview" />
                        </div>
                        <p class="hint" translate="no" prop:textContent=size></p>
                    }
                        .into_any()
                })
                .into_any()
        })}
    }
    .into_any()
}

/// Recent outputs, each of which can be pressed to use it.
pub fn recent(of: MediaField) -> AnyView {
    let runner = contexts().runner;
    let kind = reuse::kind_of(of.media);
    let recent = memo(move || runner.recent_outputs(kind, 8));
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
                        let of = of.clone();
                        Item::new(url.clone(), move || recent_output(&of, &name, &url, kind))
                    })
                    .collect()
            })}
        </div>
    }
    .into_any()
}

/// A button that sets the field to one of the user's outputs, or adds it to the list.
fn recent_output(of: &MediaField, name: &str, url: &str, kind: OutputKind) -> AnyView {
    let runner = contexts().runner;
    let (shown, chosen) = (of.clone(), of.clone());
    let (own, of_choice) = (url.to_owned(), (name.to_owned(), url.to_owned()));
    let choose = move |_: web_sys::MouseEvent| chosen.use_outputs(vec![of_choice.clone()]);
    let own_name = name.to_owned();
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
                let is_own = |value: &String| {
                    let uploaded = uploaded_outputs::with(|outputs| outputs.get(value).cloned());
                    uploaded.as_ref() == Some(&own_name)
                        || stored_output::reference(value).as_ref().unwrap_or(value) == &own
                };
                let chosen = match shown.is_list() {
                    true => media_list::addresses(shown.field.shown().as_ref()).unwrap_or_default(),
                    false => vec![shown.field.text()],
                };
                chosen.iter().any(is_own).to_string()
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
