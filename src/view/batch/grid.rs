use std::sync::Arc;

use atelier_engine::compose::sweep::GridLabels;
use atelier_engine::item_grid::{self, GAP};
use atelier_engine::labelled_grid;
use atelier_engine::output::OutputKind;
use atelier_engine::route::Route;
use atelier_engine::window::Grid;
use atelier_engine::{Task, TaskState};
use leptos::html::Div;
use leptos::prelude::*;

use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::view::parts::list::{Item, list};
use crate::view::parts::media::MediaView;
use crate::view::parts::viewport::{self, scrolled};
use crate::view::task::words::why_unconfirmed;

/// In `rem`; the stylesheet has the same.
const CAPTION_HEIGHT: f64 = 1.75;

/// One item as the grid shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// From 0.
    pub index: usize,
    /// What its colour goes by.
    pub phase: String,
    /// Its state as a word.
    pub state: String,
    pub title: String,
    /// What went wrong.
    pub note: String,
    pub picture: Option<(String, OutputKind)>,
    /// Outputs beside the one that is shown.
    pub more: usize,
    pub href: Option<String>,
}

impl Cell {
    /// `None`: its task was removed. `title`: what it is called among the others.
    pub fn of(index: usize, task: Option<&Task>, title: String) -> Self {
        let Some(task) = task else {
            return Self {
                index,
                phase: "removed".into(),
                state: "Removed".into(),
                title,
                note: "No longer in this browser.".into(),
                picture: None,
                more: 0,
                href: None,
            };
        };
        let outputs: &[String] = match &task.state {
            TaskState::Ready { outputs, .. } => outputs,
            _ => &[],
        };
        let kind = |url: &String| task.output_kind(url);
        Self {
            index,
            phase: match task.taken_back {
                true => "removed".into(),
                false => task.state.phase().word().into(),
            },
            state: task.label().into(),
            title,
            note: match &task.state {
                TaskState::Failed { message, .. } => message.clone(),
                _ => why_unconfirmed(task).unwrap_or_default(),
            },
            picture: outputs.first().map(|url| (url.clone(), kind(url))),
            more: outputs.len().saturating_sub(1),
            href: Some(Route::Task(task.key.clone()).path()),
        }
    }
}

/// The items of a batch, filling in. Only those in sight are built. `ratio`: of width to height of every
/// picture.
pub fn grid(
    cells: Memo<Vec<Cell>>,
    size: usize,
    labels: Option<GridLabels>,
    ratio: Memo<f64>,
) -> AnyView {
    match labels {
        Some(labels) => {
            let labels = labelled_grid::laid(labels, viewport::page_width());
            labelled(cells, Arc::new(labels), ratio)
        }
        None => plain(cells, size, ratio),
    }
}

fn plain(cells: Memo<Vec<Cell>>, size: usize, ratio: Memo<f64>) -> AnyView {
    let element = NodeRef::<Div>::new();
    let seen = scrolled(element);
    let window = memo(move || {
        let seen = seen.get();
        let rem = seen.rem.max(1.0);
        let width = seen.width / rem;
        let columns = item_grid::columns(width, size, ratio.get());
        let cell = (width - GAP * (columns - 1) as f64) / columns as f64;
        let grid = Grid {
            items: size,
            columns,
            row_height: (cell.max(1.0) / ratio.get() + CAPTION_HEIGHT + GAP) * rem,
        };
        let window = grid.window(seen.from, seen.to - seen.from, 1);
        (columns, window.items, window.top, window.bottom)
    });
    let items = move || {
        let (_, shown, ..) = window.get();
        let cells = cells.read();
        let shown = cells.get(shown).unwrap_or_default().iter().cloned();
        shown
            .map(|cell| {
                let key = format!("{} {} {:?}", cell.index, cell.state, cell.picture);
                Item::new(key, move || {
                    view! {
                        <li
                            aria-posinset=(cell.index + 1).to_string()
                            aria-setsize=size.to_string()
                        >
                            {thumb(&cell)}
                        </li>
                    }
                    .into_any()
                })
            })
            .collect()
    };
    view! {
        <div
            class="thumbs-scroll"
            node_ref=element
            style:--ratio=text(move || ratio.get().to_string())
        >
            <ul
                role="list"
                class="thumbs"
                aria-label="Items of the batch"
                style:--columns=text(move || window.read().0.to_string())
                style:padding-top=text(move || px(window.read().2))
                style:padding-bottom=text(move || px(window.read().3))
            >
                {list(items)}
            </ul>
        </div>
    }
    .into_any()
}

