//! The menu that uses an output as the input of another model.

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_studio::form::reuse;
use atelier_studio::navigation::route::{Route, with_query_value};
use icondata_lu::LuForward;
use leptos::prelude::*;

use super::shown_output::ShownOutput;
use crate::reactive::boxed::{derived, dynamic, handler, memo, text};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;
use crate::state::model_order;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::status_note::StatusNote;

const LABEL: &str = "Use as input";
const NO_MODEL: &str = "No model accepts it.";

/// A button and its menu of the models that accept the output; `None` for an output of unknown kind. If no model accepts
/// it, the button shows that and opens no menu.
///
/// `place` makes the ids unique, because the page and the lightbox may show the same output. `answer` shows the reply to a
/// press.
pub fn use_in(shown: &ShownOutput, place: &'static str, answer: StatusNote) -> Option<AnyView> {
    let (button, menu) = parts(shown, place, answer)?;
    Some(view! { {button} {menu} }.into_any())
}

/// Like [`use_in`], but returns the button and the menu separately.
pub fn parts(
    shown: &ShownOutput,
    place: &'static str,
    answer: StatusNote,
) -> Option<(AnyView, AnyView)> {
    let kind = shown.kind;
    if kind == OutputKind::Other {
        return None;
    }
    let has_no_model = is_accepted_by_none(kind);
    let output = shown.task.key.output(shown.position);
    let id = format!("use-{place}-{output}");
    let is_open = RwSignal::new(false);
    let toggled = move |event: web_sys::Event| {
        let menu = event_target::<web_sys::Element>(&event);
        is_open.set(menu.matches(":popover-open").unwrap_or_default());
    };
    let links = dynamic(move || match is_open.get() {
        true => model_links(kind, &output),
        false => ().into_any(),
    });
    let target = {
        let id = id.clone();
        derived(move || (!has_no_model.get()).then(|| id.clone()))
    };
    // Touch screens show no tooltips.
    let explain = move |_: web_sys::MouseEvent| {
        if has_no_model.get_untracked() {
            answer.say(NO_MODEL.to_owned());
        }
    };
    let button = view! {
        <button
            class="button"
            type="button"
            title=text(move || match has_no_model.get() {
                true => NO_MODEL.to_owned(),
                false => LABEL.to_owned(),
            })
            aria-disabled=text(move || has_no_model.get().to_string())
            popovertarget=target
            on:click=handler(explain)
        >
            <Glyph icon=LuForward />
            <span class="word">{LABEL}</span>
        </button>
    };
    let menu = view! {
        <div class="menu" id=id popover="auto" on:toggle=handler(toggled)>
            {links}
        </div>
    };
    Some((button.into_any(), menu.into_any()))
}

/// Returns whether no model accepts outputs of this kind. Requests one schema after the other until a model accepts them.
fn is_accepted_by_none(kind: OutputKind) -> Memo<bool> {
    let catalog = contexts().catalog;
    memo(move || {
        let Load::Loaded(list) = catalog.models() else {
            return false;
        };
        reuse::is_accepted_by_none(&list.models, kind, |model| {
            let schema = catalog.schema(model);
            let schema = schema.loaded()?;
            Some(!reuse::parameters(schema, kind).is_empty())
        })
    })
}

fn model_links(kind: OutputKind, output: &str) -> AnyView {
    let catalog = contexts().catalog;
    let Load::Loaded(list) = catalog.models() else {
        return view! { <p class="muted">"The list of models is not loaded yet."</p> }.into_any();
    };
    let candidates = reuse::candidates(&list.models, &model_order::first(), kind);
    let is_part = list.models.len() > candidates.len();
    let links = {
        let (candidates, output) = (candidates.clone(), output.to_owned());
        move || {
            let links = candidates.iter().filter_map(|model| {
                let schema = catalog.schema(model);
                let parameters = reuse::parameters(schema.loaded()?, kind);
                let links = parameters.iter().map(|name| link(model, name, &output));
                Some(links.collect_view())
            });
            links.collect_view().into_any()
        }
    };
    let message = move || {
        let (mut found, mut is_loading) = (false, false);
        for model in &candidates {
            match catalog.schema(model) {
                Load::Loaded(schema) => found |= !reuse::parameters(&schema, kind).is_empty(),
                Load::Loading => is_loading = true,
                Load::Failed(_) => {}
            }
        }
        match (found, is_loading, is_part) {
            (_, true, _) => "Looking for models that accept it…",
            (false, _, false) => NO_MODEL,
            (false, _, true) => "None of your models accepts it. In another model, paste its URL.",
            (true, _, true) => "In another model, paste its URL.",
            (true, ..) => "",
        }
        .to_owned()
    };
    view! {
        {dynamic(links)}
        <p class="muted" role="status" prop:textContent=text(message)></p>
    }
    .into_any()
}

/// A link to the form of a model, with the output filled in for a parameter.
fn link(model: &ModelId, parameter: &str, output: &str) -> AnyView {
    let found = untrack(|| contexts().catalog.model(model));
    let name = found.map_or_else(
        || model.subcategory.clone(),
        |model| model.display_name().to_owned(),
    );
    let page = Route::Model(model.clone()).path();
    let query = with_query_value("", "output", Some(output));
    let href = page + &with_query_value(&query, "into", Some(parameter));
    view! {
        <a class="button quiet use-place" href=href>
            {name}
            <span class="muted">{parameter.to_owned()}</span>
        </a>
    }
    .into_any()
}
