//! What was found in the opened file.

use atelier_contract::output::OutputKind;
use atelier_studio::output::output_cache;
use atelier_studio::recipe_file::FoundRecipe;
use leptos::prelude::*;

use super::{OpenedFile, models, use_as_input};
use crate::files::metadata::CARRIES_CREDENTIALS;

/// Returns the preview of the file, what was found in it, and what can be done with it.
pub fn found(file: &OpenedFile) -> AnyView {
    let name = file.chosen.file.name.clone();
    let size = output_cache::size(file.chosen.file.bytes);
    let facts = view! {
        <p class="muted" translate="no">
            {format!("{name} · {size}")}
        </p>
        <p class="hint" role="status" hidden=file.note.is_empty()>
            {file.note.clone()}
        </p>
    };
    let Some(metadata) = file.metadata.clone() else {
        return view! {
            {preview(file)}
            {facts}
            <p role="status">"Reading the file…"</p>
        }
        .into_any();
    };
    let credentials = metadata
        .has_content_credentials
        .then(|| view! { <p class="note">{CARRIES_CREDENTIALS}</p> });
    let content = match &metadata.recipe {
        Ok(recipe) => view! {
            <p role="status">{recipe.headline()}</p>
            {values(recipe)}
            <p class="muted" hidden=recipe.others.is_empty()>
                {recipe.others_message()}
            </p>
            {models::models(recipe, file.kind)}
        }
        .into_any(),
        Err(message) => view! {
            <p role="status">{message.clone()}</p>
            {use_as_input::links(file)}
        }
        .into_any(),
    };
    view! {
        {preview(file)}
        {facts}
        {credentials}
        {content}
    }
    .into_any()
}

fn values(recipe: &FoundRecipe) -> AnyView {
    let line = |(label, value): (String, String)| {
        view! {
            <dt>{label}</dt>
            <dd translate="no" dir="auto">
                {value}
            </dd>
        }
        .into_any()
    };
    let lines = recipe.summary().into_iter().map(line).collect_view();
    view! { <dl class="open-file-values">{lines}</dl> }.into_any()
}

fn preview(file: &OpenedFile) -> Option<AnyView> {
    let url = file.preview.as_ref()?.0.clone();
    let label = format!("Preview of {}", file.chosen.file.name);
    let media = match file.kind {
        OutputKind::Image => view! { <img src=url alt=label /> }.into_any(),
        OutputKind::Video => {
            view! { <video src=url controls playsinline prop:muted=true aria-label=label></video> }
                .into_any()
        }
        OutputKind::Audio => view! { <audio src=url controls aria-label=label></audio> }.into_any(),
        OutputKind::Other => return None,
    };
    Some(view! { <div class="open-file-preview">{media}</div> }.into_any())
}
