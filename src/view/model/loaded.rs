//! What comes into the form from elsewhere: the input of an earlier task, its seed alone or an output of
//! it, a preset; or its clearing. It is said what that has changed, and it can be taken back.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, Schema};
use atelier_engine::{TaskKey, stored_output};
use atelier_studio::form::rerun::{self, InputChange, Rerun};
use atelier_studio::form::seed;
use atelier_studio::navigation::route::Route;
use atelier_studio::output::output_cache;
use atelier_studio::share::recipe::{self, Unreadable};
use leptos::html::Div;
use leptos::prelude::*;

use crate::browser::location;
use crate::files::output_file;
use crate::reactive::boxed::{dynamic, effect, follow_memo, handler, memo, spawn};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::form::sheet;
use crate::view::parts::focus;
use crate::view::parts::status_note::StatusNote;
use crate::view::task::edit::FROM;

#[derive(Clone)]
pub enum Loaded {
    Nothing,
    /// The task is not in this browser.
    Missing,
    /// The link's inputs can't be read.
    Unreadable(Unreadable),
    Input {
        /// What stood in the form before.
        before: Draft,
        /// What this has changed, for a person.
        said: String,
        /// What today's schema takes otherwise than the task's.
        differences: Vec<InputChange>,
    },
}

impl Loaded {
    /// The seed of the task's own result is not in the form.
    fn draws_seed(&mut self) {
        if let Self::Input { said, .. } = self {
            said.push_str(" A new seed will be used.");
        }
    }
}

/// Whether the address carries a recipe that was not read yet.
pub fn brings_recipe() -> bool {
    matches!(recipe::read(&location::fragment()), Ok(Some(_)))
}

/// Fills the form from the task, the seed or the output that the address names. Used once: what is typed from
/// then on is not overwritten by a reload. `is_recipe`: it has come from somewhere else, and nothing was made of it here.
/// `edited`: the task whose input it is.
pub fn follow(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    is_recipe: RwSignal<bool>,
    edited: RwSignal<Option<TaskKey>>,
) -> RwSignal<Loaded> {
    let (runner, navigation) = (contexts().runner, contexts().navigation);
    let loaded = RwSignal::new(Loaded::Nothing);
    let put = move |now, differences| put(loaded, draft, now, differences);
    let take_recipe = {
        let schema = schema.clone();
        move || {
            match recipe::read(&location::fragment()) {
                Ok(None) => return,
                Ok(Some(values)) => {
                    put_rerun(rerun::of_link(&values, &schema), loaded, draft);
                    is_recipe.try_set(true);
                }
                Err(why) => loaded.set(Loaded::Unreadable(why)),
            }
            // Once: what is typed from then on is not overwritten by a reload.
            let (path, query) = location::current();
            location::replace(&format!("{path}{query}"));
        }
    };
    take_recipe();
    StoredValue::new_local(location::on_fragment(take_recipe));
    let known = memo(move || !runner.keys().is_empty());
    effect(move || {
        // On the way to another model the address is that one's already, and this page still here.
        let here = Route::Model(schema.model.clone());
        if untrack(|| navigation.route()) != here {
            return;
        }
        if let Some(value) = navigation.query("seed") {
            if let Some(parameter) = seed::parameter(&schema) {
                let mut now = draft.get_untracked();
                now.set(parameter.name.clone(), Entry::Text(value));
                put(now, Vec::new());
            }
            navigation.set_query("seed", None);
        }
        let output = navigation.query("output").zip(navigation.query("into"));
        if let Some((output, parameter)) = output {
            follow_memo(known);
            let is_open = runner.is_open();
            match address_of(runner, &output) {
                Some(address) if stored_output::is_reference(&address) => {
                    if !is_open {
                        return;
                    }
                    // It is not sent as it is.
                    put_address(loaded, draft, parameter.clone(), address.clone());
                    spawn(async move {
                        let data = output_file::address(runner, &address, &output).await;
                        let reference = Entry::Text(address);
                        let is_wanted = draft
                            .try_with_untracked(|draft| draft.get(&parameter) == Some(&reference));
                        match data.filter(|_| is_wanted == Some(true)) {
                            Some(data) => draft
                                .update(|draft| draft.set(parameter.clone(), Entry::Text(data))),
                            None => drop(loaded.try_set(Loaded::Missing)),
                        }
                    });
                }
                Some(address) => put_address(loaded, draft, parameter, address),
                // Storage may not have been read yet; then this runs once more.
                None if !is_open => return,
                None => loaded.set(Loaded::Missing),
            }
            navigation.set_query("output", None);
            navigation.set_query("into", None);
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
                put_rerun(rerun::edit(&task, &schema), loaded, draft);
                is_recipe.set(false);
            }
            // Storage may not have been read yet; then this runs once more.
            None if !is_open => return,
            None => loaded.set(Loaded::Missing),
        }
        navigation.set_query(FROM, None);
    });
    loaded
}

