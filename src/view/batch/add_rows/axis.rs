use std::sync::Arc;

use atelier_contract::{Entry, Kind, Schema};
use atelier_engine::compose::range;
use atelier_engine::compose::sweep::Axis;
use atelier_engine::control;
use atelier_engine::plural::counted;
use icondata_lu::LuX;
use leptos::prelude::*;
use serde_json::Value;

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

/// One of the axes of a sweep.
#[derive(Clone, Copy)]
struct AxisField {
    axes: RwSignal<Vec<Written>>,
    id: usize,
}

impl AxisField {
    /// Tracked.
    fn written(self) -> Option<Written> {
        let axes = self.axes.read();
        axes.iter().find(|axis| axis.id == self.id).cloned()
    }

    fn change(self, change: impl Fn(&mut Written)) {
        self.axes.update(|axes| {
            if let Some(axis) = axes.iter_mut().find(|axis| axis.id == self.id) {
                change(axis);
            }
        });
    }

    fn remove(self) {
        self.axes
            .update(|axes| axes.retain(|axis| axis.id != self.id));
    }
}

/// One axis: which parameter, and its values.
pub fn axis(axes: RwSignal<Vec<Written>>, id: usize, schema: Arc<Schema>) -> AnyView {
    let this = AxisField { axes, id };
    let parameter = memo(move || {
        this.written()
            .map_or_else(String::new, |axis| axis.parameter)
    });
    let chosen = {
        let schema = schema.clone();
        memo(move || {
            let (parameter, _) = schema.parameter(&parameter.read())?;
            Some((parameter.kind(), parameter.allowed_values.clone()))
        })
    };
    let kind = move || chosen.read().as_ref().map(|(kind, _)| *kind);
    let is_ticked = move || matches!(kind(), Some(Kind::Enum | Kind::Boolean));
    let options = options(parameter, &schema);
    let result = memo::<Result<Vec<String>, String>>(move || {
        this.written().map_or(Ok(Vec::new()), |axis| {
            let axis = axis.read(&schema)?;
            Ok(axis.values.iter().map(Entry::to_text).collect())
        })
    });
    let count = move || match result.get().map(|values| values.len()) {
        Ok(0) | Err(_) => String::new(),
        Ok(n) => counted(n, "value"),
    };
    let choose = move |event| {
        let name = event_target_value(&event);
        this.change(|axis| {
            axis.parameter = name.clone();
            axis.values = String::new();
        });
    };
    let write = move |event| {
        let values = event_target_value(&event);
        this.change(|axis| axis.values = values.clone());
    };
    view! {
        <div class="axis">
            <select aria-label="Axis" on:change=handler(choose)>
                {options}
            </select>
            <textarea
                rows=text(move || if kind() == Some(Kind::Text) { "3" } else { "1" }.into())
                aria-label="Values"
                placeholder=text(move || example(kind()).into())
                prop:value=text(move || this.written().map_or_else(String::new, |axis| axis.values))
                on:input=handler(write)
            ></textarea>
            <span class="muted axis-count">{text(count)}</span>
            <button
                class="icon-button"
                type="button"
                aria-label="Remove this axis"
                hidden=when(move || axes.read().len() < 2)
                on:click=handler(move |_| this.remove())
            >
                <Glyph icon=LuX />
            </button>
            <div class="chips">
                {dynamic(move || {
                    let words = chosen.read().as_ref().map(|(kind, values)| words(*kind, values));
                    words.unwrap_or_default().into_iter().map(|word| choice(this, word)).collect_view().into_any()
                })}
            </div>
            // As they were understood: before anything is added it is seen what it will be.
            {dynamic(move || numbered(&result.get().unwrap_or_default(), is_ticked()))}
            <p class="problem" role="status">
                {text(move || result.get().err().unwrap_or_default())}
            </p>
        </div>
    }
    .into_any()
}

/// All parameters, of which one is chosen.
fn options(chosen: Memo<String>, schema: &Schema) -> impl IntoView + use<> {
    let option = |name: String| {
        let is_chosen = {
            let name = name.clone();
            when(move || *chosen.read() == name)
        };
        view! {
            <option value=name.clone() prop:selected=is_chosen>
                {name.clone()}
            </option>
        }
        .into_any()
    };
    schema
        .parameters()
        .map(|(parameter, _)| option(parameter.name.clone()))
        .collect_view()
}

/// How values of such a parameter are written.
fn example(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Integer | Kind::Number) => "1, 2, .., 10",
        Some(Kind::Text) => "a lighthouse in a storm\na lighthouse at dawn",
        _ => "one, two, three",
    }
}

/// The values that are ticked, not typed.
fn words(kind: Kind, allowed: &Option<Vec<Value>>) -> Vec<String> {
    match (kind, allowed) {
        (Kind::Enum | Kind::Boolean, Some(values)) => values.iter().map(control::text).collect(),
        (Kind::Enum | Kind::Boolean, None) => vec!["true".into(), "false".into()],
        _ => Vec::new(),
    }
}

/// One of them.
fn choice(this: AxisField, word: String) -> AnyView {
    let (held, toggled, shown) = (word.clone(), word.clone(), word);
    let is_on = when(move || {
        let axis = this.written();
        axis.is_some_and(|axis| range::contains(&axis.values, &held))
    });
    let toggle = move |_| this.change(|axis| axis.values = range::toggled(&axis.values, &toggled));
    view! {
        <label class="chip">
            <input type="checkbox" prop:checked=is_on on:change=handler(toggle) />
            <span>{shown}</span>
        </label>
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