/// A sweep over two axes: one downwards, one to the right.
fn labelled(cells: Memo<Vec<Cell>>, labels: Arc<GridLabels>, ratio: Memo<f64>) -> AnyView {
    let element = NodeRef::<Div>::new();
    let seen = scrolled(element);
    let columns = labels.columns.values.len().max(1);
    let rows = labels.rows.values.len();
    let measures = memo({
        let labels = labels.clone();
        move || {
            let seen = seen.read();
            labelled_grid::measures(seen.width / seen.rem.max(1.0), &labels, ratio.get())
        }
    });
    let window = memo(move || {
        let seen = seen.get();
        let grid = Grid {
            items: rows,
            columns: 1,
            row_height: measures.get().row * seen.rem.max(1.0),
        };
        let window = grid.window(seen.from, seen.to - seen.from, 1);
        (window.items, window.top, window.bottom)
    });
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
    // Where in the batch the item of a cell is; rows that were not sent have none.
    let mut places = vec![None; rows * columns];
    for (index, cell) in labels.cells.iter().enumerate() {
        if let Some(place) = places.get_mut(*cell) {
            *place = Some(index);
        }
    }
    let places = Arc::new(places);
    let head = labels
        .columns
        .values
        .iter()
        .map(|value| {
            // Far from the corner it is still said of what.
            view! {
                <th scope="col">
                    <span class="column-name">{labels.columns.parameter.clone()}" "</span>
                    {value.clone()}
                </th>
            }
            .into_any()
        })
        .collect_view();
    let caption = format!(
        "Rows: {}. Columns: {}.",
        labels.rows.parameter, labels.columns.parameter
    );
    let corner = labels.rows.parameter.clone();
    let items = move || {
        let (shown, ..) = window.get();
        let (labels, places) = (labels.clone(), places.clone());
        shown
            .map(|row| {
                let (labels, places) = (labels.clone(), places.clone());
                Item::new(row.to_string(), move || {
                    let label = labels.rows.values.get(row).cloned();
                    let places = places.clone();
                    let in_row = (0..columns)
                        .map(|column| {
                            let index = places.get(row * columns + column).copied().flatten();
                            let cell = memo(move || {
                                index.and_then(|index| cells.read().get(index).cloned())
                            });
                            view! {
                                <td>
                                    {dynamic(move || cell.read().as_ref().map(thumb).into_any())}
                                </td>
                            }
                            .into_any()
                        })
                        .collect_view();
                    view! {
                        <tr>
                            <th scope="row">{label}</th>
                            {in_row}
                        </tr>
                    }
                    .into_any()
                })
            })
            .collect()
    };
    view! {
        <div
            class="thumbs-scroll"
            class:goes-on=when(move || goes_on.get())
            on:scroll=handler(move |_| look())
            node_ref=element
            tabindex="0"
            role="region"
            aria-label="Items of the batch"
            style:--head=text(move || format!("{}rem", measures.get().head))
            style:--cell=text(move || format!("{}rem", measures.get().cell))
            style:--row=text(move || format!("{}rem", measures.get().row))
            style:--ratio=text(move || ratio.get().to_string())
        >
            <table class="thumbs-table">
                <caption class="visually-hidden">{caption}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="corner">
                            {corner}
                        </th>
                        {head}
                    </tr>
                </thead>
                <tbody>
                    <tr class="room" aria-hidden="true">
                        <td style:height=text(move || px(window.read().1))></td>
                    </tr>
                    {list(items)}
                    <tr class="room" aria-hidden="true">
                        <td style:height=text(move || px(window.read().2))></td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// An item: its first output where there is one, else its state. What is read there beside its words is drawn: it is
/// in the label, in another order.
fn thumb(cell: &Cell) -> AnyView {
    let number = cell.index + 1;
    let title = match cell.note.as_str() {
        "" => cell.title.clone(),
        note => format!("{}: {note}", cell.title),
    };
    // In the order of what is to be seen, so that who speaks to the page can say that.
    let label = format!("Item {number}: {}, {}", cell.title, cell.state);
    let inside = match &cell.picture {
        Some((url, kind)) => {
            view! { <MediaView url=url.clone() kind=*kind label="" thumbnail=true /> }.into_any()
        }
        None => view! {
            <span class="thumb-state drawn" data-text=cell.state.clone()></span>
            <span class="thumb-note drawn" data-text=cell.note.clone()></span>
        }
        .into_any(),
    };
    let more = (cell.more > 0).then(|| {
        view! { <span class="more drawn" data-text=format!("+{}", cell.more)></span> }.into_any()
    });
    let (phase, words) = (cell.phase.clone(), cell.title.clone());
    let content = view! {
        <span class="thumb-picture" aria-hidden="true">
            {inside} {more}
        </span>
        <span class="thumb-caption" aria-hidden="true">
            <span class="thumb-number drawn" data-text=number.to_string()></span>
            <span class="thumb-title">{words}</span>
        </span>
    };
    match cell.href.clone() {
        Some(href) => view! {
            <a class="thumb" href=href aria-label=label title=title data-phase=phase>
                {content}
            </a>
        }
        .into_any(),
        None => view! {
            <div class="thumb" role="img" aria-label=label title=title data-phase=phase>
                {content}
            </div>
        }
        .into_any(),
    }
}

fn px(length: f64) -> String {
    format!("{}px", length as i64)
}
