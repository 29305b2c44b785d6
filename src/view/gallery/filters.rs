use atelier_contract::output::OutputKind;
use atelier_studio::text::calendar::Day;
use icondata_lu::LuSlidersHorizontal;
use leptos::prelude::*;

use super::grid;
use super::narrowing::UrlFilters;
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::parts::date_filter;
use crate::view::parts::favorites_chip::favorites_chip;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::search_field::search_field;

/// The filters of the gallery, whose values are in the URL, and the size of the rows.
#[component]
pub fn Filters(
    typed: RwSignal<String>,
    narrowing: Memo<UrlFilters>,
    size: RwSignal<f64>,
    /// The day to scroll to.
    day: RwSignal<Option<Day>>,
    /// Whether to hide the filters, because there are no outputs.
    #[prop(into)]
    hidden: Signal<bool>,
) -> impl IntoView {
    let navigation = contexts().navigation;
    let resize = move |event| {
        if let Ok(rem) = event_target_value(&event).parse() {
            size.set(rem);
            grid::store_size(rem);
        }
    };
    let is_shown = RwSignal::new(false);
    view! {
        <div class="filters gallery-filters" class:shown=is_shown hidden=hidden>
            {search_field("Search outputs", typed)}
            <button
                class="button gallery-filters-button"
                type="button"
                aria-expanded=text(move || is_shown.get().to_string())
                on:click=handler(move |_| is_shown.update(|is_shown| *is_shown = !*is_shown))
            >
                <Glyph icon=LuSlidersHorizontal />
                <span prop:textContent=text(move || match narrowing.read().set() {
                    0 => "Filters".to_owned(),
                    n => format!("Filters, {n} set"),
                })></span>
            </button>
            <div class="gallery-narrowing">
                <fieldset class="chips">
                    <legend class="visually-hidden">"Kind"</legend>
                    {kind_chip(navigation, None, "All")}
                    {OutputKind::ALL
                        .into_iter()
                        .map(|kind| {
                            let label = match kind {
                                OutputKind::Image => "Images",
                                OutputKind::Video => "Videos",
                                OutputKind::Audio => "Audio",
                                OutputKind::Other => "Other",
                            };
                            kind_chip(navigation, Some(kind), label)
                        })
                        .collect_view()}
                </fieldset>
                {favorites_chip(navigation)}
                {models(navigation)}
                {date_filter::dates(navigation, jump_to(day))}
            </div>
            <label class="gallery-size">
                <span>"Size"</span>
                <input
                    type="range"
                    min=grid::SIZES.start().to_string()
                    max=grid::SIZES.end().to_string()
                    step="0.5"
                    prop:value=text(move || size.get().to_string())
                    on:input=handler(resize)
                />
            </label>
        </div>
    }
}

fn kind_chip(navigation: Navigation, kind: Option<OutputKind>, label: &'static str) -> AnyView {
    let word = kind.map(OutputKind::word);
    view! {
        <label class="chip">
            <input
                type="radio"
                name="kind"
                prop:checked=when(move || navigation.query("kind").as_deref() == word)
                on:change=handler(move |_| navigation.set_query("kind", word))
            />
            <span>{label}</span>
        </label>
    }
    .into_any()
}

/// A field that scrolls to a day without filtering.
fn jump_to(day: RwSignal<Option<Day>>) -> AnyView {
    view! {
        <label class="filter-date">
            "Jump to"
            <input
                type="date"
                on:change=handler(move |event| day.set(Day::read(&event_target_value(&event))))
            />
        </label>
    }
    .into_any()
}

/// A selector for the models that have tasks.
fn models(navigation: Navigation) -> AnyView {
    let runner = contexts().runner;
    let chosen = memo(move || navigation.query("model").unwrap_or_default());
    let models = memo(move || {
        runner.track_phases();
        runner.with_tasks(|tasks| {
            let mut models: Vec<(String, String)> = tasks
                .iter()
                .map(|task| (task.model_name.clone(), task.model.to_string()))
                .collect();
            models.sort();
            models.dedup_by(|a, b| a.1 == b.1);
            models
        })
    });
    let options = dynamic(move || {
        let chosen = chosen.get();
        let options = models.get().into_iter().map(|(name, model)| {
            let is_chosen = model == chosen;
            view! {
                <option value=model prop:selected=is_chosen>
                    {name}
                </option>
            }
            .into_any()
        });
        options.collect_view().into_any()
    });
    let choose = move |event| {
        let model = event_target_value(&event);
        navigation.set_query(
            "model",
            Some(model.as_str()).filter(|model| !model.is_empty()),
        );
    };
    view! {
        <select class="filter" aria-label="Model" on:change=handler(choose)>
            <option value="" prop:selected=when(move || chosen.read().is_empty())>
                "All models"
            </option>
            {options}
        </select>
    }
    .into_any()
}
