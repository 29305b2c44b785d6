use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::contexts::contexts;
use atelier_contract::{Model, ModelList};
use atelier_engine::categories::{Categories, Group};
use atelier_engine::grouped_grid::{GridItem, GroupedGrid};
use atelier_engine::model_order::order;
use atelier_engine::output::SafeUrl;
use atelier_engine::plural::counted;
use atelier_engine::route::Route;
use atelier_engine::search::{Query, Searchable};
use icondata_lu::{LuBookOpen, LuExternalLink, LuSearch};
use leptos::html::Div;
use leptos::prelude::*;

use super::parts::failure::Failure;
use super::parts::glyph::Glyph;
use super::parts::list::{Item, list};
use super::parts::viewport::viewport;
use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::catalog::Load;
use crate::model_order;

/// Sizes of the list in `rem`; the stylesheet has the same.
const CARD_WIDTH: f64 = 17.0;
const CARD_HEIGHT: f64 = 19.0;
const GAP: f64 = 1.25;
const HEADING_HEIGHT: f64 = 4.0;

/// Writing the URL waits until typing pauses: browsers limit how often it may change.
const URL_DELAY: Duration = Duration::from_millis(300);

/// `/`: every model of the service.
#[component]
pub fn ModelsPage() -> impl IntoView {
    let catalog = contexts().catalog;
    view! {
        <div class="page">
            {dynamic(move || match catalog.models() {
                Load::Loading => {
                    view! {
                        <h1>"Models"</h1>
                        <div class="skeletons" role="status" aria-label="Loading models">
                            {(0..6).map(|_| view! { <div class="skeleton"></div> }.into_any()).collect_view()}
                        </div>
                    }
                        .into_any()
                }
                Load::Failed(error) => {
                    view! {
                        <h1>"Models"</h1>
                        <Failure what="The models" error retry=Box::new(move || catalog.load_models()) />
                    }
                        .into_any()
                }
                Load::Loaded(list) => view! { <ModelBrowser list /> }.into_any(),
            })}
        </div>
    }
}

#[component]
fn ModelBrowser(list: Arc<ModelList>) -> impl IntoView {
    let navigation = contexts().navigation;
    let url_text = memo(move || navigation.query("q").unwrap_or_default());
    let category = memo(move || navigation.query("category"));
    let typed = RwSignal::new(url_text.get_untracked());
    // Back and forward change the URL: the field follows.
    effect(move || {
        let url = url_text.get();
        if url != typed.get_untracked().trim() {
            typed.set(url);
        }
    });
    // The typed letter is on the screen before what it finds.
    let sought = RwSignal::new(typed.get_untracked());
    effect(move || {
        typed.track();
        after_frame(move || {
            let text = typed.try_get_untracked().unwrap_or_default();
            if sought.try_with_untracked(|sought| *sought != text) == Some(true) {
                sought.set(text);
            }
        });
    });
    let mut write_url = leptos::leptos_dom::helpers::debounce(URL_DELAY, move |()| {
        let typed = typed.get_untracked();
        navigation.set_query("q", Some(typed.trim()).filter(|text| !text.is_empty()));
    });

    let categories = list.models.iter().map(|model| model.id.category.as_str());
    let categories = Arc::new(Categories::of(categories));
    let index = Arc::new(Index::of(list.clone()));
    let found = memo({
        let order = order(&list.models, &model_order::first());
        let (index, categories) = (index.clone(), categories.clone());
        move || {
            let query = Query::new(&sought.read());
            let wanted = category.get();
            if query.is_empty() {
                categories.group(wanted.as_deref(), order.iter().copied())
            } else {
                categories.group(wanted.as_deref(), query.find(index.items()))
            }
        }
    });
    let total = list.models.len();
    let unreadable = list.unreadable;
    let count = text(move || {
        let shown: usize = found.read().iter().map(|group| group.models.len()).sum();
        if shown == total {
            counted(total, "model")
        } else {
            format!("{shown} of {}", counted(total, "model"))
        }
    });
    let clear = move |_| {
        typed.set(String::new());
        navigation.set_query("q", None);
        navigation.set_query("category", None);
    };
    view! {
        <div class="page-head">
            <h1>"Models"</h1>
            <p class="muted" role="status">{count}</p>
        </div>
        {welcome(&list)}
        <div class="filters">
            <div class="search">
                <Glyph icon=LuSearch />
                <input
                    type="search"
                    aria-label="Search models"
                    placeholder="Search models"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=typed
                    on:focus=handler(move |_| {
                        index.items();
                    })
                    on:input=handler(move |event| {
                        typed.set(event_target_value(&event));
                        write_url(());
                    })
                />
            </div>
            <CategoryFilter categories=categories.clone() category />
        </div>
        {(unreadable > 0)
            .then(|| {
                view! {
                    <p class="muted">
                        {unreadable} " entries of the service's list could not be read."
                    </p>
                }.into_any()
            })}
        <ModelShelves all=list categories found />
        <div class="empty" hidden=when(move || !found.read().is_empty())>
            <p>
                {if total == 0 { "The service lists no models." } else { "No model matches." }}
            </p>
            <button class="button" type="button" hidden=total == 0 on:click=handler(clear)>
                "Show all models"
            </button>
        </div>
    }
}

