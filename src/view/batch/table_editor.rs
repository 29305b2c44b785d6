use atelier_studio::compose::fill_method::FillMethod;
use atelier_studio::compose::table::Table;
use atelier_studio::compose::table::shared_inputs::shared_inputs_message;
use atelier_studio::list::window::Stack;
use icondata_lu::{LuCopyPlus, LuPlus, LuTrash2, LuX};
use leptos::html::Div;
use leptos::prelude::*;

use super::aside_rows::aside_rows;
use super::cell::{Excerpts, cell};
use super::composer::Composer;
use super::dropped_files;
use super::keeping::keeping;
use super::place::sent_rows;
use super::removed_rows::focus_on_items;
use super::row_state::row_state;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::into_view::into_view;
use crate::view::parts::list::Item;
use crate::view::parts::viewport::scrolled;
use crate::view::parts::windowed_list::{WindowedList, is_apart};

/// The height of a row, in `rem`.
const ROW_HEIGHT: f64 = 3.0;
/// The height of a row in a table narrower than [`NARROW`], in `rem`. Texts have up to three lines there, because they
/// often differ only after their first words.
const HIGH_ROW_HEIGHT: f64 = 4.5;
/// The width below which a table is narrow, in `rem`.
const NARROW: f64 = 48.0;

/// The number of frames to wait until a row that was scrolled to is built.
const CELL_FRAMES: u32 = 30;

