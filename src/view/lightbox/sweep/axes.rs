//! The controls of a sweep, one for each axis.

use atelier_studio::batch::exploration::{Exploration, ExploredAxis};
use leptos::prelude::*;

use super::comparing;
use super::explored::Explored;
use crate::reactive::boxed::{handler, text, when};
use crate::view::parts::segment::segment;

/// Number of characters that fit in a line of the panel.
const LINE_CHARS: usize = 40;

/// Number of characters that fit in a line of the panel when it is as wide as the page.
const WIDE_LINE_CHARS: usize = 80;

/// Returns the controls: a slider for numbers and long texts, radio buttons for a few short values. Each has a button that
/// compares the items along its axis.
///
/// `output`: the chosen output of each item.
pub fn axes(exploration: &Exploration, explored: Explored, output: RwSignal<usize>) -> AnyView {
    let position = explored.position;
    let axes = exploration.axes.iter().enumerate();
    axes.map(|(nth, axis)| {
        let at = Signal::derive(move || position.read().get(nth).copied().unwrap_or(0));
        let go = move |to: usize| {
            let mut position = position.get_untracked();
            if let Some(place) = position.get_mut(nth) {
                *place = to;
                explored.move_to(&position);
            }
        };
        let control = match axis.has_few_short_values() {
            true => radio_buttons(nth, axis, at, go),
            false => slider(nth, axis, at, go),
        };
        view! {
            <div class="sweep-axis-room">
                {control} {comparing::axis_button(explored, nth, &axis.parameter, output)}
            </div>
        }
        .into_any()
    })
    .collect_view()
    .into_any()
}

fn radio_buttons(
    nth: usize,
    axis: &ExploredAxis,
    at: Signal<usize>,
    go: impl Fn(usize) + Copy + 'static,
) -> AnyView {
    let radios = (0..axis.values.len()).map(|place| {
        let is_chosen = when(move || at.get() == place);
        let group = format!("sweep-axis-{nth}");
        segment(group, axis.label(place), is_chosen, move || go(place))
    });
    view! {
        <fieldset class="sweep-axis" translate="no">
            <legend>{axis.parameter.clone()}</legend>
            <div
                class="segments"
                style:--columns=axis.columns(LINE_CHARS).to_string()
                style:--wide-columns=axis.columns(WIDE_LINE_CHARS).to_string()
            >
                {radios.collect_view()}
            </div>
        </fieldset>
    }
    .into_any()
}

fn slider(
    nth: usize,
    axis: &ExploredAxis,
    at: Signal<usize>,
    go: impl Fn(usize) + Copy + 'static,
) -> AnyView {
    let shown = {
        let axis = axis.clone();
        text(move || axis.label(at.get()).to_owned())
    };
    let last = axis.values.len() - 1;
    let ticks = format!("sweep-ticks-{nth}");
    let marks = (0..=last).map(|place| {
        let label = axis.label(place).to_owned();
        view! { <option value=place.to_string() label=label></option> }.into_any()
    });
    // Browsers draw the marks of a `datalist`, but not their labels.
    let values = axis.ticks().into_iter().map(|place| {
        let at = place as f64 / last.max(1) as f64;
        let label = axis.label(place).to_owned();
        view! { <span style:--at=format!("{at:.4}")>{label}</span> }.into_any()
    });
    let move_slider = move |event| {
        if let Ok(place) = event_target_value(&event).parse() {
            go(place);
        }
    };
    view! {
        <label class="sweep-axis" translate="no" class:long=axis.has_long_values()>
            <span class="sweep-axis-name">{axis.parameter.clone()}</span>
            <span class="sweep-axis-value" dir="auto" aria-hidden="true">
                {shown}
            </span>
            <input
                type="range"
                min="0"
                max=last.to_string()
                step="1"
                list=ticks.clone()
                aria-label=axis.parameter.clone()
                aria-valuetext=shown
                prop:value=text(move || at.get().to_string())
                on:input=handler(move_slider)
            />
            <datalist id=ticks>{marks.collect_view()}</datalist>
            <span class="sweep-ticks" aria-hidden="true">
                {values.collect_view()}
            </span>
        </label>
    }
    .into_any()
}
