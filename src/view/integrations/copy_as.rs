use crate::state::contexts::contexts;
use atelier_contract::{Draft, ModelId, Parameter, Schema};
use atelier_studio::share::snippet::{self, Language};
use leptos::prelude::*;
use std::sync::Arc;

use super::code::Code;
use super::environment::set_environment;
use crate::browser::local::LocalStore;
use crate::browser::location;
use crate::reactive::boxed::{dynamic, memo, text, when};
use crate::state::catalog::Load;
use crate::state::secrets;
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::segment::segment;

/// The key in `localStorage` of the chosen language.
const STORAGE_KEY: &str = "atelier.copy-as";

/// Shows the current form as a program in the chosen language.
#[component]
pub fn CopyAs(model: ModelId, draft: RwSignal<Draft>, is_near: RwSignal<bool>) -> impl IntoView {
    let catalog = contexts().catalog;
    let chosen = RwSignal::new(stored_language());
    let options = Language::ALL
        .iter()
        .enumerate()
        .map(|(at, language)| {
            let is_chosen = when(move || chosen.get() == at);
            segment("copy-as", language.name(), is_chosen, move || {
                chosen.set(at);
                LocalStore::Browser.write(STORAGE_KEY, language.name());
            })
        })
        .collect_view();
    view! {
        <div class="panel integration copy-as">
            <div class="copy-as-side">
                <div class="integration-head">
                    <h3 id="copy-as-title">"Copy as"</h3>
                    <p class="muted">
                        "The current form as a program that generates, waits and prints the result. It contains neither User ID \
                         nor Access token. "
                        {dynamic(|| set_environment(""))}
                    </p>
                </div>
                <div class="segments" role="radiogroup" aria-labelledby="copy-as-title">
                    {options}
                </div>
            </div>
            {dynamic(move || {
                let Load::Loaded(schema) = catalog.schema(&model) else {
                    return view! { <p class="muted">"It appears once the form is loaded."</p> }
                        .into_any();
                };
                if !is_near.get() {
                    return ().into_any();
                }
                program(model.clone(), schema, draft, chosen)
            })}
        </div>
    }
}

fn program(
    model: ModelId,
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    chosen: RwSignal<usize>,
) -> AnyView {
    let language = move || Language::ALL[chosen.get()];
    let session = contexts().session;
    let checked = schema.clone();
    let typed = secrets::typed(session, &schema);
    let code = memo(move || {
        let settings = session.settings();
        let service = match settings.address.is_same_origin() {
            true => location::origin(),
            false => settings.address.to_string(),
        };
        let values = snippet::values(&schema, &draft.read(), settings.send_defaults);
        let typed = typed.read();
        let is_sent =
            |(it, required): &(&Parameter, bool)| *required || typed.get(&it.name).is_some();
        let secrets = schema.secret_parameters().filter(is_sent);
        let secrets = secrets.map(|(it, _)| it.name.clone());
        let secrets: Vec<String> = secrets.collect();
        snippet::snippet(language(), &service, &model, &values, &secrets)
    });
    let is_valid = when(move || checked.validate(&draft.read(), false).is_ok());
    view! {
        <div class="preview">
            <div class="preview-head">
                <span class="muted" role="status" prop:textContent=text(move || match is_valid.get() {
                        true => "As the form would be sent now.".into(),
                        false => {
                            "The form is incomplete: the service would refuse it.".into()
                        }
                    })></span>
                <CopyButton
                    label=text(move || format!("Copy as {}", language().name()))
                    text=move || code.get_untracked()
                />
            </div>
            <Code
                label=text(move || format!("The form as {}", language().name()))
                code
                grammar=Box::new(move || language().grammar())
            />
        </div>
    }
    .into_any()
}

/// Returns the index of the stored language, or 0.
fn stored_language() -> usize {
    let stored = LocalStore::Browser.read(STORAGE_KEY);
    Language::ALL
        .iter()
        .position(|language| stored.as_deref() == Some(language.name()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn reads_the_stored_language_or_uses_the_first() {
        for (word, language) in [
            ("curl", Language::Curl),
            ("Python", Language::Python),
            ("JavaScript", Language::JavaScript),
            ("Rust", Language::Rust),
            ("Of a later version", Language::ALL[0]),
        ] {
            LocalStore::Browser.write("atelier.copy-as", word);
            assert_eq!(Language::ALL[stored_language()], language, "{word}");
        }
        LocalStore::Browser.remove("atelier.copy-as");
        assert_eq!(stored_language(), 0);
    }
}
