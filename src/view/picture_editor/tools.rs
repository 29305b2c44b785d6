//! The tools of the dialog in which a picture is edited.

use atelier_studio::picture_edit::crop::Side;
use atelier_studio::picture_edit::edit::MAX_LONGEST;
use atelier_studio::picture_edit::ratio::Choice;
use icondata_core::Icon;
use icondata_lu::{LuFlipHorizontal2, LuFlipVertical2, LuRotateCcw, LuRotateCw, LuUndo2};
use leptos::prelude::*;
use web_sys::{Event, HtmlInputElement};

use super::Editor;
use crate::reactive::boxed::{handler, text, when};
use crate::view::parts::picture_dialog;

pub fn tools(editor: Editor, choices: Vec<Choice>) -> AnyView {
    let ratios: Vec<Option<f64>> = choices.iter().map(|choice| choice.ratio).collect();
    let chosen = {
        let ratios = ratios.clone();
        text(move || {
            let ratio = editor.ratio.get();
            let at = ratios.iter().position(|it| *it == ratio);
            at.unwrap_or_default().to_string()
        })
    };
    let choose = move |event: Event| {
        let at = event_target_value(&event).parse::<usize>().ok();
        editor.set_ratio(at.and_then(|at| ratios.get(at).copied()).flatten());
    };
    let options = choices.into_iter().enumerate().map(|(at, choice)| {
        view! { <option value=at.to_string()>{choice.label}</option> }.into_any()
    });
    view! {
        <div class="picture-tools">
            <div class="row" role="group" aria-label="Turn">
                {button(editor, "Rotate left", LuRotateCcw, |editor| editor.turn(false))}
                {button(editor, "Rotate right", LuRotateCw, |editor| editor.turn(true))}
                {button(editor, "Flip horizontally", LuFlipHorizontal2, |editor| {
                    editor.apply(|edit| edit.flip(false));
                })}
                {button(editor, "Flip vertically", LuFlipVertical2, |editor| {
                    editor.apply(|edit| edit.flip(true));
                })}
                {button(editor, "Original", LuUndo2, Editor::restore)}
            </div>
            <label class="edit-number">
                "Ratio"
                <select prop:value=chosen on:change=handler(choose)>
                    {options.collect_view()}
                </select>
            </label>
            <div class="row" role="group" aria-label="Crop, in pixels">
                {number(editor, "Left", Side::Left)}
                {number(editor, "Top", Side::Top)}
                {number(editor, "Width", Side::Width)}
                {number(editor, "Height", Side::Height)}
            </div>
            {limit(editor)}
        </div>
    }
    .into_any()
}

fn button(editor: Editor, label: &'static str, icon: Icon, act: fn(Editor)) -> AnyView {
    let is_loading = when(move || editor.edit.read().is_none());
    picture_dialog::tool(label, icon, is_loading, move || act(editor))
}

/// A number of the crop.
fn number(editor: Editor, label: &'static str, side: Side) -> AnyView {
    let value = move || {
        let crop = editor.edit.get()?.crop;
        Some(match side {
            Side::Left => crop.left,
            Side::Top => crop.top,
            Side::Width => crop.width,
            Side::Height => crop.height,
        })
    };
    let change = move |event: Event| {
        let input = event_target::<HtmlInputElement>(&event);
        match input.value().trim().parse::<u32>() {
            Ok(typed) => {
                editor.problem.set(String::new());
                editor.apply(|edit| {
                    let ratio = editor.ratio.get_untracked();
                    edit.crop = edit.crop.with(side, typed, ratio, edit.turned_size());
                });
            }
            Err(_) => editor.problem.set(format!(
                "{label} must be a whole number of pixels, from 0 to the size of the picture."
            )),
        }
        // What was typed may be beyond the picture.
        input.set_value(&untrack(value).map(|it| it.to_string()).unwrap_or_default());
    };
    view! {
        <label class="edit-number">
            {label}
            <input
                type="number"
                inputmode="numeric"
                min="0"
                prop:value=text(move || value().map(|it| it.to_string()).unwrap_or_default())
                on:change=handler(change)
            />
        </label>
    }
    .into_any()
}

/// The limit of the longest side.
fn limit(editor: Editor) -> AnyView {
    let value = move || editor.edit.get().and_then(|edit| edit.longest);
    let change = move |event: Event| {
        let input = event_target::<HtmlInputElement>(&event);
        let typed = input.value();
        let limit = match typed.trim() {
            "" => Some(None),
            typed => {
                let limit = typed.parse().ok();
                limit
                    .filter(|limit| (1..=MAX_LONGEST).contains(limit))
                    .map(Some)
            }
        };
        match limit {
            Some(limit) => {
                editor.problem.set(String::new());
                editor.apply(|edit| edit.longest = limit);
            }
            None => editor.problem.set(format!(
                "Longest side must be a whole number from 1 to {MAX_LONGEST}, or empty to keep the size."
            )),
        }
        input.set_value(&untrack(value).map(|it| it.to_string()).unwrap_or_default());
    };
    view! {
        <label class="edit-number">
            "Longest side, at most"
            <input
                type="number"
                inputmode="numeric"
                min="1"
                max=MAX_LONGEST.to_string()
                placeholder="no limit"
                prop:value=text(move || value().map(|it| it.to_string()).unwrap_or_default())
                on:change=handler(change)
            />
        </label>
    }
    .into_any()
}
