//! Comparisons of the shown item of a sweep: with the items along an axis, or with any other item.

use atelier_studio::gallery::neighbor::MAX_CHOICES;
use atelier_studio::output::output_cache;
use icondata_lu::LuColumns2;
use leptos::prelude::*;

use super::explored::Explored;
use super::item::{output_of, outputs};
use crate::reactive::boxed::{handler, memo, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::sequence::Choice;
use crate::view::lightbox::shown::{self, MAX_COMPARED};
use crate::view::parts::glyph::Glyph;

/// Returns the button that compares the items along one axis, as far as they have outputs.
pub fn axis_button(
    explored: Explored,
    axis: usize,
    parameter: &str,
    output: RwSignal<usize>,
) -> AnyView {
    let names = memo(move || {
        let space = explored.space.read();
        let Some(space) = &*space else {
            return Vec::new();
        };
        let position = explored.position.read();
        let items = space.exploration.along(&position, axis, MAX_COMPARED);
        let tasks = items.into_iter().filter_map(|item| space.task(item));
        let tasks = tasks.filter(|task| outputs(task) > 0);
        tasks.map(|task| output_of(&task, output)).collect()
    });
    let label = format!("Compare by {parameter}");
    view! {
        <button
            class="icon-button sweep-compare"
            type="button"
            aria-label=label.clone()
            title=label
            hidden=when(move || names.read().len() < 2)
            on:click=handler(move |_| {
                shown::compare(contexts().navigation, &names.get_untracked());
            })
        >
            <Glyph icon=LuColumns2 />
        </button>
    }
    .into_any()
}

/// Returns the button that compares the shown output with the nearest other item. The comparison lets the user choose
/// another one.
pub fn another_button(explored: Explored, name: &str) -> AnyView {
    let name = name.to_owned();
    let other = memo({
        let name = name.clone();
        move || Some(choices(explored, &name)?.into_iter().next()?.name)
    });
    let compare = move |_| {
        if let Some(other) = other.get_untracked() {
            shown::compare(contexts().navigation, &[name.clone(), other]);
        }
    };
    view! {
        <button
            class="button"
            type="button"
            hidden=when(move || other.read().is_none())
            on:click=handler(compare)
        >
            <Glyph icon=LuColumns2 />
            <span class="word">"Compare"</span>
        </button>
    }
    .into_any()
}

/// Returns the outputs that an output of the sweep can be compared with; those that differ least come first. Returns
/// `None` if the output isn't part of the sweep. Tracked.
pub fn choices(explored: Explored, name: &str) -> Option<Vec<Choice>> {
    let (task, output) = output_cache::parse_name(name)?;
    let runner = contexts().runner;
    let space = explored.space.get()?;
    let others = space.others(&space.position_of(&task)?).into_iter();
    let choice = others.filter_map(|other| {
        let task = runner.task(&other)?;
        let task = task.read();
        let at = output.min(task.outputs().len().checked_sub(1)?);
        let url = task.outputs().get(at)?.clone();
        Some(Choice {
            name: other.output(at),
            label: space.values(&space.position_of(&other)?),
            kind: task.output_kind(&url),
            url,
        })
    });
    Some(choice.take(MAX_CHOICES).collect())
}
