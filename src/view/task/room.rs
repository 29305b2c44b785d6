use atelier_studio::gallery::side_by_side::{Block, Shape};
use atelier_studio::task::output_group::MAX_PICTURES;
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, memo, when};
use crate::view::parts::viewport;

/// What holds the outputs of a task, or of a few, or the places that are kept for them. Several of these `shapes` lie in a block, as
/// large as the pane has room for; fewer, and more than [`MAX_PICTURES`], are left to the style sheet.
pub fn room(shapes: Signal<Vec<Shape>>, content: AnyView) -> AnyView {
    let element = NodeRef::<Div>::new();
    let left = viewport::left(element);
    let room = memo(move || left.read().room(0.0));
    let block = memo(move || {
        let shapes = shapes.read();
        let are_several = (2..=MAX_PICTURES).contains(&shapes.len());
        are_several.then(|| room.read().block(&shapes))
    });
    let px = move |of: fn(Block) -> f64| {
        derived(move || block.get().map(|block| format!("{:.1}px", of(block))))
    };
    let whole = move |is_wanted: fn(f64, f64) -> bool| {
        derived(move || {
            let whole = block.get()?.whole;
            is_wanted(whole, room.read().height).then(|| format!("{whole:.1}px"))
        })
    };
    // What needs less than there is leaves the rest to what follows; what needs more is scrolled to.
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
