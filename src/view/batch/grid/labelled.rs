//! The items of a sweep in the cells of a table: one axis downwards, one to the right, and of more axes one such grid for
//! each value, below each other.

use std::sync::Arc;

use atelier_studio::batch::blocks::{Blocks, Heading};
use atelier_studio::batch::labelled_grid::{self, Measures};
use atelier_studio::list::window::{Stack, groups, in_group};
use atelier_studio::text::diff::distinguishing_parts;
use leptos::html::Div;
use leptos::prelude::*;

use super::{MAX_WHOLE, head};
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::view::batch::item::{Around, item};
use crate::view::batch::thumb::Thumb;
use crate::view::parts::list::Item;
use crate::view::parts::viewport::{left_in_pane, scrolled};
use crate::view::parts::windowed_list::{WindowedList, is_apart, rows};

/// What its lines need to know.
#[derive(Clone)]
struct Grid {
    blocks: Arc<Blocks>,
    /// Where in the batch the item of a cell is; rows that were not sent have none.
    places: Arc<Vec<Option<usize>>>,
    /// Of each row what tells its name from the others, and of each column.
    rows_told: Arc<Vec<String>>,
    columns_told: Arc<Vec<String>>,
    /// All of it is there, and scrolls with the page: each of several grids has the names of the columns above it.
    is_whole: bool,
    cells: Memo<Vec<Thumb>>,
    around: Around,
    measures: Memo<Measures>,
    /// How wide the visible part of the table is, in `rem`.
    width: Memo<f64>,
    list: WindowedList,
}

impl Grid {
    /// Whether the names of the columns stand above each of its grids.
    fn is_named_each(&self) -> bool {
        self.is_whole && !self.blocks.headings.is_empty()
    }
}

