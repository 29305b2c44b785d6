//! The card of a model, as far as it is part of the first view. [`crate::view::models::card_extras`] adds the rest.

use atelier_contract::Model;
use atelier_contract::output::SafeUrl;
use atelier_studio::navigation::route::Route;
use icondata_lu::{LuBookOpen, LuExternalLink};
use leptos::prelude::*;

use crate::reactive::boxed::dynamic;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

#[component]
pub fn ModelCard(model: Model) -> impl IntoView {
    let href = Route::Model(model.id.clone()).path();
    let name = model.display_name().to_owned();
    let hue = hue(&model.id.to_string());
    let address = contexts().session.settings_untracked().address;
    let link = |url: &str| SafeUrl::link(url, address.as_str()).map(|url| url.as_str().to_owned());
    // The picture of the card. Without one, and until the deferred part has loaded, the style sheet draws the card.
    let deferred = contexts().deferred;
    let card = StoredValue::new(model.clone());
    let picture = dynamic(move || {
        let program = deferred.functions();
        program
            .map(|program| (program.card)(card.get_value()))
            .into_any()
    });
    let documentation = link(&model.documentation).map(|url| {
        let label = format!("Documentation of {name}");
        view! {
            <a
                class="icon-button"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                aria-label=label
                title="Documentation"
            >
                <Glyph icon=LuBookOpen />
            </a>
        }
    });
    let preview = link(&model.preview).map(|url| {
        let label = format!("Example of {name}");
        view! {
            <a
                class="icon-button"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                aria-label=label
                title="Example"
            >
                <Glyph icon=LuExternalLink />
            </a>
        }
    });
    view! {
        <li class="card model-card" style:--hue=hue.to_string()>
            <div class="model-card-art">{picture}</div>
            <div class="model-card-text">
                <h3>
                    <a class="cover" href=href title=model.id.subcategory.clone()>
                        {name}
                    </a>
                </h3>
                <p class="clamp">{model.description.clone()}</p>
            </div>
            <div class="model-card-links">{documentation} {preview}</div>
        </li>
    }
}

/// Returns a hue in degrees that depends only on the name, so that each model has its own color.
fn hue(name: &str) -> u32 {
    let hash = name.bytes().fold(7_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    (hash.wrapping_mul(2_654_435_761) >> 7) % 360
}
