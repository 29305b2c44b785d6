//! Two to four outputs side by side, or two of them one over the other, and what their inputs have not
//! in common.

use atelier_engine::gallery::compare::{Difference, differences};
use atelier_engine::output::SafeUrl;
use icondata_lu::{LuDownload, LuMaximize2};
use leptos::html::Dialog;
use leptos::prelude::*;

use super::shown::{self, COMPARED, MAX_COMPARED, known, shown_output};
use crate::boxed::{derived, dynamic, handler, memo, text, when};
use crate::contexts::contexts;
use crate::view::parts::dialog;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::segment::segment;
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{favorite, output_recovery};

#[component]
pub fn Comparison() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let names = memo(move || navigation.query(COMPARED));
    let is_slider = RwSignal::new(false);
    let share = RwSignal::new(50.0);
    dialog::follow(dialog, when(move || names.read().is_some()));
    let close = move || navigation.pop_query(COMPARED);
    let known = known(names);
    let outputs = derived(move || {
        known.track();
        let names = names.get().unwrap_or_default();
        let outputs = names.split(',').take(MAX_COMPARED).filter_map(shown_output);
        outputs.collect::<Vec<ShownOutput>>()
    });
    let count = memo(move || outputs.read().len());
    let body = dynamic(move || {
        let outputs = outputs.get();
        if names.read().is_none() || (outputs.len() < 2 && !known.read().is_open) {
            return ().into_any();
        }
        if outputs.len() < 2 {
            return view! { <p class="lightbox-unknown">"Those outputs aren't in this browser."</p> }
                .into_any();
        }
        let tasks: Vec<_> = outputs.iter().map(|shown| &*shown.task).collect();
        let table = table(&differences(&tasks));
        let pictures = outputs
            .iter()
            .enumerate()
            .map(|(at, shown)| compared(shown, at + 1, outputs.len()));
        view! {
            <ol role="list" class="compared">
                {pictures.collect_view()}
            </ol>
            {table}
        }
        .into_any()
    });
    let is_over = when(move || is_slider.get() && count.get() == 2);
    view! {
        <dialog
            class="lightbox comparison"
            node_ref=dialog
            aria-label="Compare"
            class:over-each-other=is_over
            style:--share=text(move || (share.get() / 100.0).to_string())
            on:close=handler(move |_: web_sys::Event| close())
        >
            <header class="lightbox-head">
                <fieldset class="segments" hidden=when(move || count.get() != 2)>
                    <legend class="visually-hidden">"How they are compared"</legend>
                    {segment(
                        "comparison",
                        "Side by side",
                        when(move || !is_slider.get()),
                        move || is_slider.set(false),
                    )}
                    {segment("comparison", "Slider", is_slider.into(), move || is_slider.set(true))}
                </fieldset>
                {dialog::close_button(close, true)}
            </header>
            <div class="comparison-body">
                <label class="comparison-slider" hidden=when(move || !is_over.get())>
                    <span class="visually-hidden">"How much of the first is shown"</span>
                    <input
                        type="range"
                        min="0"
                        max="100"
                        prop:value=text(move || share.get().to_string())
                        on:input=handler(move |event| {
                            share.set(event_target_value(&event).parse().unwrap_or(50.0));
                        })
                    />
                </label>
                {body}
            </div>
        </dialog>
    }
}

/// One of them, and what can be done with it.
fn compared(shown: &ShownOutput, number: usize, count: usize) -> AnyView {
    let all = contexts();
    let title = shown.task.input.title().to_owned();
    let label = format!("{number} of {count}: {title}");
    let name = shown.task.key.output(shown.position);
    let address = all.session.settings_untracked().address;
    let save = SafeUrl::media(&shown.url, address.as_str()).map(|_| {
        let shown = shown.clone();
        let busy = RwSignal::new(false);
        let save = move |_| {
            busy.set(true);
            output_recovery::save(all, shown.clone(), busy);
        };
        let label = format!("Download {number}");
        view! {
            <button
                class="icon-button"
                type="button"
                aria-label=label.clone()
                title=label
                prop:disabled=busy
                on:click=handler(save)
            >
                <Glyph icon=LuDownload />
            </button>
        }
        .into_any()
    });
    let large = format!("Show {number} large");
    view! {
        <li>
            <div class="compared-head">
                <span class="compared-number">{number}</span>
                <span class="compared-title" dir="auto" title=title.clone()>
                    {title.clone()}
                </span>
                {favorite::output_heart(&shown.task.key, shown.position)}
                {save}
                <button
                    class="icon-button"
                    type="button"
                    aria-label=large.clone()
                    title=large
                    on:click=handler(move |_| shown::open(all.navigation, &name))
                >
                    <Glyph icon=LuMaximize2 />
                </button>
            </div>
            <div class="compared-output">
                <OutputView shown=shown.clone() label />
            </div>
        </li>
    }
    .into_any()
}

fn table(differences: &[Difference]) -> AnyView {
    if differences.is_empty() {
        return view! { <p class="muted">"Their inputs are the same."</p> }.into_any();
    }
    let rows = differences.iter().map(|input| {
        let values = input.values.iter().map(|value| {
            let value = if value.is_empty() {
                "–".to_owned()
            } else {
                value.clone()
            };
            view! { <td dir="auto">{value}</td> }.into_any()
        });
        view! {
            <tr>
                <th scope="row">{input.name.clone()}</th>
                {values.collect_view()}
            </tr>
        }
        .into_any()
    });
    let columns = differences[0].values.len();
    let heads = (1..=columns).map(|at| view! { <th scope="col">{at}</th> }.into_any());
    view! {
        <div class="differences">
            <table>
                <caption>"What differs"</caption>
                <thead>
                    <tr>
                        <td></td>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
