//! The items of a sweep as a table with one axis down and one across. With more axes, there is one such grid for each
//! combination of the other values, stacked vertically.

use std::sync::Arc;

use atelier_studio::batch::blocks::{Blocks, Heading};
use atelier_studio::batch::labelled_grid::{self, Measures};
use atelier_studio::list::window::{Stack, groups, lines_in_group};
use atelier_studio::text::diff::distinguishing_parts;
use leptos::html::Div;
use leptos::prelude::*;

use super::{MAX_WHOLE, head};
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::view::batch::item::{ItemContext, item};
use crate::view::batch::thumb::Thumb;
use crate::view::parts::list::Item;
use crate::view::parts::viewport::{free_height_in_pane, scrolled};
use crate::view::parts::windowed_list::{WindowedList, is_apart, rows};

/// The data that the lines of the table share.
#[derive(Clone)]
struct Grid {
    blocks: Arc<Blocks>,
    /// The position of each cell's item in the batch; `None` for rows that were not sent.
    places: Arc<Vec<Option<usize>>>,
    /// Excerpts of the row headings that distinguish them from each other.
    row_excerpts: Arc<Vec<String>>,
    /// The same for the column headings.
    column_excerpts: Arc<Vec<String>>,
    /// Whether everything is built and scrolls with the page, see [`MAX_WHOLE`]. Each grid then has its own column headings.
    is_whole: bool,
    cells: Memo<Vec<Thumb>>,
    context: ItemContext,
    measures: Memo<Measures>,
    /// The width of the visible part of the table, in `rem`.
    width: Memo<f64>,
    list: WindowedList,
}

impl Grid {
    /// Whether each grid has its own column headings.
    fn repeats_names(&self) -> bool {
        self.is_whole && !self.blocks.headings.is_empty()
    }
}

