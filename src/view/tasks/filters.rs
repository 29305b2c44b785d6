use crate::contexts::contexts;
use atelier_contract::ModelId;
use atelier_engine::Phase;
use atelier_engine::calendar::Day;
use atelier_engine::history::{Filter, Found};
use atelier_engine::search::Query;
use icondata_lu::{LuSearch, LuSlidersHorizontal};
use leptos::prelude::*;

use crate::boxed::{derived, dynamic, handler, memo, text, when};
use crate::browser::clock;
use crate::navigation::Navigation;
use crate::view::parts::favorites_chip::{FAVORITES, favorites_chip};
use crate::view::parts::glyph::Glyph;

/// The states as people group them: the word in the URL, the word on the page, the phases.
const STATES: [(&str, &str, &[Phase]); 4] = [
    (
        "active",
        "Under way",
        &[
            Phase::Queued,
            Phase::Submitting,
            Phase::Running,
            Phase::Fetching,
        ],
    ),
    ("completed", "Completed", &[Phase::Ready]),
    ("failed", "Failed", &[Phase::Failed, Phase::Gone]),
    ("unconfirmed", "Unconfirmed", &[Phase::Unconfirmed]),
];

/// The filter as the URL has it; tracked. The text comes from the field, ahead of the URL.
pub fn filter(navigation: Navigation, typed: &str) -> Filter {
    let state = navigation.query("state");
    let phases = STATES
        .iter()
        .find(|(word, ..)| Some(*word) == state.as_deref())
        .map(|(_, _, phases)| phases.to_vec())
        .unwrap_or_default();
    let day = |name| Day::read(&navigation.query(name)?);
    let (from, to) = (day("from"), day("to"));
    Filter {
        query: Query::new(typed),
        phases,
        model: navigation.query("model").and_then(|model| model_of(&model)),
        favorites: navigation.query(FAVORITES).is_some(),
        created: from.map_or(0, clock::start_of)
            ..to.map_or(u64::MAX, |to| clock::start_of(to.next())),
    }
}

fn model_of(text: &str) -> Option<ModelId> {
    let (category, subcategory) = text.split_once('/')?;
    Some(ModelId::new(category, subcategory))
}

/// Text, state, model and dates; all of it lives in the URL.
#[component]
pub fn Filters(typed: RwSignal<String>, found: Memo<Found>) -> impl IntoView {
    let navigation = contexts().navigation;
    let search = move |event| {
        let text = event_target_value(&event);
        navigation.set_query("q", Some(text.trim()).filter(|text| !text.is_empty()));
        typed.set(text);
    };
    // On a phone what is needed less is folded away.
    let is_open = RwSignal::new(false);
    let set = move || {
        let names = ["model", "from", "to"];
        names
            .iter()
            .filter(|name| navigation.query(name).is_some())
            .count()
    };
    view! {
        <div class="filters task-filters">
            <div class="search">
                <Glyph icon=LuSearch />
                <input
                    type="search"
                    aria-label="Search tasks"
                    placeholder="Search tasks"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=typed
                    on:input=handler(search)
                />
            </div>
            <div class="task-chips">
            <fieldset class="chips">
                <legend class="visually-hidden">"State"</legend>
                {state_chip(navigation, found, None)}
                {(0..STATES.len())
                    .map(|at| state_chip(navigation, found, Some(at)))
                    .collect_view()}
            </fieldset>
            {favorites_chip(navigation)}
            </div>
            <button
                class="button small more-filters"
                type="button"
                aria-expanded=text(move || is_open.get().to_string())
                aria-controls="more-filters"
                on:click=handler(move |_| is_open.update(|is| *is = !*is))
            >
                <Glyph icon=LuSlidersHorizontal />
                {text(move || match set() {
                    0 => "Filters".to_owned(),
                    n => format!("Filters, {n} set"),
                })}
            </button>
            <div class="row" id="more-filters">
                <ModelChoice found />
                {date(navigation, "from", "From")}
                {date(navigation, "to", "To")}
            </div>
        </div>
    }
}

fn state_chip(navigation: Navigation, found: Memo<Found>, at: Option<usize>) -> AnyView {
    let runner = contexts().runner;
    let (word, label) = match at {
        Some(at) => (Some(STATES[at].0), STATES[at].1),
        None => (None, "All"),
    };
    let is_rare = at.is_some_and(|at| STATES[at].2.contains(&Phase::Unconfirmed));
    let count = memo(move || {
        let found = found.read();
        let phases = found.phases.iter();
        let count: usize = phases
            .filter(|(phase, _)| at.is_none_or(|at| STATES[at].2.contains(phase)))
            .map(|(_, count)| count)
            .sum();
        (!runner.keys().is_empty()).then_some(count)
    });
    view! {
        <label class="chip" class:rare=is_rare>
            <input
                type="radio"
                name="state"
                prop:checked=when(move || navigation.query("state").as_deref() == word)
                on:change=handler(move |_| navigation.set_query("state", word))
            />
            <span>
                {label}
                <small aria-hidden="true" data-count=derived(move || count.get())>
                    {text(move || count.get().map_or_else(String::new, |count| format!(" {count}")))}
                </small>
            </span>
        </label>
    }
    .into_any()
}

#[component]
fn ModelChoice(found: Memo<Found>) -> impl IntoView {
    let (navigation, catalog) = (contexts().navigation, contexts().catalog);
    let chosen = memo(move || navigation.query("model").unwrap_or_default());
    let options = dynamic(move || {
        let chosen = chosen.get();
        let mut models: Vec<String> = found
            .read()
            .models
            .iter()
            .map(|(model, _)| model.to_string())
            .collect();
        if !chosen.is_empty() && !models.contains(&chosen) {
            models.push(chosen.clone());
        }
        models
            .into_iter()
            .map(|model| {
                let is_chosen = model == chosen;
                // As the rows call it.
                let known = model_of(&model).and_then(|id| catalog.model(&id));
                let label = known.map_or_else(|| model.clone(), |it| it.display_name().to_owned());
                view! {
                    <option value=model prop:selected=is_chosen>
                        {label}
                    </option>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    });
    view! {
        <select
            class="filter"
            aria-label="Model"
            on:change=handler(move |event| {
                let model = event_target_value(&event);
                navigation.set_query("model", Some(model.as_str()).filter(|model| !model.is_empty()));
            })
        >
            <option value="" prop:selected=when(move || chosen.read().is_empty())>
                "All models"
            </option>
            {options}
        </select>
    }
}

fn date(navigation: Navigation, name: &'static str, label: &'static str) -> AnyView {
    view! {
        <label class="filter-date">
            {label}
            <input
                type="date"
                prop:value=text(move || navigation.query(name).unwrap_or_default())
                on:change=handler(move |event| {
                    let date = event_target_value(&event);
                    navigation.set_query(name, Some(date.as_str()).filter(|date| !date.is_empty()));
                })
            />
        </label>
    }
    .into_any()
}
