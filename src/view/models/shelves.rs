//! The cards, of which only those near the screen exist.

use std::sync::Arc;

use atelier_contract::{Model, ModelList};
use atelier_engine::categories::{Categories, Group};
use atelier_engine::grouped_grid::{GridItem, GroupedGrid};
use leptos::html::Div;
use leptos::prelude::*;

use super::card::ModelCard;
use crate::boxed::text;
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::viewport;

/// Sizes of the list in `rem`; the stylesheet has the same.
const CARD_WIDTH: f64 = 17.0;

const CARD_HEIGHT: f64 = 17.25;
const GAP: f64 = 1.25;
const HEADING_HEIGHT: f64 = 4.0;

#[component]
pub fn ModelShelves(
    all: Arc<ModelList>,
    categories: Arc<Categories>,
    found: Memo<Vec<Group>>,
    is_typing: RwSignal<bool>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    let grouped_grid = move || {
        let seen = seen.get();
        let rem = seen.rem.max(1.0);
        GroupedGrid {
            groups: found
                .read()
                .iter()
                .map(|group| group.models.len())
                .collect(),
            columns: ((seen.width / rem + GAP) / (CARD_WIDTH + GAP)).floor() as usize,
            heading_height: HEADING_HEIGHT * rem,
            row_height: (CARD_HEIGHT + GAP) * rem,
        }
    };
    let pieces = move || {
        let seen = seen.get();
        let grouped_grid = grouped_grid();
        let columns = grouped_grid.columns.max(1);
        // Each key brings other cards: those that scrolling would show come when typing pauses.
        let (from, to) = match is_typing.get() {
            true => seen.on_screen(),
            false => (seen.from, seen.to),
        };
        found.with(|groups| {
            grouped_grid
                .visible(from, to)
                .into_iter()
                .map(|piece| {
                    let shown = Shown::new(&all.models, &categories, groups, columns, piece);
                    Item::new(shown.key(), move || shown.view())
                })
                .collect()
        })
    };
    view! {
        <div
            class="grouped-grid"
            node_ref=element
            style:height=text(move || px(grouped_grid().height()))
        >
            {list(pieces)}
        </div>
    }
}

/// A piece of the list together with what it shows.
struct Shown {
    top: f64,
    what: What,
}

enum What {
    Heading(String, usize),
    Cards(usize, Vec<Model>),
}

impl Shown {
    fn new(
        models: &[Model],
        categories: &Categories,
        groups: &[Group],
        columns: usize,
        piece: GridItem,
    ) -> Self {
        match piece {
            GridItem::Heading { group, top } => {
                let Group { category, models } = &groups[group];
                let category = categories.names()[*category].clone();
                let what = What::Heading(category, models.len());
                Self { top, what }
            }
            GridItem::Row { group, cards, top } => {
                let cards = groups[group].models[cards].iter();
                let models = cards.map(|place| models[*place].clone()).collect();
                let what = What::Cards(columns, models);
                Self { top, what }
            }
        }
    }

    fn key(&self) -> String {
        let top = self.top as i64;
        match &self.what {
            What::Heading(category, count) => format!("{top} {category} {count}"),
            What::Cards(columns, models) => models
                .iter()
                .fold(format!("{top} {columns}"), |key, model| {
                    format!("{key}\n{}", model.id)
                }),
        }
    }

    fn view(&self) -> AnyView {
        let top = px(self.top);
        match &self.what {
            What::Heading(category, count) => view! {
                <h2 class="group-heading" style:top=top>
                    {category.clone()}
                    <span class="muted">{*count}</span>
                </h2>
            }
            .into_any(),
            What::Cards(columns, models) => view! {
                <ul role="list" class="group-row" style:top=top style:--columns=columns.to_string()>
                    {models.iter().map(|model| view! { <ModelCard model=model.clone() /> }.into_any()).collect_view()}
                </ul>
            }
            .into_any(),
        }
    }
}

/// Whole pixels are exact enough, and print in a fraction of the code.
fn px(length: f64) -> String {
    format!("{}px", length as i64)
}
