use crate::state::contexts::contexts;
use atelier_contract::ModelId;
use atelier_engine::Phase;
use atelier_studio::history::{Filter, Found};
use atelier_studio::navigation::search::Query;
use icondata_lu::LuSlidersHorizontal;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::state::batches::Batches;
use crate::state::navigation::Navigation;
use crate::view::parts::date_filter;
use crate::view::parts::favorites_chip::{FAVORITES, favorites_chip};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::search_field::search_field;

/// The states as users group them: the value in the URL, the label, and the phases.
const STATES: [(&str, &str, &[Phase]); 5] = [
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
    ("canceled", "Canceled", &[Phase::Canceled]),
    ("unconfirmed", "Unconfirmed", &[Phase::Unconfirmed]),
];

/// Returns the filter from the URL; tracked. `typed`: the text of the search field. The URL contains it only after a delay.
pub fn filter(navigation: Navigation, typed: &str) -> Filter {
    let state = navigation.query("state");
    let phases = STATES
        .iter()
        .find(|(word, ..)| Some(*word) == state.as_deref())
        .map(|(_, _, phases)| phases.to_vec())
        .unwrap_or_default();
    let query = Query::new(typed);
    Filter {
        named: Batches::new(contexts()).named(&query),
        query,
        phases,
        model: navigation.query("model").and_then(|model| model_of(&model)),
        favorites: navigation.query(FAVORITES).is_some(),
        created: date_filter::created(navigation).unwrap_or(0..u64::MAX),
    }
}

fn model_of(text: &str) -> Option<ModelId> {
    let (category, subcategory) = text.split_once('/')?;
    Some(ModelId::new(category, subcategory))
}

/// Filters by text, state, model and date, which are stored in the URL.
#[component]
pub fn Filters(typed: RwSignal<String>, found: Memo<Found>) -> impl IntoView {
    let navigation = contexts().navigation;
    // On a phone, the less frequent filters are collapsed.
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
            {search_field("Search tasks", typed)}
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
                <span prop:textContent=text(move || match set() {
                    0 => "Filters".to_owned(),
                    n => format!("Filters, {n} set"),
                })></span>
            </button>
            <div class="row" id="more-filters">
                <ModelChoice found />
                {date_filter::dates(navigation, ())}
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
    let is_rare = at.is_some_and(|at| matches!(STATES[at].0, "canceled" | "unconfirmed"));
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
                <small aria-hidden="true" data-count=derived(move || count.get()) prop:textContent=text(move || count.get().map_or_else(String::new, |count| format!(" {count}")))></small>
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
                // The same name as in the rows.
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