/// The table: a row per item, a column per parameter in use. Only visible rows are built.
pub fn table_editor(composer: Composer) -> AnyView {
    let element = NodeRef::<Div>::new();
    let viewport = scrolled(element);
    let all_columns = memo(move || {
        let table = composer.table.read();
        table.columns(&composer.schema())
    });
    // In a sweep, most columns have the same value in all rows. They are summarized, so that the differing columns are
    // visible without scrolling.
    let shared = memo(move || match composer.way.get() {
        FillMethod::Sweep => composer.table.read().shared_inputs(&all_columns.read()),
        _ => Vec::new(),
    });
    let shows_all = RwSignal::new(false);
    let columns = memo(move || {
        let shared = shared.read();
        let is_shared = |name: &String| shared.iter().any(|(shared, _)| shared == name);
        let mut columns = all_columns.get();
        columns.retain(|name| shows_all.get() || !is_shared(name));
        columns
    });
    let shown = memo(move || composer.table.read().shown());
    let shown_count = memo(move || shown.read().len());
    let excerpts = memo(move || {
        composer
            .table
            .read()
            .shortened_texts(&columns.read(), &shown.read())
    });
    let is_narrow = memo(move || {
        let viewport = viewport.read();
        viewport.width > 0.0 && viewport.width < NARROW * viewport.rem
    });
    let row_height = memo(move || match is_narrow.get() {
        true => HIGH_ROW_HEIGHT,
        false => ROW_HEIGHT,
    });
    let rem = memo(move || viewport.read().rem.max(1.0));
    let stack = memo(move || Stack::uniform(shown.read().len(), row_height.get() * rem.get()));
    let list = WindowedList::new(viewport, stack, 1);
    let numbers = memo(move || composer.table.read().numbers());
    let item = move |place: usize| {
        let id = {
            let table = composer.table.read();
            table.rows().get(*shown.read().get(place)?)?.id
        };
        let number = *numbers.read().get(place)?;
        let key = format!("{id} {place} {number} {}", columns.read().join("\n"));
        Some(Item::new(key, move || {
            let columns = columns.read_untracked();
            row(
                composer,
                list,
                id,
                (place, number),
                &columns,
                is_narrow,
                excerpts,
            )
        }))
    };
    effect(move || {
        if let Some(row) = composer.row_to_fix.get() {
            composer.row_to_fix.set(None);
            if let Some(sheet) = element.get_untracked() {
                let viewport = viewport.get_untracked();
                let height = row_height.get_untracked() * viewport.rem.max(1.0);
                // Leaves two rows visible above it, one of which the sticky head covers.
                let top = (row.place as f64 - 2.0).max(0.0) * height;
                sheet.set_scroll_top(top as i32);
                focus_on_cell(row.cell, CELL_FRAMES);
            }
        }
    });
    let clear = move |_| {
        composer.keeping().edit_files(Table::clear);
        focus::when_lost(focus_on_items);
    };
    let add = move |_| {
        composer.change_with_form(|table, form, schema| table.add_row(form.clone(), schema));
    };
    view! {
        {keeping(composer)}
        {aside_rows(composer)}
        {dropped_files::note(composer)}
        <div class="row alike" hidden=when(move || shared.read().is_empty())>
            <p class="hint" prop:textContent=text(move || shared_inputs_message(&shared.read()))></p>
            <button
                class="button quiet small"
                type="button"
                aria-pressed=text(move || shows_all.get().to_string())
                on:click=handler(move |_| shows_all.update(|is| *is = !*is))
            >
                "Show as columns"
            </button>
        </div>
        <div
            class="sheet"
            class:narrow=is_narrow
            style:--row=text(move || format!("{}rem", row_height.get()))
            hidden=when(move || shown.read().is_empty())
        >
            <div class="sheet-scroll" node_ref=element tabindex="0" role="region" aria-label="Items">
                <table translate="no" aria-rowcount=text(move || (shown_count.get() + 1).to_string())>
                    <thead>{dynamic(move || head(composer, &columns.read()))}</thead>
                    <tbody>
                        {WindowedList::space_row(list.space_before())}
                        {list.rows(item)}
                        {WindowedList::space_row(list.space_after())}
                    </tbody>
                </table>
            </div>
        </div>
        {sent_rows(composer)}
        <div class="row sheet-foot">
            <button class="button quiet" type="button" on:click=handler(add)>
                <Glyph icon=LuPlus />
                "Add a row"
            </button>
            {dropped_files::choose_button(composer)}
            <div class="row" hidden=when(move || shown.read().is_empty())>
                {add_column(composer, all_columns)}
                <button class="button quiet" type="button" on:click=handler(clear)>
                    "Clear the table"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Moves the focus to a cell once its row is built. `frames`: how many more frames to wait.
fn focus_on_cell(label: String, frames: u32) {
    after_frame(move || {
        let is_focused = focus::to(&format!(".sheet [aria-label={}]", focus::quoted(&label)));
        match frames {
            _ if is_focused => {
                // The browser would scroll only the line of the caret into view.
                document().active_element().iter().for_each(into_view);
            }
            // Columns with the same value in all rows may be hidden.
            0 => focus_on_items(),
            _ => focus_on_cell(label, frames - 1),
        }
    });
}

fn head(composer: Composer, columns: &[String]) -> AnyView {
    let schema = composer.schema();
    let cells = columns
        .iter()
        .map(|name| {
            let known = schema.parameter(name);
            let required = known.is_some_and(|(_, required)| required);
            let is_long = known.is_some_and(|(parameter, _)| parameter.is_long_text());
            let dropped = name.clone();
            let drop_column = move |_| {
                composer.change(|table, schema| {
                    table.drop_column(&dropped, schema);
                    Ok(())
                });
            };
            let is_fixed = {
                let name = name.clone();
                when(move || !composer.table.read().can_drop(&name))
            };
            let remove = (!required).then(|| {
                view! {
                    <button
                        class="reset"
                        type="button"
                        hidden=is_fixed
                        aria-label="Take this column out"
                        title="Take this column out"
                        on:click=handler(drop_column)
                    >
                        <Glyph icon=LuX />
                    </button>
                }
                .into_any()
            });
            view! {
                <th scope="col" class:wide=is_long>
                    <span class="column-name">{name.clone()}</span>
                    {required
                        .then(|| {
                            view! {
                                <span class="star" aria-hidden="true">
                                    "*"
                                </span>
                            }
                                .into_any()
                        })}
                    {remove}
                </th>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <tr>
            <th scope="col" class="row-number">
                <span class="visually-hidden">"Row"</span>
            </th>
            {cells}
            <th scope="col" class="row-problem">
                <span class="visually-hidden">"State"</span>
            </th>
            <th scope="col" class="row-actions">
                <span class="visually-hidden">"Actions"</span>
            </th>
        </tr>
    }
    .into_any()
}

fn row(
    composer: Composer,
    list: WindowedList,
    id: u64,
    (place, number): (usize, usize),
    columns: &[String],
    is_narrow: Memo<bool>,
    excerpts: Excerpts,
) -> AnyView {
    let problem = text(move || {
        let table = composer.table.read();
        let messages = table.row(id).map(|(_, row)| {
            let messages = row.problems.iter().map(|problem| problem.message.as_str());
            messages.collect::<Vec<_>>().join("; ")
        });
        messages.unwrap_or_default()
    });
    let cells = columns
        .iter()
        .enumerate()
        .map(|(at, _)| {
            view! { <td>{cell(composer, id, number, &columns[at..], excerpts)}</td> }.into_any()
        })
        .collect_view();
    let duplicate = move |_| {
        composer.change(|table, schema| {
            table.duplicate(id, schema);
            Ok(())
        });
    };
    let remove = move |_| {
        composer.keeping().edit_files(|table| table.remove(id));
        focus::when_lost(move || {
            let numbers = composer.table.with_untracked(Table::numbers);
            let nearest = numbers.get(place).or(numbers.last());
            let is_focused = nearest.is_some_and(|number| {
                focus::to_without_scrolling(&format!("[aria-label='Remove row {number}']"))
            });
            if !is_focused {
                focus_on_items();
            }
        });
    };
    let is_blank = when(move || {
        let table = composer.table.read();
        table.row(id).is_some_and(|(_, row)| row.is_blank())
    });
    view! {
        <tr
            aria-rowindex=(place + 2).to_string()
            style:top=list.top(place)
            class:apart=is_apart(list.range, place)
            class:wrong=when(move || !is_blank.get() && !problem.read().is_empty())
        >
            <th scope="row" class="row-number">
                {number}
                // In a narrow table, the column for problems is not visible without scrolling.
                <span
                    class="problem-text"
                    hidden=when(move || !is_narrow.get() || is_blank.get())
                    prop:textContent=problem></span>
            </th>
            {cells}
            <td class="row-problem">
                <span class="problem-text" title=problem hidden=is_narrow prop:textContent=problem></span>
                {row_state(composer, id)}
            </td>
            <td class="row-actions">
                <button
                    class="icon-button"
                    type="button"
                    aria-label=format!("Duplicate row {number}")
                    title="Duplicate"
                    on:click=handler(duplicate)
                >
                    <Glyph icon=LuCopyPlus />
                </button>
                <button
                    class="icon-button"
                    type="button"
                    aria-label=format!("Remove row {number}")
                    title="Remove"
                    on:click=handler(remove)
                >
                    <Glyph icon=LuTrash2 />
                </button>
            </td>
        </tr>
    }
    .into_any()
}

/// Chooses a parameter that has no column yet.
fn add_column(composer: Composer, columns: Memo<Vec<String>>) -> AnyView {
    let free = move || {
        let schema = composer.schema();
        let columns = columns.read();
        let names = schema
            .parameters()
            .map(|(parameter, _)| parameter.name.clone());
        names
            .filter(|name| !columns.contains(name))
            .collect::<Vec<String>>()
    };
    let add = move |event| {
        let name = event_target_value(&event);
        if !name.is_empty() {
            composer.edit(|table| table.add_column(&name));
        }
    };
    view! {
        <select
            class="filter"
            aria-label="Add a column"
            hidden=when(move || free().is_empty())
            prop:value=text(move || {
                columns.track();
                String::new()
            })
            on:change=handler(add)
        >
            <option value="">"Add a column…"</option>
            {dynamic(move || {
                free()
                    .into_iter()
                    .map(|name| view! { <option value=name.clone()>{name.clone()}</option> }.into_any())
                    .collect_view()
                    .into_any()
            })}
        </select>
    }
    .into_any()
}
