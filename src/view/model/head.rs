use crate::state::contexts::contexts;
use atelier_contract::ModelId;
use atelier_contract::output::SafeUrl;
use icondata_lu::{LuBookOpen, LuChevronRight, LuExternalLink};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, text, when};
use crate::state::catalog::Load;
use crate::view::parts::glyph::Glyph;

/// The head of a model's page: name, description and links.
#[component]
pub fn ModelHead(model: ModelId) -> impl IntoView {
    let catalog = contexts().catalog;
    let session = contexts().session;
    let id = StoredValue::new(model.clone());
    let known = move || id.with_value(|id| catalog.model(id));
    let name = text(move || match known() {
        Some(known) => known.display_name().to_owned(),
        None => id.with_value(|id| id.subcategory.clone()),
    });
    let description = text(move || known().map(|model| model.description).unwrap_or_default());
    // Reserves the space of the description until the list of models has loaded, so that the content below doesn't shift.
    let is_awaited = when(move || known().is_none() && matches!(catalog.models(), Load::Loading));
    // A press shows the whole of a clamped description: on touch screens there are no tooltips.
    let is_whole = RwSignal::new(false);
    let link = move |url: &str, label: &'static str, icon| {
        let address = session.settings_untracked().address;
        SafeUrl::link(url, address.as_str()).map(|url| {
            view! {
                <a
                    class="button quiet"
                    href=url.as_str().to_owned()
                    target="_blank"
                    rel="noopener noreferrer"
                >
                    <Glyph icon=icon />
                    {label}
                </a>
            }
            .into_any()
        })
    };
    let links = dynamic(move || {
        known()
            .map(|model| {
                view! {
                    {link(&model.documentation, "Documentation", LuBookOpen)}
                    {link(&model.preview, "Example", LuExternalLink)}
                }
                .into_any()
            })
            .into_any()
    });
    let in_category = format!(
        "/?category={}",
        atelier_contract::path::segment(&model.category)
    );
    view! {
        <div class="model-head" class:awaited=is_awaited>
            <nav class="crumbs" aria-label="Breadcrumb">
                <a href="/">"All models"</a>
                <Glyph icon=LuChevronRight />
                <a href=in_category>{model.category.clone()}</a>
            </nav>
            <div class="page-head">
                <h1>{name}</h1>
                <div class="row tight">{links}</div>
            </div>
            <p
                class="lede"
                class:whole=is_whole
                title=description
                on:click=handler(move |_| is_whole.update(|it| *it = !*it))
            >
                {description}
            </p>
        </div>
    }
}
