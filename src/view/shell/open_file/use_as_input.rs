//! The models that take the opened file itself as an input.

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_studio::form::reuse;
use leptos::prelude::*;

use super::OpenedFile;
use crate::browser::chosen::ChosenFile;
use crate::reactive::boxed::{dynamic, handler};
use crate::state::catalog::Load;
use crate::state::contexts::{Contexts, contexts};
use crate::state::model_order;
use crate::view::model::from_file::{self, FromFile};

/// Returns a button for each media parameter that takes the file.
pub fn links(file: &OpenedFile) -> AnyView {
    let (all, kind) = (contexts(), file.kind);
    if kind == OutputKind::Other {
        return ().into_any();
    }
    let chosen = StoredValue::new_local(file.chosen.clone());
    dynamic(move || {
        let Load::Loaded(list) = all.catalog.models() else {
            return ().into_any();
        };
        let candidates = reuse::candidates(&list.models, &model_order::first(), kind);
        let buttons = candidates.iter().filter_map(|model| {
            let schema = all.catalog.schema(model);
            let parameters = reuse::parameters(schema.loaded()?, kind);
            let known = list.models.iter().find(|it| it.id == *model)?;
            let button = |parameter: String| {
                let name = known.display_name();
                button(all, (model, name), parameter, chosen)
            };
            Some(parameters.into_iter().map(button).collect_view())
        });
        let buttons: Vec<_> = buttons.collect();
        match buttons.iter().all(Vec::is_empty) {
            true => ().into_any(),
            false => view! {
                <p>"Use it as the input of a model:"</p>
                <div class="row">{buttons}</div>
            }
            .into_any(),
        }
    })
}

fn button(
    all: Contexts,
    (model, name): (&ModelId, &str),
    parameter: String,
    chosen: StoredValue<ChosenFile, LocalStorage>,
) -> AnyView {
    let label = format!("{name} · {parameter}");
    let model = model.clone();
    let press = move |_: leptos::ev::MouseEvent| {
        if let Some(file) = chosen.try_get_value() {
            let input = FromFile::Input(parameter.clone(), file);
            all.navigation.go(&from_file::offer(model.clone(), input));
        }
    };
    view! {
        <button class="button small" type="button" translate="no" on:click=handler(press)>
            {label}
        </button>
    }
    .into_any()
}
