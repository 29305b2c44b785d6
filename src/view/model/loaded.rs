//! Loads values into the form: the input, the seed or an output of an earlier task, a link, a preset, or an empty form.
//! A note says what has changed and lets the user restore the previous input.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, Schema};
use atelier_engine::{TaskKey, stored_output};
use atelier_studio::form::media_list;
use atelier_studio::form::rerun::{self, InputChange, Rerun};
use atelier_studio::form::seed;
use atelier_studio::navigation::route::Route;
use atelier_studio::output::output_cache;
use atelier_studio::recipe_file::fit;
use atelier_studio::share::recipe::{self, Unreadable};
use leptos::html::Div;
use leptos::prelude::*;

use crate::browser::location;
use crate::reactive::boxed::{dynamic, effect, follow_memo, handler, memo};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::state::masks;
use crate::state::uploads::{self, FieldKey};
use crate::view::form::{output_input, sheet};
use crate::view::parts::focus;
use crate::view::parts::status_note::StatusNote;
use crate::view::task::edit::FROM;

use super::from_file::{self, FROM_FILE, FromFile};

/// The query parameter with the mask parameter for which a mask is drawn over the output that the form gets.
pub const DRAW: &str = "draw";

/// The last input that was loaded into the form.
#[derive(Clone)]
pub enum Loaded {
    Nothing,
    /// The task in the URL is not in this browser.
    Missing,
    /// The inputs in the link can't be parsed.
    Unreadable(Unreadable),
    Input {
        /// The previous draft.
        before: Draft,
        /// A message about what has changed.
        message: String,
        /// Values that the current schema handles differently than the schema of the task.
        differences: Vec<InputChange>,
    },
}

impl Loaded {
    /// Adds a sentence to the message.
    fn add_sentence(&mut self, sentence: &str) {
        if let Self::Input { message, .. } = self
            && !sentence.is_empty()
        {
            message.push(' ');
            message.push_str(sentence);
        }
    }
}

/// Returns whether the URL contains inputs that were not read yet.
pub fn has_recipe() -> bool {
    matches!(recipe::read(&location::fragment()), Ok(Some(_)))
}

