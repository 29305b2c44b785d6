use atelier_engine::plural::counted;
use icondata_lu::{LuDices, LuPlus, LuTable2};
use leptos::prelude::*;

use super::axes::{Axes, Doubled};
use super::axis::axis;
use super::base_hint::base_hint;
use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::view::batch::composer::{Composer, Offer};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::segment::segment;

/// Parameters as axes, combined.
pub fn sweep(composer: Composer) -> AnyView {
    let axes = Axes::new(composer);
    let planned = axes.planned();
    let count = move || planned.get().unwrap_or(0);
    let rows = move || {
        let ids: Vec<usize> = axes.written.read().iter().map(|axis| axis.id).collect();
        ids.into_iter()
            .map(|id| {
                let item = move || axis(axes.written, id, axes.schema());
                Item::new(id.to_string(), item)
            })
            .collect()
    };
    let is_own = {
        let seed = axes.held().map(|held| held.name().to_owned());
        move |name: &str| {
            let written = axes.written.read();
            seed.as_deref() == Some(name) || written.iter().any(|axis| axis.parameter == name)
        }
    };
    let seed = axes.held().map(|held| held.view(axes.is_swept));
    let has_rows = when(move || !composer.table.read().is_empty());
    let add = Callback::new(move |()| axes.try_add());
    let is_new = memo(move || axes.is_new());
    effect(move || {
        let items = if is_new.get() { count() } else { 0 };
        let offer = (items > 0).then_some(Offer { items, add });
        composer.offered.set(offer);
    });
    on_cleanup(move || {
        // Its form may be gone as well.
        composer.offered.try_set(None);
    });
    view! {
        <div class="sweep">
            {list(rows)}
            {more_axes(axes)}
            <p class="problem" role="status">
                {text(move || planned.get().err().unwrap_or_default())}
            </p>
            {seed}
            {base_hint(composer, is_own)}
            {dynamic(move || axes.doubled.get().map(|found| ask(axes, found)).into_any())}
            // The question has buttons of its own.
            <div class="row" hidden=when(move || axes.doubled.read().is_some())>
                <button
                    class="button quiet"
                    type="button"
                    prop:disabled=when(move || count() == 0 || axes.is_added.get())
                    on:click=handler(move |_| axes.try_add())
                >
                    <Glyph icon=LuTable2 />
                    {text(move || match axes.is_added.get() {
                        true => "In the table".to_owned(),
                        false => "Add to the table".to_owned(),
                    })}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get() || count() == 0)
                    on:click=handler(move |_| axes.add(true))
                >
                    "Replace the table"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Further axes, and how several are combined.
fn more_axes(axes: Axes) -> AnyView {
    let vary = axes.held().map(|held| {
        let vary = move |_| axes.push(held.name().to_owned(), held.several());
        view! {
            <button
                class="button quiet"
                type="button"
                hidden=axes.is_swept
                on:click=handler(vary)
            >
                <Glyph icon=LuDices />
                "Vary seed"
            </button>
        }
        .into_any()
    });
    let ways = [("Every combination", true), ("In pairs", false)].map(|(label, product)| {
        let is_chosen = when(move || axes.is_product.get() == product);
        segment("combine", label, is_chosen, move || {
            axes.is_product.set(product)
        })
    });
    view! {
        <div class="row">
            <button class="button quiet" type="button" on:click=handler(move |_| axes.push_free())>
                <Glyph icon=LuPlus />
                "Another axis"
            </button>
            {vary}
            <div
                class="segments"
                role="radiogroup"
                aria-label="Combine the axes"
                hidden=when(move || axes.written.read().len() < 2)
            >
                {ways}
            </div>
        </div>
    }
    .into_any()
}

/// What is to become of a sweep of which the table has some already.
fn ask(axes: Axes, found: Doubled) -> AnyView {
    let known = found.all - found.new.len();
    let sentence = match (known, found.new.is_empty()) {
        (1, true) => "This item is in the table already.".to_owned(),
        (n, true) => format!("All {n} items are in the table already."),
        (n, false) => format!("{n} of these {} are in the table already.", found.all),
    };
    let others = (!found.new.is_empty()).then(|| {
        let label = format!("Add the other {}", found.new.len());
        view! {
            <button
                class="button"
                type="button"
                on:click=handler(move |_| axes.add_new(&found.new))
            >
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
                <button class="button" type="button" on:click=handler(move |_| axes.add(false))>
                    {format!("Add {} once more", counted(found.all, "item"))}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    on:click=handler(move |_| axes.doubled.set(None))
                >
                    "Cancel"
                </button>
            </div>
        </div>
    }
    .into_any()
}
