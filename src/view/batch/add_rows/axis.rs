use std::sync::Arc;

use atelier_contract::{Entry, Kind, Schema};
use atelier_engine::compose::range;
use atelier_engine::compose::sweep::Axis;
use icondata_lu::LuX;
use leptos::prelude::*;

use crate::boxed::{dynamic, handler, memo, text, when};
use crate::view::parts::glyph::Glyph;

/// Values of an axis that are listed.
const MAX_VALUES: usize = 24;

/// A parameter that takes several values, as a person writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub id: usize,
    pub parameter: String,
    pub values: String,
}

impl Written {
    pub fn read(&self, schema: &Schema) -> Result<Axis, String> {
        let Some((parameter, required)) = schema.parameter(&self.parameter) else {
            return Err("Choose a parameter.".into());
        };
        Ok(Axis {
            parameter: self.parameter.clone(),
            values: range::values(parameter, required, &self.values)?,
        })
    }
}

/// One axis: which parameter, and its values.
pub fn axis(axes: RwSignal<Vec<Written>>, id: usize, schema: Arc<Schema>) -> AnyView {
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
            Some((Kind::Text, _)) => "a lighthouse in a storm\na lighthouse at dawn".into(),
            _ => "one, two, three".into(),
        })
    };
    let result = {
        let schema = schema.clone();
        memo::<Result<Vec<String>, String>>(move || {
            this().map_or(Ok(Vec::new()), |axis| {
                let axis = axis.read(&schema)?;
                Ok(axis.values.iter().map(Entry::to_text).collect())
            })
        })
    };
    let is_text = {
        let of_kind = of_kind.clone();
        move || matches!(of_kind(), Some((Kind::Text, _)))
    };
    // As they were understood: before anything is added it is seen what it will be.
    let values = {
        let of_kind = of_kind.clone();
        dynamic(move || {
            let is_ticked = matches!(of_kind(), Some((Kind::Enum | Kind::Boolean, _)));
            numbered(&result.get().unwrap_or_default(), is_ticked)
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
                rows=text(move || if is_text() { "3" } else { "1" }.into())
                aria-label="Values"
                placeholder=placeholder
                prop:value=text(move || this().map_or_else(String::new, |axis| axis.values))
                on:input=handler(move |event| {
                    let values = event_target_value(&event);
                    change(&|axis| axis.values = values.clone());
                })
            ></textarea>
            <span class="muted axis-count">
                {text(move || match result.get().map(|values| values.len()) {
                    Ok(0) | Err(_) => String::new(),
                    Ok(1) => "1 value".into(),
                    Ok(n) => format!("{n} values"),
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
            {values}
            <p class="problem" role="status">
                {text(move || result.get().err().unwrap_or_default())}
            </p>
        </div>
    }
    .into_any()
}

/// The values of an axis as they were understood.
fn numbered(values: &[String], is_ticked: bool) -> AnyView {
    if values.is_empty() || is_ticked {
        return ().into_any();
    }
    let rest = values.len().saturating_sub(MAX_VALUES);
    let lines = values.iter().take(MAX_VALUES);
    let lines = lines
        .map(|value| view! { <li dir="auto">{value.clone()}</li> }.into_any())
        .collect_view();
    view! {
        <ol class="axis-values" aria-label="Values as understood">
            {lines}
        </ol>
        {(rest > 0).then(|| view! { <p class="hint">{format!("and {rest} more")}</p> }.into_any())}
    }
    .into_any()
}