/// Says to somebody who has made nothing yet what this is.
fn welcome(list: &ModelList) -> Option<AnyView> {
    let contexts = contexts();
    let makes_pictures = |model: &&Model| model.id.category.contains("image");
    let model = list.models.iter().find(makes_pictures)?.clone();
    let has_account = untrack(|| contexts.session.credentials()).is_some();
    if !model_order::first().is_empty() {
        return None;
    }
    let deferred = contexts.deferred;
    let make = move |_| {
        if let Some(program) = deferred.program() {
            (program.first_picture)(contexts, model.clone());
        }
    };
    let begin = has_account.then(|| {
        view! {
            <button
                class="button primary"
                type="button"
                prop:disabled=when(move || deferred.program().is_none())
                on:click=handler(make)
            >
                "Make a first picture"
            </button>
        }
        .into_any()
    });
    let panel = view! {
        <section class="panel welcome" aria-label="Welcome">
            <p class="welcome-what">
                "Say what you want to see or hear; a model makes it. All you make is found again under Tasks."
            </p>
            <div class="row">
                {begin} <span class="muted">
                    "Have an account at a service? " <a href="/settings">"Connect it in Settings"</a> "."
                </span>
            </div>
        </section>
    };
    Some(panel.into_any())
}

#[component]
fn CategoryFilter(categories: Arc<Categories>, category: Memo<Option<String>>) -> impl IntoView {
    let navigation = contexts().navigation;
    let option = move |value: Option<String>| {
        let label = value.clone().unwrap_or_else(|| "All".into());
        let checked = {
            let value = value.clone();
            when(move || category.get() == value)
        };
        view! {
            <label class="chip">
                <input
                    type="radio"
                    name="category"
                    prop:checked=checked
                    on:change=handler(move |_| navigation.set_query("category", value.as_deref()))
                />
                <span>{label}</span>
            </label>
        }
    };
    view! {
        <fieldset class="chips">
            <legend class="visually-hidden">"Category"</legend>
            {option(None)}
            {categories.names().iter().map(|category| option(Some(category.clone()))).collect_view()}
        </fieldset>
    }
}

/// What is searched, made when somebody is about to: the list itself does not need it.
struct Index {
    list: Arc<ModelList>,
    items: OnceLock<Vec<Searchable>>,
}

impl Index {
    fn of(list: Arc<ModelList>) -> Self {
        Self {
            list,
            items: OnceLock::new(),
        }
    }

    fn items(&self) -> &[Searchable] {
        let make = || self.list.models.iter().map(searchable).collect();
        self.items.get_or_init(make)
    }
}

/// The cards, of which only those near the screen exist.
#[component]
fn ModelShelves(
    all: Arc<ModelList>,
    categories: Arc<Categories>,
    found: Memo<Vec<Group>>,
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
        found.with(|groups| {
            grouped_grid
                .visible(seen.from, seen.to)
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

#[component]
fn ModelCard(model: Model) -> impl IntoView {
    let href = Route::Model(model.id.clone()).path();
    let name = model.display_name().to_owned();
    let hue = hue(&model.id.to_string());
    let address = contexts().session.settings_untracked().address;
    let link = |url: &str| SafeUrl::link(url, address.as_str()).map(|url| url.as_str().to_owned());
    // Until then, and without a picture, the card draws its own.
    let deferred = contexts().deferred;
    let card = StoredValue::new(model.clone());
    let art = dynamic(move || {
        let program = deferred.program();
        program
            .map(|program| (program.card)(card.get_value()))
            .into_any()
    });
    let documentation = link(&model.documentation).map(|url| {
        let label = format!("Documentation of {name}");
        view! {
            <a
                class="icon-button"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                aria-label=label
                title="Documentation"
            >
                <Glyph icon=LuBookOpen />
            </a>
        }
    });
    let preview = link(&model.preview).map(|url| {
        let label = format!("Preview of {name}");
        view! {
            <a
                class="icon-button"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                aria-label=label
                title="Preview"
            >
                <Glyph icon=LuExternalLink />
            </a>
        }
    });
    view! {
        <li class="card model-card" style:--hue=hue.to_string()>
            <div class="model-card-art">{art}</div>
            <div class="model-card-text">
                <h3>
                    <a class="cover" href=href>
                        {name}
                    </a>
                </h3>
                <p class="clamp">{model.description.clone()}</p>
            </div>
            <div class="model-card-foot">
                <code class="muted">{model.id.subcategory.clone()}</code>
                <span class="row tight">{documentation} {preview}</span>
            </div>
        </li>
    }
}

fn searchable(model: &Model) -> Searchable {
    Searchable::new([
        model.display_name(),
        &model.id.subcategory,
        &model.id.category,
        &model.description,
    ])
}

/// Whole pixels are exact enough, and print in a fraction of the code.
fn px(length: f64) -> String {
    format!("{}px", length as i64)
}

/// A hue in degrees that is the same for the same name: each model has its own colour.
fn hue(name: &str) -> u32 {
    let hash = name.bytes().fold(7_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    (hash.wrapping_mul(2_654_435_761) >> 7) % 360
}