pub fn labelled(cells: Memo<Vec<Thumb>>, blocks: Arc<Blocks>, around: Around) -> AnyView {
    let shapes = around.shapes;
    let element = NodeRef::<Div>::new();
    let (seen, left) = (scrolled(element), left_in_pane(element));
    let labels = &blocks.labels;
    let columns = labels.columns.values.len().max(1);
    let (rows_count, blocks_count) = (labels.rows.values.len(), blocks.headings.len().max(1));
    let count = rows_count * columns * blocks_count;
    let width = memo(move || {
        let seen = seen.read();
        seen.width / seen.rem.max(1.0)
    });
    let measures = memo({
        let blocks = blocks.clone();
        move || {
            let room = left.read().to / seen.read().rem.max(1.0);
            labelled_grid::measures(width.get(), room, &blocks, &shapes.read())
        }
    });
    let has_headings = !blocks.headings.is_empty();
    let in_block = blocks.lines();
    let rem = memo(move || seen.read().rem.max(1.0));
    let stack = memo(move || {
        let (measures, rem) = (measures.read(), rem.get());
        let mut stack = Stack::default();
        for _ in 0..blocks_count {
            if has_headings {
                stack.push(1, measures.heading * rem);
            }
            stack.push(rows_count, measures.row * rem);
        }
        stack
    });
    let overscan = if count <= MAX_WHOLE { usize::MAX } else { 1 };
    let list = WindowedList::new(seen, stack, overscan);
    let goes_on = RwSignal::new(false);
    let look = move || {
        if let Some(element) = element.try_get_untracked().flatten() {
            let end = element.scroll_left() + element.client_width();
            goes_on.set(end + 1 < element.scroll_width());
        }
    };
    effect(move || {
        measures.track();
        seen.track();
        after_frame(look);
    });
    let mut places = vec![None; count];
    for (index, cell) in labels.cells.iter().enumerate() {
        if let Some(place) = places.get_mut(*cell) {
            *place = Some(index);
        }
    }
    let grid = Grid {
        places: Arc::new(places),
        rows_told: Arc::new(distinguishing_parts(&labels.rows.values)),
        columns_told: Arc::new(distinguishing_parts(&labels.columns.values)),
        is_whole: count <= MAX_WHOLE,
        blocks: blocks.clone(),
        cells,
        around,
        measures,
        width,
        list,
    };
    // What the axes are is said above, where their values alone have room next to each other.
    let is_narrow = memo(move || measures.read().is_narrow);
    let is_wide = memo(move || !is_narrow.get());
    let names = (!grid.is_named_each()).then(|| view! { <thead>{names(&grid)}</thead> }.into_any());
    let in_sight = memo(move || groups(&list.range.read(), in_block));
    let item = move |at: usize| {
        let grid = grid.clone();
        (at < blocks_count).then(|| Item::new(at.to_string(), move || block(&grid, at)))
    };
    view! {
        <div
            class="thumbs-scroll"
            class:whole=count <= MAX_WHOLE
            class:goes-on=when(move || goes_on.get())
            on:scroll=handler(move |_| look())
            node_ref=element
            tabindex="0"
            role="region"
            aria-label="Items of the batch"
            style:--head=text(move || format!("{}rem", measures.read().head))
            style:--row=text(move || format!("{}rem", measures.read().row))
            style:--heading=text(move || format!("{}rem", measures.read().heading))
        >
            <table class="thumbs-table">
                <caption class:visually-hidden=is_wide>{caption(&blocks)}</caption>
                {names}
                <tbody>{WindowedList::space_row(list.space_before())}</tbody>
                {rows(in_sight, item)}
                <tbody>{WindowedList::space_row(list.space_after())}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// `time down, mist across`
fn caption(blocks: &Blocks) -> String {
    let labels = &blocks.labels;
    format!(
        "{} down, {} across",
        labels.rows.parameter, labels.columns.parameter
    )
}

/// How wide the pictures of a column are, in `rem`, and their shape.
fn column(measures: Memo<Measures>, at: usize) -> (f64, f64) {
    let measures = measures.read();
    measures.columns.get(at).copied().unwrap_or((0.0, 1.0))
}

fn cell_width(measures: Memo<Measures>, at: usize) -> Signal<String> {
    text(move || format!("{}rem", column(measures, at).0))
}

/// One of the grids, of which only the lines in sight are built: a heading is that of the rows next to it.
fn block(grid: &Grid, at: usize) -> AnyView {
    let grid = grid.clone();
    let heading_of = grid.blocks.headings.get(at);
    let label = heading_of.map(|it| format!("{} {}", it.parameter, it.value));
    let (in_block, count) = (grid.blocks.lines(), grid.blocks.labels.rows.values.len());
    let shown = memo(move || in_group(&grid.list.range.read(), in_block, at));
    let line = move |line: usize| {
        let grid = grid.clone();
        let row = line
            .checked_sub(at * in_block)
            .filter(|row| *row < in_block)?;
        Some(Item::new(line.to_string(), move || {
            match row.checked_sub(in_block - count) {
                Some(row) => row_of(&grid, line, at * count + row, row),
                None => heading(&grid, line, &grid.blocks.headings[at]),
            }
        }))
    };
    view! { <tbody aria-label=label>{rows(shown, line)}</tbody> }.into_any()
}

/// What the columns are called.
fn names(grid: &Grid) -> AnyView {
    let measures = grid.measures;
    let labels = &grid.blocks.labels;
    let parameter = labels.columns.parameter.clone();
    // What the axes are is said above, where their values alone have room next to each other.
    let is_narrow = memo(move || measures.read().is_narrow);
    let named = labels
        .columns
        .values
        .iter()
        .zip(&*grid.columns_told)
        .enumerate();
    let named = named
        .map(|(at, (value, told))| {
            let room = memo(move || (column(measures, at).0, labelled_grid::COLUMN_LINES));
            let name = head::name(parameter.clone(), value.clone(), told.clone(), room);
            // Far from the corner it is still said of what.
            view! {
                <th scope="col" style:--cell=cell_width(measures, at)>
                    <span class="column-name" class:visually-hidden=is_narrow>{parameter.clone()}" "</span>
                    {name}
                </th>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <tr class="names" translate="no">
            <th scope="col" class="corner">
                <span class:visually-hidden=is_narrow>{labels.rows.parameter.clone()}</span>
            </th>
            {named}
        </tr>
    }
    .into_any()
}

/// What a grid has in common.
fn heading(grid: &Grid, line: usize, heading: &Heading) -> AnyView {
    let Heading {
        parameter,
        value,
        excerpt: told,
    } = heading.clone();
    let columns = grid.blocks.labels.columns.values.len() + 1;
    let names = grid.is_named_each().then(|| names(grid));
    let (width, measures, list) = (grid.width, grid.measures, grid.list);
    let beside = labelled_grid::width_of(&parameter);
    let room = memo(move || {
        let lines = labelled_grid::heading_lines(measures.read().heading);
        (width.get() - beside, lines)
    });
    view! {
        <tr class="block" translate="no" style:top=list.top(line) class:apart=is_apart(list.range, line)>
            <th scope="rowgroup" colspan=columns.to_string()>
                <div style:max-inline-size=text(move || format!("{}rem", width.get()))>
                    <span class="block-name">{parameter.clone()}" "</span>
                    {head::name(parameter, value, told, room)}
                </div>
            </th>
        </tr>
        {names}
    }
    .into_any()
}

/// `at`: among the rows of all grids; `row`: in its own.
fn row_of(grid: &Grid, line: usize, at: usize, row: usize) -> AnyView {
    let Grid {
        cells,
        around,
        measures,
        list,
        ..
    } = *grid;
    let labels = &grid.blocks.labels;
    let columns = labels.columns.values.len().max(1);
    let label = labels.rows.values.get(row).cloned().unwrap_or_default();
    let parameter = labels.rows.parameter.clone();
    let told = grid.rows_told.get(row).cloned().unwrap_or_default();
    let room = memo(move || {
        let measures = measures.read();
        (measures.head, labelled_grid::row_lines(measures.row))
    });
    let in_row = (0..columns)
        .map(|nth| {
            let index = grid.places.get(at * columns + nth).copied().flatten();
            let cell = memo(move || index.and_then(|index| cells.read().get(index).cloned()));
            let frame = memo(move || column(measures, nth).1);
            let item = move |cell: &Thumb| item(cell, around, frame);
            view! {
                <td
                    style:--cell=cell_width(measures, nth)
                    style:--ratio=text(move || frame.get().to_string())
                >
                    {dynamic(move || cell.read().as_ref().map(item).into_any())}
                </td>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <tr style:top=list.top(line) class:apart=is_apart(list.range, line)>
            <th scope="row" translate="no">{head::name(parameter, label, told, room)}</th>
            {in_row}
        </tr>
    }
    .into_any()
}
