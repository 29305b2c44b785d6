//! What the inputs of compared outputs have not in common.

use atelier_contract::output::OutputKind;
use atelier_studio::batch::differences::shown;
use atelier_studio::gallery::compare::{ComparedInput, file};
use atelier_studio::text::diff::{Piece, around_differences, pieces};
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::view::parts::media::MediaView;
use crate::view::parts::size::follow_size;

/// A column under a picture is at least so wide, in `rem`: values are read in it.
const LEAST: f64 = 12.0;

/// The name of an input stands above its values, since a column of names would push them away from what they belong to.
///
/// `column`: how wide each output's column is above, in `rem`, where all stand in one row: each value is right below it.
pub fn table(differences: &[ComparedInput], count: usize, column: Signal<Option<f64>>) -> AnyView {
    if differences.is_empty() {
        return view! { <p class="muted">"Their inputs are the same."</p> }.into_any();
    }
    let aligned = memo(move || column.get().filter(|column| *column >= LEAST));
    let is_aligned = when(move || aligned.get().is_some());
    let heads = (1..=count).map(|at| view! { <th scope="col"><span>{at}</span></th> }.into_any());
    let widths = (1..=count).map(|at| {
        // The last one has what is left.
        let width = derived(move || {
            let column = aligned.get().filter(|_| at < count)?;
            Some(format!("{column:.3}rem"))
        });
        view! { <col style:width=width /> }.into_any()
    });
    // No column is headed where each value says itself whose it is.
    let has_columns = differences.iter().any(|it| it.long_values().is_none());
    let inputs = differences.iter().map(input).collect_view();
    view! {
        <div class="differences" class:aligned=is_aligned>
            <table translate="no">
                <caption>"What differs"</caption>
                <colgroup>
                    {widths.collect_view()}
                </colgroup>
                <thead hidden=!has_columns>
                    <tr>
                        {heads.collect_view()}
                    </tr>
                </thead>
                {inputs}
            </table>
        </div>
    }
    .into_any()
}

fn input(input: &ComparedInput) -> AnyView {
    match input.long_values() {
        Some(values) => long(input, values),
        None => view! {
            <tbody>
                <tr>
                    <th scope="rowgroup" colspan=input.values.len().to_string()>
                        {input.name.clone()}
                    </th>
                </tr>
                <tr>{values(input)}</tr>
            </tbody>
        }
        .into_any(),
    }
}

/// Texts that are too long to be read in columns: each has lines of its own, behind the numbers of the outputs that
/// have it. Of what they share only a few words are there until all of it is asked for.
fn long(input: &ComparedInput, values: Vec<(Vec<usize>, &str)>) -> AnyView {
    let columns = input.values.len().to_string();
    let is_whole = RwSignal::new(false);
    let texts: Vec<String> = values.iter().map(|(_, text)| (*text).to_owned()).collect();
    let pieces = pieces(&texts);
    let short: Vec<Vec<Piece>> = pieces.iter().map(|it| around_differences(it)).collect();
    let is_cut = RwSignal::new(short != pieces);
    let of = values.iter().map(|(numbers, _)| {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    });
    let of: Vec<String> = of.collect();
    // All texts begin at the same place, however many numbers stand before them.
    let letters = of.iter().map(String::len).max().unwrap_or_default();
    let lines = of.into_iter().zip(pieces).zip(short);
    let lines = lines.map(|((numbers, whole), short)| {
        view! {
            <tr>
                <td class="long" colspan=columns.clone()>
                    <div class="difference-long">
                        <span class="difference-of">{numbers}</span>
                        {long_value(whole, short, is_whole, is_cut)}
                    </div>
                </td>
            </tr>
        }
        .into_any()
    });
    let lines = lines.collect_view();
    let name = input.name.clone();
    let label = format!("Show all of {name}");
    view! {
        <tbody style:--letters=letters.to_string()>
            <tr>
                <th scope="rowgroup" colspan=columns.clone()>
                    {name}
                    <button
                        class="button quiet show-all"
                        type="button"
                        hidden=when(move || !is_cut.get())
                        aria-label=label
                        aria-expanded=text(move || is_whole.get().to_string())
                        on:click=handler(move |_| is_whole.update(|it| *it = !*it))
                        prop:textContent=text(move || if is_whole.get() { "Show less" } else { "Show all" }.into())></button>
                </th>
            </tr>
            {lines}
        </tbody>
    }
    .into_any()
}

/// `is_cut`: told where not all lines are in sight.
fn long_value(
    whole: Vec<Piece>,
    short: Vec<Piece>,
    is_whole: RwSignal<bool>,
    is_cut: RwSignal<bool>,
) -> AnyView {
    let element = NodeRef::<Div>::new();
    follow_size(element, move |element| {
        let is_short = is_whole.try_get_untracked() == Some(false);
        if is_short && element.scroll_height() > element.client_height() + 1 {
            is_cut.set(true);
        }
    });
    let part = |piece: &Piece| {
        let text = piece.text.clone();
        if !piece.differs {
            return text.into_any();
        }
        let words = text.trim_end();
        let room = text[words.len()..].to_owned();
        view! { <mark>{words.to_owned()}</mark>{room} }.into_any()
    };
    let content = move || {
        let pieces = if is_whole.get() { &whole } else { &short };
        pieces.iter().map(part).collect_view().into_any()
    };
    view! {
        <div class="clamped" translate="no" class:whole=is_whole dir="auto" node_ref=element>
            {dynamic(content)}
        </div>
    }
    .into_any()
}

fn values(input: &ComparedInput) -> AnyView {
    let values = input.values.iter().map(|text| value(text));
    values.collect_view().into_any()
}

/// A picture is seen where its address would be read.
fn value(text: &str) -> AnyView {
    let Some((kind, name)) = file(text) else {
        return view! { <td dir="auto">{shown(text).to_owned()}</td> }.into_any();
    };
    let picture = (kind == OutputKind::Image).then(|| {
        let url = text.to_owned();
        view! {
            <span class="difference-picture">
                <MediaView url kind label="" thumbnail=true />
            </span>
        }
        .into_any()
    });
    let address = (!text.starts_with("data:")).then(|| text.to_owned());
    view! {
        <td>
            <span class="difference-file" title=address>
                {picture}
                <span>{name}</span>
            </span>
        </td>
    }
    .into_any()
}
