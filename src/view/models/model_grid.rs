//! The cards, of which only those near the screen exist.

use std::sync::Arc;

use atelier_contract::{Model, ModelList};
use atelier_studio::list::grouped_grid::{GridItem, GroupedGrid};
use atelier_studio::navigation::categories::{Categories, Group};
use leptos::html::Div;
use leptos::prelude::*;

use super::card::ModelCard;
use crate::reactive::boxed::text;
use crate::view::parts::list::{Item, list};
use crate::view::parts::px::px;
use crate::view::parts::viewport::{Viewport, viewport};

/// Sizes of the list in `rem`; the stylesheet has the same.
const CARD_WIDTH: f64 = 17.0;
/// Nor is a card narrower than this share of the list.
const CARD_SHARE: f64 = 0.14;
/// There are no more columns than cards in the largest category, but at least these.
const FEW: usize = 3;
const CARD_HEIGHT: f64 = 17.25;
const GAP: f64 = 1.25;
const HEADING_HEIGHT: f64 = 4.0;

#[component]
pub fn ModelGrid(
    all: Arc<ModelList>,
    categories: Arc<Categories>,
    found: Memo<Vec<Group>>,
    /// What is found was sought just now: a key was pressed.
    is_new: RwSignal<bool>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    // Of all: a search makes no card wider.
    let most = categories.largest().max(FEW);
    let grouped_grid = move || {
        let seen = seen.get();
        let rem = seen.rem.max(1.0);
        let width = seen.width / rem;
        let card = CARD_WIDTH
            .max(CARD_SHARE * width)
            .max(width / most as f64 - GAP);
        GroupedGrid {
            groups: found
                .read()
                .iter()
                .map(|group| group.models.len())
                .collect(),
            columns: ((width + GAP) / (card + GAP)).floor() as usize,
            heading_height: HEADING_HEIGHT * rem,
            row_height: (CARD_HEIGHT + GAP) * rem,
        }
    };
    let last_seen = RwSignal::new(Viewport::default());
    let pieces = move || {
        let seen = seen.get();
        let grouped_grid = grouped_grid();
        if last_seen.get_untracked() != seen {
            last_seen.set(seen);
            is_new.set(false);
        }
        // Each key brings other cards. Until the list is scrolled those on the screen are enough, and a row to either
        // side of them: there the focus or the pointer goes first.
        let (from, to) = match is_new.get_untracked() {
            true => {
                let (from, to) = seen.on_screen();
                let row = grouped_grid.row_height;
                (from - row, to + row)
            }
            false => (seen.from, seen.to),
        };
        found.with(|groups| {
            grouped_grid
                .visible(from, to)
                .into_iter()
                .map(|piece| {
                    let shown = Shown::new(&all.models, &categories, groups, piece);
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
            style:--most=most.to_string()
        >
            {list(pieces)}
        </div>
    }
}

/// A piece of the list together with what it shows.
struct Shown {
    piece: GridItem,
    what: What,
}

enum What {
    Heading(String, usize),
    Cards(Vec<Model>),
}

impl Shown {
    fn new(models: &[Model], categories: &Categories, groups: &[Group], piece: GridItem) -> Self {
        let group = &groups[piece.group];
        let what = match piece.cards.clone() {
            None => {
                let category = categories.names()[group.category].clone();
                What::Heading(category, group.models.len())
            }
            Some(cards) => {
                let cards = group.models[cards].iter();
                What::Cards(cards.map(|place| models[*place].clone()).collect())
            }
        };
        Self { piece, what }
    }

    fn key(&self) -> String {
        let place = (self.piece.top as i64).to_string();
        match &self.what {
            What::Heading(category, count) => format!("{place} {category} {count}"),
            What::Cards(models) => models
                .iter()
                .fold(place, |key, model| format!("{key}\n{}", model.id)),
        }
    }

    fn view(&self) -> AnyView {
        let piece = match &self.what {
            What::Heading(category, count) => view! {
                <h2 class="group-heading">
                    {category.clone()}
                    <span class="muted">{*count}</span>
                </h2>
            }
            .into_any(),
            What::Cards(models) => view! {
                <ul role="list" class="group-cards">
                    {models.iter().map(|model| view! { <ModelCard model=model.clone() /> }.into_any()).collect_view()}
                </ul>
            }
            .into_any(),
        };
        view! {
            <div class="group-row" style:top=px(self.piece.top)>
                {piece}
            </div>
        }
        .into_any()
    }
}