/// Fills the form from values of another day.
fn put_rerun(rerun: Rerun, loaded: RwSignal<Loaded>, draft: RwSignal<Draft>) {
    put(loaded, draft, rerun.draft, rerun.differences);
    if rerun.draws_seed {
        loaded.update(Loaded::draws_seed);
    }
}

/// Fills one field with the address of an output.
fn put_address(
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    parameter: String,
    address: String,
) {
    let before = draft.get_untracked();
    let mut now = before.clone();
    now.set(parameter, Entry::Text(address));
    // Where there is nothing to take back the field says all.
    match rerun::replaces(&before, &now) || rerun::looks_same(&before, &now) {
        true => put(loaded, draft, now, Vec::new()),
        false => draft.set(now),
    }
}

/// The address of an output, by its name.
fn address_of(runner: Runner, output: &str) -> Option<String> {
    let (task, position) = output_cache::parse_name(output)?;
    let task = runner.task(&task)?;
    task.read_untracked().outputs().get(position).cloned()
}

/// Fills the form. `differences`: what the schema takes otherwise than the input asks for.
pub fn put(
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    now: Draft,
    differences: Vec<InputChange>,
) {
    let before = draft.get_untracked();
    let said = rerun::changes(&before, &now);
    draft.set(now);
    loaded.set(Loaded::Input {
        before,
        said,
        differences,
    });
}

/// Where nothing in the form has changed there is nothing to look at or to take back: that is said beside the button.
pub fn say_unchanged(loaded: RwSignal<Loaded>, draft: RwSignal<Draft>, answer: StatusNote) {
    effect(move || {
        let unchanged = match &*loaded.read() {
            Loaded::Input {
                before,
                said,
                differences,
            } if differences.is_empty() && rerun::looks_same(before, &draft.read_untracked()) => {
                Some(said.clone())
            }
            _ => None,
        };
        if let Some(said) = unchanged {
            loaded.set(Loaded::Nothing);
            answer.say(said);
        }
    });
}

/// What was loaded, above the form.
pub fn note(
    loaded: RwSignal<Loaded>,
    draft: RwSignal<Draft>,
    is_recipe: RwSignal<bool>,
) -> AnyView {
    let said = move || match loaded.get() {
        Loaded::Nothing => ().into_any(),
        Loaded::Unreadable(why) => view! { <p>{why.user_message()}</p> }.into_any(),
        Loaded::Missing => view! {
            <p>"That task is not in this browser any more. The form is as you left it."</p>
        }
        .into_any(),
        Loaded::Input {
            before,
            said,
            differences,
        } => {
            let was_used = !before.is_empty();
            let back = move || {
                draft.set(before.clone());
                loaded.set(Loaded::Nothing);
                is_recipe.set(false);
                // The button goes: the keys begin at the form.
                focus::once_lost(|| {
                    focus::in_place_to(".model-page .form-scroll");
                });
            };
            let take = move |difference: &InputChange| take(difference, loaded, draft);
            input(back, was_used, take, said, differences)
        }
    };
    let note = NodeRef::<Div>::new();
    effect(move || {
        loaded.track();
        if let Some(note) = note.get_untracked() {
            // It fails only where the name is none.
            let _ = note.remove_attribute(sheet::SEEN);
        }
    });
    view! {
        <div class="note loaded-note" role="status" node_ref=note>
            {dynamic(said)}
        </div>
    }
    .into_any()
}

/// The value goes where it was meant to be.
fn take(difference: &InputChange, loaded: RwSignal<Loaded>, draft: RwSignal<Draft>) {
    let meant = difference.suggestion.clone().zip(difference.value.clone());
    if let Some((name, value)) = meant {
        draft.update(|draft| draft.set(name, Entry::Value(value)));
    }
    loaded.update(|loaded| {
        if let Loaded::Input { differences, .. } = loaded {
            // It is missing no more, either.
            differences.retain(|it| {
                it.parameter != difference.parameter
                    && Some(&it.parameter) != difference.suggestion.as_ref()
            });
        }
    });
    // The button goes, and the others are made anew.
    focus::once_lost(|| {
        let _ = focus::in_place_to(".loaded-note li button")
            || focus::in_place_to(".model-page .form-scroll");
    });
}

fn input(
    back: impl Fn() + 'static,
    was_used: bool,
    take: impl Fn(&InputChange) + Copy + 'static,
    said: String,
    differences: Vec<InputChange>,
) -> AnyView {
    let differences = (!differences.is_empty()).then(|| {
        let line = |difference: InputChange| {
            let message = difference.message.clone();
            let meant = difference.suggestion.clone().map(|name| {
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
            view! { <li>{message} {meant}</li> }.into_any()
        };
        let lines = differences.into_iter().map(line).collect_view();
        view! {
            <p>"Not everything fits this model as it is now:"</p>
            <ul>{lines}</ul>
        }
        .into_any()
    });
    view! {
        <div class="row">
            <p>{said}</p>
            // An empty form is no input of before.
            <button class="button quiet small" type="button" hidden=!was_used on:click=handler(move |_| back())>
                "Restore previous input"
            </button>
        </div>
        {differences}
    }
    .into_any()
}