pub fn labelled(cells: Memo<Vec<Thumb>>, blocks: Arc<Blocks>, context: ItemContext) -> AnyView {
    let shapes = context.shapes;
    let element = NodeRef::<Div>::new();
    let (seen, left) = (scrolled(element), free_height_in_pane(element));
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
            let space = left.read().to / seen.read().rem.max(1.0);
            labelled_grid::measures(width.get(), space, &blocks, &shapes.read())
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
    let has_overflow = RwSignal::new(false);
    let update_overflow = move || {
        if let Some(element) = element.try_get_untracked().flatten() {
            let end = element.scroll_left() + element.client_width();
            has_overflow.set(end + 1 < element.scroll_width());
        }
    };
    effect(move || {
        measures.track();
        seen.track();
        after_frame(update_overflow);
    });
    let mut places = vec![None; count];
    for (index, cell) in labels.cells.iter().enumerate() {
        if let Some(place) = places.get_mut(*cell) {
            *place = Some(index);
        }
    }
    let grid = Grid {
        places: Arc::new(places),
        row_excerpts: Arc::new(distinguishing_parts(&labels.rows.values)),
        column_excerpts: Arc::new(distinguishing_parts(&labels.columns.values)),
        is_whole: count <= MAX_WHOLE,
        blocks: blocks.clone(),
        cells,
        context,
        measures,
        width,
        list,
    };
    // In a narrow table, the caption names the axes and the headings show only the values.
    let is_narrow = memo(move || measures.read().is_narrow);
    let is_wide = memo(move || !is_narrow.get());
    let names = (!grid.repeats_names()).then(|| view! { <thead>{names(&grid)}</thead> }.into_any());
    let in_sight = memo(move || groups(&list.range.read(), in_block));
    let item = move |at: usize| {
        let grid = grid.clone();
        (at < blocks_count).then(|| Item::new(at.to_string(), move || block(&grid, at)))
    };
    view! {
        <div
            class="thumbs-scroll"
            class:whole=count <= MAX_WHOLE
            class:goes-on=when(move || has_overflow.get())
            on:scroll=handler(move |_| update_overflow())
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

/// Returns a caption such as `time down, mist across`.
fn caption(blocks: &Blocks) -> String {
    let labels = &blocks.labels;
    format!(
        "{} down, {} across",
        labels.rows.parameter, labels.columns.parameter
    )
}

/// Returns the width of the pictures in a column, in `rem`, and their aspect ratio.
fn column(measures: Memo<Measures>, at: usize) -> (f64, f64) {
    let measures = measures.read();
    measures.columns.get(at).copied().unwrap_or((0.0, 1.0))
}

fn cell_width(measures: Memo<Measures>, at: usize) -> Signal<String> {
    text(move || format!("{}rem", column(measures, at).0))
}

/// One of the stacked grids, as a `tbody`, so that its heading belongs to its rows. Only visible lines are built.
fn block(grid: &Grid, at: usize) -> AnyView {
    let grid = grid.clone();
    let heading_of = grid.blocks.headings.get(at);
    let label = heading_of.map(|it| format!("{} {}", it.parameter, it.value));
    let (in_block, count) = (grid.blocks.lines(), grid.blocks.labels.rows.values.len());
    let shown = memo(move || lines_in_group(&grid.list.range.read(), in_block, at));
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

/// The row of column headings.
fn names(grid: &Grid) -> AnyView {
    let measures = grid.measures;
    let labels = &grid.blocks.labels;
    let parameter = labels.columns.parameter.clone();
    // In a narrow table, the caption names the axes and the headings show only the values.
    let is_narrow = memo(move || measures.read().is_narrow);
    let named = labels
        .columns
        .values
        .iter()
        .zip(&*grid.column_excerpts)
        .enumerate();
    let named = named
        .map(|(at, (value, excerpt))| {
            let space = memo(move || (column(measures, at).0, labelled_grid::COLUMN_LINES));
            let name = head::name(parameter.clone(), value.clone(), excerpt.clone(), space);
            // Each heading has the name of the parameter, because the corner may be scrolled out of view.
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

/// The heading of one of the stacked grids: the value that its items share.
fn heading(grid: &Grid, line: usize, heading: &Heading) -> AnyView {
    let Heading {
        parameter,
        value,
        excerpt,
    } = heading.clone();
    let columns = grid.blocks.labels.columns.values.len() + 1;
    let names = grid.repeats_names().then(|| names(grid));
    let (width, measures, list) = (grid.width, grid.measures, grid.list);
    let name_width = labelled_grid::width_of(&parameter);
    let space = memo(move || {
        let lines = labelled_grid::heading_lines(measures.read().heading);
        (width.get() - name_width, lines)
    });
    view! {
        <tr class="block" translate="no" style:top=list.top(line) class:apart=is_apart(list.range, line)>
            <th scope="rowgroup" colspan=columns.to_string()>
                <div style:max-inline-size=text(move || format!("{}rem", width.get()))>
                    <span class="block-name">{parameter.clone()}" "</span>
                    {head::name(parameter, value, excerpt, space)}
                </div>
            </th>
        </tr>
        {names}
    }
    .into_any()
}

/// A row of a grid. `line`: its position among all lines. `at`: its position among the rows of all grids. `row`: its
/// position in its own grid.
fn row_of(grid: &Grid, line: usize, at: usize, row: usize) -> AnyView {
    let Grid {
        cells,
        context,
        measures,
        list,
        ..
    } = *grid;
    let labels = &grid.blocks.labels;
    let columns = labels.columns.values.len().max(1);
    let label = labels.rows.values.get(row).cloned().unwrap_or_default();
    let parameter = labels.rows.parameter.clone();
    let excerpt = grid.row_excerpts.get(row).cloned().unwrap_or_default();
    let space = memo(move || {
        let measures = measures.read();
        (measures.head, labelled_grid::row_lines(measures.row))
    });
    let in_row = (0..columns)
        .map(|nth| {
            let index = grid.places.get(at * columns + nth).copied().flatten();
            let cell = memo(move || index.and_then(|index| cells.read().get(index).cloned()));
            let frame = memo(move || column(measures, nth).1);
            let item = move |cell: &Thumb| item(cell, context, frame);
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
            <th scope="row" translate="no">{head::name(parameter, label, excerpt, space)}</th>
            {in_row}
        </tr>
    }
    .into_any()
}
