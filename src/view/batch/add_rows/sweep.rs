use atelier_contract::{Draft, Kind};
use atelier_engine::compose::sweep::{self, Axis, Combine};
use icondata_lu::{LuDices, LuPlus};
use leptos::prelude::*;

use super::axis::{Written, axis};
use super::base_hint;
use super::held_seed::HeldSeed;
use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::view::batch::composer::Composer;
use crate::view::batch::items;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::segment::segment;

/// Parameters as axes, combined.
pub fn sweep(composer: Composer) -> AnyView {
    let schema = composer.schema();
    let first = schema
        .parameters()
        .find(|(parameter, _)| parameter.kind() != Kind::Text)
        .or(schema.parameters().next())
        .map_or_else(String::new, |(parameter, _)| parameter.name.clone());
    let axes = RwSignal::new(vec![Written {
        id: 0,
        parameter: first,
        values: String::new(),
    }]);
    let is_product = RwSignal::new(true);
    let combine = move || {
        if is_product.get() {
            Combine::Product
        } else {
            Combine::Paired
        }
    };
    let planned = {
        let schema = schema.clone();
        memo(move || {
            let axes: Result<Vec<Axis>, String> =
                axes.read().iter().map(|axis| axis.read(&schema)).collect();
            // What is wrong with an axis stands at the axis.
            sweep::count(&axes.unwrap_or_default(), combine())
        })
    };
    let count = move || planned.get().unwrap_or(0);
    let held = HeldSeed::of(&schema, &composer.one.get_untracked());
    let is_swept = {
        let name = held.as_ref().map(|held| held.name().to_owned());
        when(move || {
            let axes = axes.read();
            axes.iter()
                .any(|axis| Some(&axis.parameter) == name.as_ref())
        })
    };
    let read = move || -> Result<Vec<Axis>, String> {
        let axes = axes.read_untracked();
        axes.iter()
            .map(|axis| axis.read(&composer.schema()))
            .collect()
    };
    let base = {
        let held = held.clone();
        move || {
            let mut base = composer.one.get_untracked();
            if let (Some(held), false) = (&held, is_swept.get_untracked()) {
                untrack(|| held.put_into(&mut base));
            }
            base
        }
    };
    let doubled = RwSignal::new(None::<Doubled>);
    effect(move || {
        axes.track();
        is_product.track();
        doubled.set(None);
    });
    let add = {
        let base = base.clone();
        move |replace: bool| {
            doubled.set(None);
            let base = base();
            composer.change(|table, schema| {
                if replace {
                    table.clear();
                }
                table.append_sweep(&base, &read()?, untrack(combine), schema)
            });
        }
    };
    // What the table has already is not added once more in silence: each item may cost money.
    let try_add = {
        let add = add.clone();
        move |_| {
            let rows = read().and_then(|axes| sweep::rows(&base(), &axes, untrack(combine)));
            let rows = rows.unwrap_or_default();
            match composer.table.with_untracked(|table| table.unknown(&rows)) {
                new if new.len() == rows.len() => add(false),
                new => doubled.set(Some(Doubled {
                    all: rows.len(),
                    new,
                })),
            }
        }
    };
    let more = {
        let schema = schema.clone();
        move |_| {
            axes.update(|axes| {
                let is_free = |name: &str| axes.iter().all(|axis| axis.parameter != name);
                let free = schema
                    .parameters()
                    .find(|(parameter, _)| is_free(&parameter.name));
                let id = axes.last().map_or(0, |axis| axis.id + 1);
                axes.push(Written {
                    id,
                    parameter: free.map_or_else(String::new, |(free, _)| free.name.clone()),
                    values: String::new(),
                });
            });
        }
    };
    let rows = move || {
        let ids: Vec<usize> = axes.read().iter().map(|axis| axis.id).collect();
        ids.into_iter()
            .map(|id| {
                let schema = schema.clone();
                Item::new(id.to_string(), move || axis(axes, id, schema.clone()))
            })
            .collect()
    };
    let once_more = Callback::new({
        let add = add.clone();
        move |()| add(false)
    });
    let vary = held.clone().map(|held| {
        let vary = move |_| {
            let (parameter, values) = (held.name().to_owned(), held.several());
            axes.update(|axes| {
                let id = axes.last().map_or(0, |axis| axis.id + 1);
                axes.push(Written {
                    id,
                    parameter,
                    values,
                });
            });
        };
        view! {
            <button class="button quiet" type="button" hidden=is_swept on:click=handler(vary)>
                <Glyph icon=LuDices />
                "Vary seed"
            </button>
        }
        .into_any()
    });
    let is_own = {
        let seed = held.as_ref().map(|held| held.name().to_owned());
        move |name: &str| {
            seed.as_deref() == Some(name) || axes.read().iter().any(|axis| axis.parameter == name)
        }
    };
    let seed = held.map(|held| held.view(is_swept));
    let has_rows = when(move || !composer.table.read().is_empty());
    view! {
        <div class="sweep">
            {list(rows)}
            <div class="row">
                <button class="button quiet" type="button" on:click=handler(more)>
                    <Glyph icon=LuPlus />
                    "Another axis"
                </button>
                {vary}
                <div
                    class="segments"
                    role="radiogroup"
                    aria-label="Combine the axes"
                    hidden=when(move || axes.read().len() < 2)
                >
                    {[("Every combination", true), ("In pairs", false)]
                        .map(|(label, product)| {
                            let is_chosen = when(move || is_product.get() == product);
                            segment("combine", label, is_chosen, move || is_product.set(product))
                        })}
                </div>
            </div>
            <p class="problem" role="status">
                {text(move || planned.get().err().unwrap_or_default())}
            </p>
            {seed}
            {base_hint(composer, is_own)}
            {dynamic(move || {
                doubled.get().map(|found| ask(composer, doubled, found, once_more)).into_any()
            })}
            <div class="row">
                <button
                    class="button"
                    type="button"
                    prop:disabled=when(move || count() == 0)
                    on:click=handler(try_add)
                >
                    {text(move || format!("Add {}", items(count())))}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get() || count() == 0)
                    on:click=handler(move |_| add(true))
                >
                    "Replace the table"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// A sweep of which the table has some already.
#[derive(Clone)]
struct Doubled {
    all: usize,
    new: Vec<Draft>,
}

/// What is to become of it.
fn ask(
    composer: Composer,
    doubled: RwSignal<Option<Doubled>>,
    found: Doubled,
    once_more: Callback<()>,
) -> AnyView {
    let known = found.all - found.new.len();
    let sentence = match (known, found.new.is_empty()) {
        (1, true) => "This item is in the table already.".to_owned(),
        (n, true) => format!("All {n} items are in the table already."),
        (n, false) => format!("{n} of these {} are in the table already.", found.all),
    };
    let others = (!found.new.is_empty()).then(|| {
        let label = format!("Add the other {}", found.new.len());
        let add = move |_| {
            doubled.set(None);
            composer.change(|table, schema| table.append(found.new.clone(), schema));
        };
        view! {
            <button class="button" type="button" on:click=handler(add)>
                {label}
            </button>
        }
        .into_any()
    });
    view! {
        <div class="note doubled" role="status">
            <p>{sentence}</p>
            <div class="row">
                {others}
                <button class="button" type="button" on:click=handler(move |_| once_more.run(()))>
                    {format!("Add {} once more", items(found.all))}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    on:click=handler(move |_| doubled.set(None))
                >
                    "Leave it"
                </button>
            </div>
        </div>
    }
    .into_any()
}
