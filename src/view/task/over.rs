use leptos::prelude::*;

use super::more::{self, more};
use super::shown_output::ShownOutput;
use super::{favorite, save};
use crate::view::parts::status_note::StatusNote;

/// What is done with one of several outputs most, over it; the rest in a menu. What makes all of them once more stands
/// below them.
pub fn over(shown: &ShownOutput, answer: StatusNote) -> AnyView {
    let output = shown.task.key.output(shown.position);
    view! {
        <div class="over">
            {save::save(shown)} {favorite::output_heart(&shown.task.key, shown.position)}
            {more(&output, "More of this output", more::of_output(shown, answer))}
        </div>
    }
    .into_any()
}
