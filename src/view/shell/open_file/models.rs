//! The choice of the model in which a recipe is opened.

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_studio::navigation::model_order as order;
use atelier_studio::recipe_file::FoundRecipe;
use atelier_studio::recipe_file::fit::{self, Fit};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::state::catalog::Load;
use crate::state::contexts::{Contexts, contexts};
use crate::state::model_order;
use crate::view::model::from_file::{self, FromFile};

/// The models in which the recipe can be opened.
#[derive(Clone, PartialEq)]
enum Choice {
    Loading,
    /// The list of models, or all schemas, could not be loaded.
    Failed,
    /// The best first. Models whose schema could not be loaded are left out.
    Models(Vec<(ModelId, String, Fit)>),
}

/// Returns the choice of models, what does not fit the chosen one, and the button that opens it.
pub fn models(recipe: &FoundRecipe, kind: OutputKind) -> AnyView {
    let all = contexts();
    let choice = {
        let recipe = recipe.clone();
        memo(move || find(all, &recipe, kind))
    };
    let chosen = RwSignal::new(None::<ModelId>);
    let own = recipe.model.clone();
    let is_own_missing = memo(move || match (&*choice.read(), &own) {
        (Choice::Models(models), Some(own)) => models.iter().all(|(model, ..)| model != own),
        _ => false,
    });
    let current = memo(move || {
        let choice = choice.read();
        let Choice::Models(models) = &*choice else {
            return None;
        };
        let wanted = chosen.get();
        let wanted = models
            .iter()
            .find(|(model, ..)| Some(model) == wanted.as_ref());
        wanted.or(models.first()).cloned()
    });
    let message = text(move || match &*choice.read() {
        Choice::Loading => "Comparing with the models of the service…".to_owned(),
        Choice::Failed => {
            "The models of the service could not be loaded. Open the file again once the service \
                           replies."
                .to_owned()
        }
        Choice::Models(_) if is_own_missing.get() => {
            "This service does not have that model. Choose another one; the best fit is first."
                .to_owned()
        }
        Choice::Models(_) => String::new(),
    });
    let open = {
        let recipe = recipe.clone();
        move |_: leptos::ev::MouseEvent| {
            if let Some((model, ..)) = current.get_untracked() {
                let address = from_file::offer(model, FromFile::Recipe(recipe.clone()));
                all.navigation.go(&address);
            }
        }
    };
    let label = text(move || match &*current.read() {
        Some((_, name, _)) => format!("Open in {name}"),
        None => String::new(),
    });
    view! {
        <p class="muted" role="status" prop:textContent=message></p>
        {dynamic(move || select(choice, chosen))}
        {dynamic(move || misfits(current.get()))}
        <div class="row" hidden=when(move || current.read().is_none())>
            <button class="button primary" type="button" translate="no" prop:textContent=label on:click=handler(open)></button>
            <span class="muted">"The previous input can be restored."</span>
        </div>
    }
    .into_any()
}

fn find(all: Contexts, recipe: &FoundRecipe, kind: OutputKind) -> Choice {
    let list = match all.catalog.models() {
        Load::Loaded(list) => list,
        Load::Loading => return Choice::Loading,
        Load::Failed(_) => return Choice::Failed,
    };
    let usual = order::order(&list.models, &model_order::first());
    let candidates = fit::candidates(recipe, &list.models, &usual, kind.word());
    let mut fits = Vec::new();
    for model in candidates {
        match all.catalog.schema(&model) {
            Load::Loaded(schema) => fits.push((model, fit::fit(recipe, &schema))),
            Load::Loading => return Choice::Loading,
            Load::Failed(_) => {}
        }
    }
    fit::best_first(&mut fits, recipe);
    if fits.is_empty() {
        return Choice::Failed;
    }
    let named = |(model, fit): (ModelId, Fit)| {
        let known = list.models.iter().find(|it| it.id == model);
        let name = known.map(|known| known.display_name().to_owned());
        let name = name.unwrap_or_else(|| model.subcategory.clone());
        (model, name, fit)
    };
    Choice::Models(fits.into_iter().map(named).collect())
}

/// Returns the choice, unless there is only one model.
fn select(choice: Memo<Choice>, chosen: RwSignal<Option<ModelId>>) -> AnyView {
    let choice = choice.read();
    let Choice::Models(models) = &*choice else {
        return ().into_any();
    };
    if models.len() < 2 {
        return ().into_any();
    }
    let wanted = chosen.get_untracked();
    let option = |(model, name, _): &(ModelId, String, Fit)| {
        let label = format!("{name} · {}", model.category);
        let is_chosen = wanted.as_ref() == Some(model);
        view! {
            <option value=model.to_string() selected=is_chosen>
                {label}
            </option>
        }
        .into_any()
    };
    let options = models.iter().map(option).collect_view();
    let ids: Vec<ModelId> = models.iter().map(|(model, ..)| model.clone()).collect();
    let change = move |event| {
        let value = event_target_value(&event);
        chosen.set(ids.iter().find(|model| model.to_string() == value).cloned());
    };
    view! {
        <div class="field">
            <label class="label" for="open-file-model">
                "Model"
            </label>
            <select id="open-file-model" translate="no" on:change=handler(change)>
                {options}
            </select>
        </div>
    }
    .into_any()
}

fn misfits(current: Option<(ModelId, String, Fit)>) -> AnyView {
    let Some((_, name, fit)) = current else {
        return ().into_any();
    };
    let misfits = fit.misfits();
    if misfits.is_empty() {
        return view! { <p role="status">{format!("Everything fits {name}.")}</p> }.into_any();
    }
    let lines = misfits
        .into_iter()
        .map(|line| view! { <li>{line}</li> }.into_any());
    let lines = lines.collect_view();
    let heading = format!("What does not fit {name}:");
    view! {
        <div class="note">
            <p>{heading}</p>
            <ul aria-label="What does not fit">{lines}</ul>
        </div>
    }
    .into_any()
}
