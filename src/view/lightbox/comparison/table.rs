//! A table of the inputs in which the compared outputs differ.

use atelier_contract::output::OutputKind;
use atelier_studio::batch::differences::shown;
use atelier_studio::gallery::compare::{ComparedInput, file};
use atelier_studio::text::diff::{Piece, around_differences, pieces};
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::view::parts::media::MediaView;
use crate::view::parts::size::follow_size;

/// Minimum width of a column in which values are readable, in `rem`.
const MIN_COLUMN: f64 = 12.0;

/// Returns the table. The name of an input is above its values: a column of names would move the values away from their
/// outputs.
///
/// `column`: the width of each output's column above the table, in `rem`, if all outputs are in one row. Each value is then
/// right below its output.
pub fn table(differences: &[ComparedInput], count: usize, column: Signal<Option<f64>>) -> AnyView {
    if differences.is_empty() {
        return view! { <p class="muted">"Their inputs are the same."</p> }.into_any();
    }
    let aligned = memo(move || column.get().filter(|column| *column >= MIN_COLUMN));
    let is_aligned = when(move || aligned.get().is_some());
    let heads = (1..=count).map(|at| view! { <th scope="col"><span>{at}</span></th> }.into_any());
    let widths = (1..=count).map(|at| {
        // The last column takes the remaining width.
        let width = derived(move || {
            let column = aligned.get().filter(|_| at < count)?;
            Some(format!("{column:.3}rem"))
        });
        view! { <col style:width=width /> }.into_any()
    });
    // Rows of long values contain the numbers of their outputs, so they need no column headers.
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
        Some(values) => long_rows(input, values),
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

/// Returns the rows of an input whose values are too long for columns. Each distinct value has its own row, after the
/// numbers of the outputs that have it. Text that the values share is shortened to a few words until "Show all" is pressed.
fn long_rows(input: &ComparedInput, values: Vec<(Vec<usize>, &str)>) -> AnyView {
    let columns = input.values.len().to_string();
    let is_whole = RwSignal::new(false);
    let texts: Vec<String> = values.iter().map(|(_, text)| (*text).to_owned()).collect();
    let pieces = pieces(&texts);
    let short: Vec<Vec<Piece>> = pieces.iter().map(|it| around_differences(it)).collect();
    let is_cut = RwSignal::new(short != pieces);
    let numbers = values.iter().map(|(numbers, _)| {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    });
    let numbers: Vec<String> = numbers.collect();
    // The width of the longest list of numbers: all texts start at the same column.
    let label_chars = numbers.iter().map(String::len).max().unwrap_or_default();
    let lines = numbers.into_iter().zip(pieces).zip(short);
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
        <tbody style:--letters=label_chars.to_string()>
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

/// Returns a long value with its differences marked. `is_cut`: set to true if not all lines are visible.
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
        let trimmed = text.trim_end();
        let space = text[trimmed.len()..].to_owned();
        view! { <mark>{trimmed.to_owned()}</mark>{space} }.into_any()
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

/// Returns the cell of a value. The URL of a picture is shown as a thumbnail with the file's name.
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
