use std::sync::Arc;

use atelier_contract::{Kind, Schema};
use atelier_engine::compose::range;
use atelier_engine::compose::sweep::{self, Axis, Combine};
use icondata_lu::{LuPlus, LuX};
use leptos::prelude::*;

use super::base_hint;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::view::batch::composer::Composer;
use crate::view::batch::items;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};

/// A parameter that takes several values, as a person writes it.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    id: usize,
    parameter: String,
    values: String,
}

impl Written {
    fn read(&self, schema: &Schema) -> Result<Axis, String> {
        let Some((parameter, required)) = schema.parameter(&self.parameter) else {
            return Err("Choose a parameter.".into());
        };
        Ok(Axis {
            parameter: self.parameter.clone(),
            values: range::values(parameter, required, &self.values)?,
        })
    }
}

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
    let add = move |replace: bool| {
        let axes: Result<Vec<Axis>, String> = axes
            .read_untracked()
            .iter()
            .map(|axis| axis.read(&composer.schema()))
            .collect();
        composer.change(|table, schema| {
            if replace {
                table.clear();
            }
            table.append_sweep(
                &composer.one.read_untracked(),
                &axes?,
                untrack(combine),
                schema,
            )
        });
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
    let has_rows = when(move || !composer.table.read().is_empty());
    view! {
        <div class="sweep">
            {list(rows)}
            <div class="row">
                <button class="button quiet" type="button" on:click=handler(more)>
                    <Glyph icon=LuPlus />
                    "Another axis"
                </button>
                <div
                    class="segments"
                    role="radiogroup"
                    aria-label="Combine the axes"
                    hidden=when(move || axes.read().len() < 2)
                >
                    {[("Every combination", true), ("In pairs", false)]
                        .map(|(label, product)| {
                            view! {
                                <label>
                                    <input
                                        type="radio"
                                        name="combine"
                                        prop:checked=when(move || is_product.get() == product)
                                        on:change=handler(move |_| is_product.set(product))
                                    />
                                    <span>{label}</span>
                                </label>
                            }
                                .into_any()
                        })}
                </div>
            </div>
            <p class="problem" role="status">
                {text(move || planned.get().err().unwrap_or_default())}
            </p>
            {base_hint(composer)}
            <div class="row">
                <button
                    class="button"
                    type="button"
                    prop:disabled=when(move || count() == 0)
                    on:click=handler(move |_| add(false))
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

/// One axis: which parameter, and its values.
fn axis(axes: RwSignal<Vec<Written>>, id: usize, schema: Arc<Schema>) -> AnyView {
    let this = move || axes.read().iter().find(|axis| axis.id == id).cloned();
    let change = move |change: &dyn Fn(&mut Written)| {
        axes.update(|axes| {
            axes.iter_mut()
                .filter(|axis| axis.id == id)
                .for_each(change)
        });
    };
    let parameter = memo(move || this().map_or_else(String::new, |axis| axis.parameter));
    let options = schema
        .parameters()
        .map(|(each, _)| {
            let name = each.name.clone();
            let is_chosen = {
                let name = name.clone();
                when(move || *parameter.read() == name)
            };
            view! {
                <option value=name.clone() prop:selected=is_chosen>
                    {name.clone()}
                </option>
            }
            .into_any()
        })
        .collect_view();
    let of_kind = {
        let schema = schema.clone();
        move || {
            let parameter = parameter.read();
            let (parameter, _) = schema.parameter(&parameter)?;
            Some((parameter.kind(), parameter.allowed_values.clone()))
        }
    };
    let placeholder = {
        let of_kind = of_kind.clone();
        text(move || match of_kind() {
            Some((Kind::Integer | Kind::Number, _)) => "1, 2, .., 10".into(),
            Some((Kind::Text, _)) => "one per line, or one, two, three".into(),
            _ => "one, two, three".into(),
        })
    };
    let result = {
        let schema = schema.clone();
        memo(move || {
            this().map_or(Ok(0), |axis| {
                axis.read(&schema).map(|axis| axis.values.len())
            })
        })
    };
    // Choices are ticked, not typed.
    let choices = dynamic(move || {
        let Some((Kind::Enum | Kind::Boolean, allowed)) = of_kind() else {
            return ().into_any();
        };
        let words: Vec<String> = match allowed {
            Some(values) => values.iter().map(atelier_engine::control::text).collect(),
            None => vec!["true".into(), "false".into()],
        };
        words
            .into_iter()
            .map(|word| {
                let quoted = format!("\"{}\"", word.replace('"', "\"\""));
                let (held, toggled) = (quoted.clone(), quoted);
                let is_on = when(move || {
                    this().is_some_and(|axis| axis.values.split(", ").any(|value| value == held))
                });
                let toggle = move |_| {
                    change(&|axis| {
                        let mut values: Vec<&str> = axis
                            .values
                            .split(", ")
                            .filter(|value| !value.is_empty())
                            .collect();
                        let before = values.len();
                        values.retain(|value| *value != toggled);
                        if values.len() == before {
                            values.push(&toggled);
                        }
                        axis.values = values.join(", ");
                    });
                };
                view! {
                    <label class="chip">
                        <input type="checkbox" prop:checked=is_on on:change=handler(toggle) />
                        <span>{word}</span>
                    </label>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    });
    view! {
        <div class="axis">
            <select
                aria-label="Axis"
                on:change=handler(move |event| {
                    let name = event_target_value(&event);
                    change(
                        &|axis| {
                            axis.parameter = name.clone();
                            axis.values = String::new();
                        },
                    );
                })
            >
                {options}
            </select>
            <textarea
                rows="1"
                aria-label="Values"
                placeholder=placeholder
                prop:value=text(move || this().map_or_else(String::new, |axis| axis.values))
                on:input=handler(move |event| {
                    let values = event_target_value(&event);
                    change(&|axis| axis.values = values.clone());
                })
            ></textarea>
            <span class="muted axis-count">
                {text(move || match result.get() {
                    Ok(0) => String::new(),
                    Ok(1) => "1 value".into(),
                    Ok(n) => format!("{n} values"),
                    Err(_) => String::new(),
                })}
            </span>
            <button
                class="icon-button"
                type="button"
                aria-label="Remove this axis"
                hidden=when(move || axes.read().len() < 2)
                on:click=handler(move |_| axes.update(|axes| axes.retain(|axis| axis.id != id)))
            >
                <Glyph icon=LuX />
            </button>
            <div class="chips">{choices}</div>
            <p class="problem" role="status">
                {text(move || result.get().err().unwrap_or_default())}
            </p>
        </div>
    }
    .into_any()
}
