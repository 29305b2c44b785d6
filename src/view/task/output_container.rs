use atelier_studio::gallery::side_by_side::{Block, Shape};
use atelier_studio::task::output_group::MAX_PICTURES;
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, memo, when};
use crate::view::parts::viewport;

/// A container for the outputs of one or several tasks, or for the space reserved for them. It lays out 2 to
/// [`MAX_PICTURES`] `shapes` as a block that fills the pane; the style sheet lays out other numbers.
pub fn output_container(shapes: Signal<Vec<Shape>>, content: AnyView) -> AnyView {
    let element = NodeRef::<Div>::new();
    let left = viewport::left(element);
    let space = memo(move || left.read().room(0.0));
    let block = memo(move || {
        let shapes = shapes.read();
        let are_several = (2..=MAX_PICTURES).contains(&shapes.len());
        are_several.then(|| space.read().block(&shapes))
    });
    let px = move |of: fn(Block) -> f64| {
        derived(move || block.get().map(|block| format!("{:.1}px", of(block))))
    };
    let whole = move |is_needed: fn(f64, f64) -> bool| {
        derived(move || {
            let whole = block.get()?.whole;
            is_needed(whole, space.read().height).then(|| format!("{whole:.1}px"))
        })
    };
    // A block smaller than the pane leaves the rest to the following content; a larger one is scrolled.
    let most = whole(|whole, height| whole + 1.0 < height);
    let least = whole(|whole, height| whole > height);
    view! {
        <div
            class="outputs-room"
            class:several=when(move || block.read().is_some())
            node_ref=element
            style:--columns=derived(move || block.get().map(|block| block.columns.to_string()))
            style:--column=px(|block| block.column)
            style:--high=px(|block| block.height)
            style:--most=most
            style:--least=least
        >
            {content}
        </div>
    }
    .into_any()
}
