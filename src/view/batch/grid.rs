mod head;
mod labelled;

use std::sync::Arc;

use atelier_studio::batch::blocks::Blocks;
use atelier_studio::batch::combined::Combined;
use atelier_studio::batch::item_grid::{self, GAP};
use atelier_studio::batch::labelled_grid;
use atelier_studio::compose::sweep::GridLabels;
use atelier_studio::list::window::Stack;
use leptos::html::Div;
use leptos::prelude::*;

use super::item::{ItemContext, Shapes, item};
use super::thumb::Thumb;
use crate::reactive::boxed::{dynamic, memo, text};
use crate::view::parts::list::Item;
use crate::view::parts::px::px;
use crate::view::parts::viewport::{self, free_height_in_pane, scrolled};
use crate::view::parts::windowed_list::{WindowedList, is_apart, rows};

/// The height of a caption, in `rem`; must match the style sheet.
const CAPTION_HEIGHT: f64 = 1.75;

/// Up to this number of items or cells, the whole grid is built and scrolls with the page. Larger grids are windowed and
/// scroll in their own container.
const MAX_WHOLE: usize = 40;

/// The labelled grids of a batch; `None` if the batch is a plain list.
pub type GridLayout = Memo<Option<Arc<Blocks>>>;

/// Computes the layout of the labelled grids. `labels`: the labels of a sweep over two axes. `combined`: a sweep over more
/// axes, with the positions of its items in the batch.
pub fn layout(
    labels: Option<GridLabels>,
    combined: Memo<Option<(Combined, Vec<usize>)>>,
    shapes: Shapes,
    on_model_page: bool,
) -> GridLayout {
    let is_side_by_side = viewport::beside();
    memo(move || {
        let width = match is_side_by_side.get() && on_model_page {
            true => viewport::pane_width(),
            false => viewport::page_width(),
        };
        let shapes = shapes.read();
        let Blocks { headings, labels } = match (&labels, &*combined.read()) {
            (Some(labels), _) => labels.clone().into(),
            (None, Some((combined, places))) => {
                let shapes = places
                    .iter()
                    .map(|place| shapes.get(*place).copied().flatten());
                combined.blocks(&shapes.collect::<Vec<_>>()).spread(places)
            }
            (None, None) => return None,
        };
        let labels = labelled_grid::oriented(labels, &shapes, width);
        Some(Arc::new(Blocks { headings, labels }))
    })
}

/// The items of a batch, as labelled grids or as a plain list. Only visible ones are built.
pub fn grid(cells: Memo<Vec<Thumb>>, layout: GridLayout, context: ItemContext) -> AnyView {
    let sent = memo(move || {
        let mut sent = cells.get();
        sent.retain(|cell| !cell.is_left_out);
        sent
    });
    let count = memo(move || sent.read().len());
    dynamic(move || match layout.get() {
        Some(blocks) => labelled::labelled(cells, blocks, context),
        None => plain(sent, count.get(), context),
    })
}

/// The items as a plain list. `cells`: without the items that were not sent.
fn plain(cells: Memo<Vec<Thumb>>, size: usize, context: ItemContext) -> AnyView {
    let shapes = context.shapes;
    let ratio = memo(move || labelled_grid::frame(&shapes.read()));
    let element = NodeRef::<Div>::new();
    let (seen, left) = (scrolled(element), free_height_in_pane(element));
    // The number of columns, and their width in `rem`.
    let layout = memo(move || {
        let (seen, left) = (seen.get(), left.get());
        let rem = seen.rem.max(1.0);
        let width = seen.width / rem;
        let in_pane = item_grid::fit_in_pane(width, left.to / rem, size, ratio.get());
        in_pane.unwrap_or_else(|| {
            let columns = item_grid::columns(width, size, ratio.get());
            let cell = (width - GAP * (columns - 1) as f64) / columns as f64;
            (columns, cell)
        })
    });
    let rem = memo(move || seen.read().rem.max(1.0));
    let stack = memo(move || {
        let (columns, cell) = layout.get();
        let row_height = (cell.max(1.0) / ratio.get() + CAPTION_HEIGHT + GAP) * rem.get();
        Stack::uniform(size.div_ceil(columns.max(1)), row_height)
    });
    let overscan = if size <= MAX_WHOLE { usize::MAX } else { 1 };
    let list = WindowedList::new(seen, stack, overscan);
    let shown = memo(move || {
        let (rows, columns) = (list.range.get(), layout.read().0);
        rows.start * columns..size.min(rows.end * columns)
    });
    let item = move |at: usize| {
        let cell = cells.read().get(at)?.clone();
        let key = format!("{} {} {:?}", cell.index, cell.state, cell.picture);
        Some(Item::new(key, move || {
            view! {
                <li
                    aria-posinset=(at + 1).to_string()
                    aria-setsize=size.to_string()
                    style:top=text(move || px(stack.read().top(at / layout.read().0.max(1))))
                    class:apart=is_apart(shown, at)
                >
                    {item(&cell, context, ratio)}
                </li>
            }
            .into_any()
        }))
    };
    view! {
        <div
            class="thumbs-scroll"
            class:whole=size <= MAX_WHOLE
            node_ref=element
            style:--ratio=text(move || ratio.get().to_string())
        >
            <ul
                role="list"
                class="thumbs"
                aria-label="Items of the batch"
                style:--columns=text(move || layout.read().0.to_string())
                style:max-inline-size=text(move || {
                    let (columns, cell) = layout.get();
                    // Slightly wider than the columns, so that rounding does not make them narrower.
                    format!("{}rem", columns as f64 * (cell + GAP) - GAP + 0.01)
                })
                style:padding-top=list.space_before()
                style:padding-bottom=list.space_after()
            >
                {rows(shown, item)}
            </ul>
        </div>
    }
    .into_any()
}
