//! What the inputs of compared outputs have not in common.

use atelier_engine::gallery::compare::{Difference, file};
use atelier_engine::output::OutputKind;
use leptos::prelude::*;

use crate::boxed::derived;
use crate::view::parts::media::MediaView;

/// The names stand in a column so wide, in `rem`; the style sheet says the same.
const NAMES: f64 = 8.5;

/// `column`: how wide each output's column is above, in `rem`, where all stand in one row: each value then stands below
/// what it belongs to.
pub fn table(differences: &[Difference], column: Signal<Option<f64>>) -> AnyView {
    if differences.is_empty() {
        return view! { <p class="muted">"Their inputs are the same."</p> }.into_any();
    }
    let rows = differences.iter().map(|input| {
        let values = input.values.iter().map(|text| value(text));
        view! {
            <tr>
                <th scope="row">{input.name.clone()}</th>
                {values.collect_view()}
            </tr>
        }
        .into_any()
    });
    let count = differences[0].values.len();
    let heads = (1..=count).map(|at| view! { <th scope="col">{at}</th> }.into_any());
    let rem = |width: f64| format!("{width:.3}rem");
    // The names take their room from the first value; narrower than that it would be no column.
    let aligned = derived(move || column.get().filter(|column| *column > 1.7 * NAMES));
    let widths = (1..=count).map(|at| {
        let taken = if at == 1 { NAMES } else { 0.0 };
        // The last one has what is left.
        let width = derived(move || {
            let column = aligned.get().filter(|_| at < count)?;
            Some(rem(column - taken))
        });
        view! { <col style:width=width /> }.into_any()
    });
    view! {
        <div class="differences">
            <table>
                <caption>"What differs"</caption>
                <colgroup>
                    <col />
                    {widths.collect_view()}
                </colgroup>
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
