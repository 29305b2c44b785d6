use atelier_studio::compose::panel_items::{self, PanelItems};
use atelier_studio::compose::table::Placement;
use atelier_studio::navigation::route::Route;
use atelier_studio::text::plural::counted;
use icondata_lu::{LuDices, LuPlus, LuTable2};
use leptos::prelude::*;

use super::axes::{Axes, Duplicates};
use super::axis::axis;
use super::base_hint::{SINGLE_FORM, base_hint};
use crate::reactive::boxed::{derived, dynamic, effect, handler, memo, text, when};
use crate::view::batch::composer::{Composer, Offer};
use crate::view::batch::removed_rows::focus_on_items;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::segment::segment;

/// The panel that combines parameters as axes.
pub fn sweep(composer: Composer, axes: Axes) -> AnyView {
    let planned = axes.planned();
    let count = move || planned.get().unwrap_or(0);
    let rows = move || {
        let ids: Vec<usize> = axes.written.read().iter().map(|axis| axis.id).collect();
        ids.into_iter()
            .map(|id| {
                let item =
                    move || axis(axes.written, axes.is_product, axes.files, id, axes.schema());
                Item::new(id.to_string(), item)
            })
            .collect()
    };
    let is_set_by_panel = {
        let seed = axes.shared_seed().map(|seed| seed.name().to_owned());
        move |name: &str| {
            let written = axes.written.read();
            seed.as_deref() == Some(name) || written.iter().any(|axis| axis.parameter == name)
        }
    };
    let seed = axes.shared_seed().map(|seed| seed.view(axes.is_swept));
    let has_rows = when(move || !composer.table.read().is_empty());
    let add = Callback::new(move |()| axes.try_add());
    let replace = Callback::new(move |()| axes.add(Placement::ReplaceWaiting));
    let add_new = Callback::new(move |()| axes.add_new(&untrack(|| axes.new_rows())));
    let relation = memo(move || axes.relation());
    // Missing parameters are reported only if there are items to add.
    let missing_message = memo(move || match (count(), axes.missing()) {
        (0, _) => None,
        (_, names) if names.is_empty() => None,
        (_, names) => {
            let has_own_settings = axes.own_base.read().is_some();
            Some(panel_items::missing_message(&names, has_own_settings))
        }
    });
    effect(move || {
        let (offer, block_message) = match (relation.get(), missing_message.get()) {
            _ if axes.files.block_message().is_some() => (None, axes.files.block_message()),
            (PanelItems::InTable, _) if axes.is_sent() => (None, axes.sent_message()),
            (PanelItems::InTable, _) => (None, axes.no_items_message()),
            (_, Some(missing_message)) => (None, Some(missing_message)),
            (PanelItems::Only(_), None) => {
                (Some(Offer::all(axes.rows(), &axes.schema(), add)), None)
            }
            (PanelItems::Replacing(_), None) => {
                let offer = Offer::replacing(axes.rows(), &axes.schema(), replace);
                (Some(offer), None)
            }
            (PanelItems::Additional(_), None) => (
                Some(Offer::all(axes.new_rows(), &axes.schema(), add_new)),
                None,
            ),
        };
        composer.offered.set(offer);
        composer.block_message.set(block_message);
        composer
            .is_panel_added
            .set(relation.get() == PanelItems::InTable && count() > 0);
    });
    on_cleanup(move || {
        // The composer may already be disposed.
        composer.offered.try_set(None);
        composer.block_message.try_set(None);
        composer.is_panel_added.try_set(false);
    });
    let page = Route::Model(composer.schema().model.clone()).path();
    view! {
        <div class="sweep">
            {list(rows)}
            {more_axes(axes)}
            <p class="problem" role="status" prop:textContent=text(move || planned.get().err().unwrap_or_default())></p>
            {seed}
            <div class="row">
            {base_hint(text(move || base_source(axes)), derived(move || axes.base_of_all()), is_set_by_panel)}
            <button
                class="button quiet small"
                type="button"
                hidden=when(move || axes.own_base.read().is_none())
                on:click=handler(move |_| axes.own_base.set(None))
            >
                "Use values from One"
            </button>
            </div>
            <p class="hint" hidden=when(move || missing_message.read().is_none())>
                <span prop:textContent=text(move || missing_message.get().unwrap_or_default())></span>
                " "
                <a href=page>"Go to the form"</a>
            </p>
            {dynamic(move || axes.duplicates.get().map(|found| duplicates_question(axes, found)).into_any())}
            // Hidden while the question with its own buttons is shown.
            <div class="row" hidden=when(move || axes.duplicates.read().is_some())>
                <button
                    class="button quiet"
                    type="button"
                    prop:disabled=when(move || count() == 0 || axes.is_added.get() || missing_message.read().is_some())
                    on:click=handler(move |_| axes.try_add())
                >
                    <Glyph icon=LuTable2 />
                    <span prop:textContent=text(move || match axes.is_added.get() {
                        true => "In the table".to_owned(),
                        false => "Add to the table".to_owned(),
                    })></span>
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get() || count() == 0 || missing_message.read().is_some())
                    on:click=handler(move |_| axes.add(Placement::ReplaceAll))
                >
                    "Replace the table"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Returns the source of the inherited inputs, as named on the page.
fn base_source(axes: Axes) -> String {
    match axes.own_base.read().is_some() {
        true => "the batch".to_owned(),
        false => SINGLE_FORM.to_owned(),
    }
}

/// Buttons that add axes, and the choice how axes are combined.
fn more_axes(axes: Axes) -> AnyView {
    let vary = axes.shared_seed().map(|seed| {
        let vary = move |_| axes.vary(&seed);
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
    let modes = [
        ("Every combination", true),
        ("Pair values by position", false),
    ]
    .map(|(label, product)| {
        let is_chosen = when(move || axes.is_product.get() == product);
        segment("combine", label, is_chosen, move || {
            axes.is_product.set(product)
        })
    });
    view! {
        <div class="row">
            <button class="button quiet" type="button" on:click=handler(move |_| axes.push_unused())>
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
                {modes}
            </div>
        </div>
    }
    .into_any()
}

/// Asks what to do with a sweep if the table already has some of its items.
fn duplicates_question(axes: Axes, found: Duplicates) -> AnyView {
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
        // Every answer removes this note, so the focus moves to the table.
        <div
            class="note doubled"
            role="status"
            on:click=handler(|_: web_sys::MouseEvent| focus::when_lost(focus_on_items))
        >
            <p>{sentence}</p>
            <div class="row">
                {others}
                <button class="button" type="button" on:click=handler(move |_| axes.add(Placement::Append))>
                    {format!("Add {} once more", counted(found.all, "item"))}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    on:click=handler(move |_| axes.duplicates.set(None))
                >
                    "Cancel"
                </button>
            </div>
        </div>
    }
    .into_any()
}