/// Fills the form from the task, the seed, the output or the inputs in the URL, and removes them from the URL, so that a
/// reload doesn't overwrite later changes.
///
/// `is_recipe`: set to true if the input comes from a link. `edited`: set to the task whose input was loaded.
pub fn follow(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    is_recipe: RwSignal<bool>,
    edited: RwSignal<Option<TaskKey>>,
) -> RwSignal<Loaded> {
    let all = contexts();
    let (runner, navigation, session) = (all.runner, all.navigation, all.session);
    let loaded = RwSignal::new(Loaded::Nothing);
    let load = move |now, differences| load(loaded, draft, now, differences);
    let load_link = {
        let schema = schema.clone();
        move || {
            match recipe::read(&location::fragment()) {
                Ok(None) => return,
                Ok(Some(inputs)) => {
                    load_rerun(&schema, rerun::of_link(&inputs, &schema), loaded, draft);
                    let needed = inputs.needed_files_message(&schema);
                    loaded.update(|loaded| loaded.add_sentence(&needed));
                    is_recipe.try_set(true);
                }
                Err(why) => loaded.set(Loaded::Unreadable(why)),
            }
            // Remove the fragment, so that a reload doesn't overwrite later changes.
            let (path, query) = location::current();
            location::replace(&format!("{path}{query}"));
        }
    };
    load_link();
    StoredValue::new_local(location::on_fragment(load_link));
    let known = memo(move || !runner.keys().is_empty());
    effect(move || {
        // During navigation to another model, the URL changes before this page is disposed.
        let own_route = Route::Model(schema.model.clone());
        if untrack(|| navigation.route()) != own_route {
            return;
        }
        if let Some(value) = navigation.query("seed") {
            if let Some(parameter) = seed::parameter(&schema) {
                let mut now = draft.get_untracked();
                now.set(parameter.name.clone(), Entry::Text(value));
                load(now, Vec::new());
            }
            navigation.set_query("seed", None);
        }
        if navigation.query(FROM_FILE).is_some() {
            match from_file::take(&schema.model) {
                Some(FromFile::Recipe(recipe)) => {
                    load_rerun(&schema, fit::fit(&recipe, &schema).rerun, loaded, draft);
                    is_recipe.set(false);
                }
                Some(FromFile::Input(parameter, file)) => {
                    let key = FieldKey {
                        address: all.session.settings_untracked().address.to_string(),
                        model: schema.model.clone(),
                        parameter,
                        item: None,
                        row: None,
                    };
                    output_input::request_upload(key, file);
                }
                None => {}
            }
            navigation.set_query(FROM_FILE, None);
        }
        let output = navigation.query("output").zip(navigation.query("into"));
        if let Some((output, parameter)) = output {
            follow_memo(known);
            let is_open = runner.is_open();
            match url_of(runner, &output) {
                Some(address) if stored_output::is_reference(&address) && !is_open => return,
                Some(address) => {
                    load_url(&schema, loaded, draft, &parameter, address.clone());
                    // The address may be dead, of another service, or only a reference to a stored file.
                    let field = FieldKey {
                        address: session.settings_untracked().address.to_string(),
                        model: schema.model.clone(),
                        parameter,
                        item: None,
                        row: None,
                    };
                    output_input::request_replacement(field, (output, address));
                }
                // Storage has not been read yet: this runs again afterwards.
                None if !is_open => return,
                None => loaded.set(Loaded::Missing),
            }
            if let Some(mask) = navigation.query(DRAW) {
                masks::want(FieldKey {
                    address: session.settings_untracked().address.to_string(),
                    model: schema.model.clone(),
                    parameter: mask,
                    item: None,
                    row: None,
                });
            }
            navigation.set_query("output", None);
            navigation.set_query("into", None);
            navigation.set_query(DRAW, None);
        }
        let Some(from) = navigation.query(FROM) else {
            return;
        };
        follow_memo(known);
        let is_open = runner.is_open();
        match runner.task(&TaskKey(from)) {
            Some(task) => {
                let task = task.get_untracked();
                edited.set(Some(task.key.clone()));
                load_rerun(&schema, rerun::edit(&task, &schema), loaded, draft);
                is_recipe.set(false);
            }
            // Storage has not been read yet: this runs again afterwards.
            None if !is_open => return,
            None => loaded.set(Loaded::Missing),
        }
        navigation.set_query(FROM, None);
    });
    loaded
}

/// Fills the form from an earlier task or a link, whose values may not fit the current schema.
fn load_rerun(schema: &Schema, rerun: Rerun, loaded: RwSignal<Loaded>, draft: RwSignal<Draft>) {
    uploads::replace_form(&schema.model);
    load(loaded, draft, rerun.draft, rerun.differences);
    if rerun.draws_seed {
        loaded.update(|loaded| loaded.add_sentence("A new seed will be used."));
    }
}

/// Sets one parameter to the URL of an output, or adds it to a list.
fn load_url(
    schema: &Schema,
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    parameter: &str,
    address: String,
) {
    let before = draft.get_untracked();
    let mut now = before.clone();
    let list = schema.parameter(parameter).map(|(it, _)| it);
    let entry = match list.filter(|it| it.media_list().is_some()) {
        Some(list) => {
            let shown = before
                .get(parameter)
                .cloned()
                .or_else(|| list.default_entry());
            let mut addresses = media_list::addresses(shown.as_ref()).unwrap_or_default();
            addresses.push(address);
            Entry::Value(addresses.into())
        }
        None => Entry::Text(address),
    };
    now.set(parameter, entry);
    // A note is needed only if there is a previous value to restore, or if nothing has visibly changed.
    match rerun::replaces(&before, &now) || rerun::looks_same(&before, &now) {
        true => load(loaded, draft, now, Vec::new()),
        false => draft.set(now),
    }
}

/// Returns the URL of an output by its name.
fn url_of(runner: Runner, output: &str) -> Option<String> {
    let (task, position) = output_cache::parse_name(output)?;
    let task = runner.task(&task)?;
    task.read_untracked().outputs().get(position).cloned()
}

/// Fills the form. `differences`: values that the schema handles differently than the input intends.
pub fn load(
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    now: Draft,
    differences: Vec<InputChange>,
) {
    let before = draft.get_untracked();
    let message = rerun::changes(&before, &now);
    draft.set(now);
    loaded.set(Loaded::Input {
        before,
        message,
        differences,
    });
}

