//! The grid of model cards, grouped by category. Only rows near the screen are rendered.

use std::sync::Arc;

use atelier_contract::{Model, ModelList};
use atelier_studio::list::grouped_grid;
use atelier_studio::navigation::categories::{Categories, Group};
use leptos::html::Div;
use leptos::prelude::*;

use super::card::ModelCard;
use crate::reactive::boxed::memo;
use crate::view::parts::list::Item;
use crate::view::parts::px::px;
use crate::view::parts::viewport::{Viewport, viewport};
use crate::view::parts::windowed_list::WindowedList;

// The following sizes must match the style sheet.

/// Minimum width of a card, in `rem`.
const CARD_WIDTH: f64 = 17.0;
/// Minimum width of a card, as a fraction of the width of the grid.
const CARD_SHARE: f64 = 0.14;

/// The maximum number of columns is the number of cards in the largest category, but at least this.
const MIN_COLUMNS: usize = 3;
/// Height of a card, in `rem`.
const CARD_HEIGHT: f64 = 17.25;
const GAP: f64 = 1.25;
const ROW_HEIGHT: f64 = CARD_HEIGHT + GAP;
const HEADING_HEIGHT: f64 = 4.0;

#[component]
pub fn ModelGrid(
    all: Arc<ModelList>,
    categories: Arc<Categories>,
    found: Memo<Vec<Group>>,
    /// Whether `found` has just changed because the user is typing, and the list has not been scrolled since.
    is_new: RwSignal<bool>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let viewport = viewport(element);
    // Computed from all models, so that a search doesn't make the cards wider.
    let max_columns = categories.largest().max(MIN_COLUMNS);
    // The number of columns, and the size of one `rem` in px.
    let layout = memo(move || {
        let viewport = viewport.read();
        let rem = viewport.rem.max(1.0);
        let width = viewport.width / rem;
        let card = CARD_WIDTH
            .max(CARD_SHARE * width)
            .max(width / max_columns as f64 - GAP);
        (((width + GAP) / (card + GAP)).floor() as usize, rem)
    });
    let stack = memo(move || {
        let (columns, rem) = layout.get();
        let heights = (HEADING_HEIGHT * rem, ROW_HEIGHT * rem);
        grouped_grid::stack(sizes(&found.read()), columns, heights)
    });
    let last_viewport = RwSignal::new(Viewport::default());
    let visible = move || {
        found.track();
        let viewport = viewport.get();
        if last_viewport.get_untracked() != viewport {
            last_viewport.set(viewport);
            is_new.set(false);
        }
        // Each typed letter changes the cards. Until the list is scrolled, render only the rows on the screen and one more on
        // each side, which the focus or the pointer can reach first.
        match is_new.get_untracked() {
            true => {
                let (from, to) = viewport.on_screen();
                let row = ROW_HEIGHT * viewport.rem;
                (from - row, to + row)
            }
            false => (viewport.from, viewport.to),
        }
    };
    let list = WindowedList::with_range(visible, stack, 0);
    let row = move |at: usize| {
        let groups = found.read();
        let row = grouped_grid::row(sizes(&groups), layout.read().0, at)?;
        let group = &groups[row.group];
        let top = px(stack.read().top(at));
        Some(match row.cards {
            None => {
                let category = categories.names()[group.category].clone();
                let count = group.models.len();
                let key = format!("{top} {category} {count}");
                Item::new(key, move || heading(&top, category.clone(), count))
            }
            Some(cards) => {
                let models = group.models[cards].iter().map(|place| &all.models[*place]);
                let models: Vec<Model> = models.cloned().collect();
                let key = models
                    .iter()
                    .fold(top.clone(), |key, model| format!("{key}\n{}", model.id));
                Item::new(key, move || cards_of(&top, &models))
            }
        })
    };
    view! {
        <div
            class="grouped-grid"
            node_ref=element
            style:height=list.height()
            style:--most=max_columns.to_string()
        >
            {list.rows(row)}
        </div>
    }
}

/// Returns the number of cards of each group.
fn sizes(groups: &[Group]) -> impl Iterator<Item = usize> {
    groups.iter().map(|group| group.models.len())
}

fn heading(top: &str, category: String, count: usize) -> AnyView {
    view! {
        <div class="group-row" style:top=top.to_owned()>
            <h2 class="group-heading">
                {category}
                <span class="muted">{count}</span>
            </h2>
        </div>
    }
    .into_any()
}

fn cards_of(top: &str, models: &[Model]) -> AnyView {
    view! {
        <div class="group-row" style:top=top.to_owned()>
            <ul role="list" class="group-cards">
                {models.iter().map(|model| view! { <ModelCard model=model.clone() /> }.into_any()).collect_view()}
            </ul>
        </div>
    }
    .into_any()
}
