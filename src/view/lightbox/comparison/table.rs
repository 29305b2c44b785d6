//! What the inputs of compared outputs have not in common.

use atelier_engine::gallery::compare::{Difference, file};
use atelier_engine::output::OutputKind;
use leptos::prelude::*;

use crate::boxed::{derived, dynamic, memo, when};
use crate::view::parts::media::MediaView;

/// A column under a picture is at least so wide, in `rem`: values are read in it.
const LEAST: f64 = 12.0;

/// `column`: how wide each output's column is above, in `rem`, where all stand in one row: each value then stands below
/// what it belongs to, and the name of the input above its values, since a column of names would push them away.
pub fn table(differences: &[Difference], column: Signal<Option<f64>>) -> AnyView {
    if differences.is_empty() {
        return view! { <p class="muted">"Their inputs are the same."</p> }.into_any();
    }
    let count = differences[0].values.len();
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
    let differences = differences.to_vec();
    let inputs = dynamic(move || {
        let input = match is_aligned.get() {
            true => above,
            false => beside,
        };
        differences.iter().map(input).collect_view().into_any()
    });
    view! {
        <div class="differences" class:aligned=is_aligned>
            <table>
                <caption>"What differs"</caption>
                <colgroup>
                    <col class="differences-names" hidden=is_aligned />
                    {widths.collect_view()}
                </colgroup>
                <thead>
                    <tr>
                        <td hidden=is_aligned></td>
                        {heads.collect_view()}
                    </tr>
                </thead>
                {inputs}
            </table>
        </div>
    }
    .into_any()
}

/// The name of an input beside its values.
fn beside(input: &Difference) -> AnyView {
    view! {
        <tbody>
            <tr>
                <th scope="row">{input.name.clone()}</th>
                {values(input)}
            </tr>
        </tbody>
    }
    .into_any()
}

/// And above them.
fn above(input: &Difference) -> AnyView {
    view! {
        <tbody>
            <tr>
                <th scope="rowgroup" colspan=input.values.len().to_string()>
                    {input.name.clone()}
                </th>
            </tr>
            <tr>{values(input)}</tr>
        </tbody>
    }
    .into_any()
}

fn values(input: &Difference) -> AnyView {
    let values = input.values.iter().map(|text| value(text));
    values.collect_view().into_any()
}

/// A picture is seen where its address would be read.
fn value(text: &str) -> AnyView {
    let Some((kind, name)) = file(text) else {
        let text = if text.is_empty() { "–" } else { text };
        return view! { <td dir="auto">{text.to_owned()}</td> }.into_any();
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