/// Shows a short message next to the button instead of the note if a loaded input has changed nothing.
pub fn report_unchanged(loaded: RwSignal<Loaded>, draft: RwSignal<Draft>, answer: StatusNote) {
    effect(move || {
        let unchanged = match &*loaded.read() {
            Loaded::Input {
                before,
                message,
                differences,
            } if differences.is_empty() && rerun::looks_same(before, &draft.read_untracked()) => {
                Some(message.clone())
            }
            _ => None,
        };
        if let Some(message) = unchanged {
            loaded.set(Loaded::Nothing);
            answer.say(message);
        }
    });
}

/// Returns the note above the form about what was loaded.
pub fn note(
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    is_recipe: RwSignal<bool>,
) -> AnyView {
    let content = move || match loaded.get() {
        Loaded::Nothing => ().into_any(),
        Loaded::Unreadable(why) => view! { <p>{why.user_message()}</p> }.into_any(),
        Loaded::Missing => view! {
            <p>"That task is no longer in this browser. The form is unchanged."</p>
        }
        .into_any(),
        Loaded::Input {
            before,
            message,
            differences,
        } => {
            let had_input = !before.is_empty();
            let back = move || {
                draft.set(before.clone());
                loaded.set(Loaded::Nothing);
                is_recipe.set(false);
                // The button disappears: move the focus to the form.
                focus::when_lost(|| {
                    focus::to_without_scrolling(".model-page .form-scroll");
                });
            };
            let take = move |difference: &InputChange| apply_suggestion(difference, loaded, draft);
            loaded_input(back, had_input, take, message, differences)
        }
    };
    let element = NodeRef::<Div>::new();
    effect(move || {
        loaded.track();
        if let Some(note) = element.get_untracked() {
            // It never fails: the name of the attribute is valid.
            let _ = note.remove_attribute(sheet::SEEN);
        }
    });
    view! {
        <div class="note loaded-note" role="status" node_ref=element>
            {dynamic(content)}
        </div>
    }
    .into_any()
}

/// Sets the suggested parameter to the value of a name that the schema doesn't have.
fn apply_suggestion(difference: &InputChange, loaded: RwSignal<Loaded>, draft: RwSignal<Draft>) {
    let suggested = difference.suggestion.clone().zip(difference.value.clone());
    if let Some((name, value)) = suggested {
        draft.update(|draft| draft.set(name, Entry::Value(value)));
    }
    loaded.update(|loaded| {
        if let Loaded::Input { differences, .. } = loaded {
            // The suggested parameter is no longer missing either.
            differences.retain(|it| {
                it.parameter != difference.parameter
                    && Some(&it.parameter) != difference.suggestion.as_ref()
            });
        }
    });
    // The button disappears, and the remaining ones are rendered again.
    focus::when_lost(|| {
        let _ = focus::to_without_scrolling(".loaded-note li button")
            || focus::to_without_scrolling(".model-page .form-scroll");
    });
}

fn loaded_input(
    back: impl Fn() + 'static,
    had_input: bool,
    take: impl Fn(&InputChange) + Copy + 'static,
    message: String,
    differences: Vec<InputChange>,
) -> AnyView {
    let differences = (!differences.is_empty()).then(|| {
        let line = |difference: InputChange| {
            let message = difference.message.clone();
            let suggested = difference.suggestion.clone().map(|name| {
                view! {
                    " "
                    <button
                        class="button quiet small"
                        type="button"
                        on:click=handler(move |_| take(&difference))
                    >
                        {format!("Use it as {name}")}
                    </button>
                }
                .into_any()
            });
            view! { <li>{message} {suggested}</li> }.into_any()
        };
        let lines = differences.into_iter().map(line).collect_view();
        view! {
            <p>"Some values don't fit the current model:"</p>
            <ul>{lines}</ul>
        }
        .into_any()
    });
    view! {
        <div class="row">
            <p>{message}</p>
            // An empty form is not worth restoring.
            <button class="button quiet small" type="button" hidden=!had_input on:click=handler(move |_| back())>
                "Restore previous input"
            </button>
        </div>
        {differences}
    }
    .into_any()
}
