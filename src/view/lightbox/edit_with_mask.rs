//! The button that draws a mask over a picture, in the form of a model that takes both.

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_studio::form::reuse;
use atelier_studio::mask::target::{self, MaskPlace};
use atelier_studio::navigation::route::{Route, with_query_value};
use icondata_lu::LuBrush;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;
use crate::state::model_order;
use crate::view::model::loaded::DRAW;
use crate::view::parts::glyph::Glyph;
use crate::view::task::shown_output::ShownOutput;

const LABEL: &str = "Edit with mask";

/// Id of the menu.
const MENU: &str = "large-mask";

/// A place for a mask: the model, its name, and the parameters.
type Place = (ModelId, String, MaskPlace);

/// Returns the button; empty unless the output is a picture and a model of the service takes a picture and a mask. With
/// several such models, the button opens a menu of them.
pub fn edit_with_mask(shown: &ShownOutput) -> AnyView {
    if shown.kind != OutputKind::Image {
        return ().into_any();
    }
    let output = shown.task.key.output(shown.position);
    let places = places();
    dynamic(move || match places.get().as_slice() {
        [] => ().into_any(),
        [only] => view! {
            <a class="button with-mask" href=href(only, &output)>
                <Glyph icon=LuBrush />
                <span class="word">{LABEL}</span>
            </a>
        }
        .into_any(),
        several => {
            let links = several.iter().map(|place| link(place, &output));
            let links = links.collect_view();
            view! {
                <button class="button with-mask" type="button" popovertarget=MENU>
                    <Glyph icon=LuBrush />
                    <span class="word">{LABEL}</span>
                </button>
                <div class="menu" id=MENU popover="auto">
                    {links}
                </div>
            }
            .into_any()
        }
    })
}

/// Returns the places for a mask in the models of the service. Empty until the schemas are loaded, one after the other.
fn places() -> Memo<Vec<Place>> {
    let catalog = contexts().catalog;
    memo(move || {
        let Load::Loaded(list) = catalog.models() else {
            return Vec::new();
        };
        let mut places = Vec::new();
        for model in reuse::candidates(&list.models, &model_order::first(), OutputKind::Image) {
            let schema = match catalog.schema(&model) {
                Load::Loaded(schema) => schema,
                Load::Loading => return Vec::new(),
                Load::Failed(_) => continue,
            };
            let known = list.models.iter().find(|known| known.id == model);
            let name = known.map(|known| known.display_name().to_owned());
            let name = name.unwrap_or_else(|| model.subcategory.clone());
            let of_model = target::places(&schema).into_iter();
            places.extend(of_model.map(|place| (model.clone(), name.clone(), place)));
        }
        places
    })
}

/// Returns the address of the form with the picture, which then opens the dialog.
fn href((model, _, place): &Place, output: &str) -> String {
    let query = with_query_value("", "output", Some(output));
    let query = with_query_value(&query, "into", Some(&place.picture));
    let query = with_query_value(&query, DRAW, Some(&place.mask));
    Route::Model(model.clone()).path() + &query
}

fn link(place: &Place, output: &str) -> AnyView {
    let (_, name, MaskPlace { mask, .. }) = place;
    view! {
        <a class="button quiet use-place" href=href(place, output)>
            {name.clone()}
            <span class="muted">{mask.clone()}</span>
        </a>
    }
    .into_any()
}
