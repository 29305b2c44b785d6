use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::{Kind, Schema, choice_text};
use atelier_studio::compose::range;
use atelier_studio::compose::sweep::{Axis, Combine};
use atelier_studio::form::control;
use atelier_studio::text::plural::counted;
use icondata_lu::LuX;
use leptos::prelude::*;
use serde_json::Value;

use super::axis_files::{self, AxisFiles};
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::view::parts::focus_return;
use crate::view::parts::glyph::Glyph;

/// The number of values of an axis that are listed.
const MAX_VALUES: usize = 24;

/// An axis as the user types it: a parameter and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedAxis {
    pub id: usize,
    pub parameter: String,
    pub values: String,
}

impl TypedAxis {
    /// Parses the values.
    ///
    /// # Errors
    ///
    /// A message for the user.
    pub fn parse(&self, schema: &Schema) -> Result<Axis, String> {
        let Some((parameter, required)) = schema.parameter(&self.parameter) else {
            return Err("Choose a parameter.".into());
        };
        Ok(Axis {
            parameter: self.parameter.clone(),
            values: range::values(parameter, required, &self.values)?,
        })
    }

    /// Appends a value on a line of its own.
    pub fn append_line(&mut self, value: &str) {
        let lines = self.values.trim_end();
        self.values = match lines.is_empty() {
            true => value.to_owned(),
            false => format!("{lines}\n{value}"),
        };
    }

    /// Replaces values. The text stays as typed if none of its values is replaced or if it is invalid. `new`: from old to
    /// new value.
    pub fn replace_values(&mut self, new: &HashMap<String, String>, schema: &Schema) {
        let values = self.parse(schema).map_or(Vec::new(), |axis| axis.values);
        let values: Vec<String> = values.iter().map(range::label).collect();
        if values.iter().any(|value| new.contains_key(value)) {
            let values = values
                .iter()
                .map(|value| new.get(value).unwrap_or(value).as_str());
            self.values = values.collect::<Vec<_>>().join(", ");
        }
    }
}

/// One of the axes of a sweep.
#[derive(Clone, Copy)]
struct AxisField {
    axes: RwSignal<Vec<TypedAxis>>,
    id: usize,
}

impl AxisField {
    /// Returns the axis, if it was not removed; tracked.
    fn typed(self) -> Option<TypedAxis> {
        let axes = self.axes.read();
        axes.iter().find(|axis| axis.id == self.id).cloned()
    }

    fn change(self, change: impl Fn(&mut TypedAxis)) {
        self.axes.update(|axes| {
            if let Some(axis) = axes.iter_mut().find(|axis| axis.id == self.id) {
                change(axis);
            }
        });
    }

    /// Removes the axis. The focus moves to the next axis, or to the last one.
    fn remove(self) {
        let at = |axes: &Vec<TypedAxis>| axes.iter().position(|axis| axis.id == self.id);
        let at = self.axes.with_untracked(at).unwrap_or_default();
        self.axes
            .update(|axes| axes.retain(|axis| axis.id != self.id));
        // The axes are the first children of `.sweep`.
        let select = |place: usize| format!(".sweep > .axis:nth-child({place}) select");
        focus_return::when_rendered(vec![select(at + 1), select(at)]);
    }
}

/// The row of an axis: a selector for the parameter and a field for its values.
pub fn axis(
    axes: RwSignal<Vec<TypedAxis>>,
    is_product: RwSignal<bool>,
    files: AxisFiles,
    id: usize,
    schema: Arc<Schema>,
) -> AnyView {
    let this = AxisField { axes, id };
    let parameter = memo(move || this.typed().map_or_else(String::new, |axis| axis.parameter));
    let chosen = {
        let schema = schema.clone();
        memo(move || {
            let (parameter, _) = schema.parameter(&parameter.read())?;
            Some((parameter.kind(), parameter.choices().to_vec()))
        })
    };
    let example_and_bounds = {
        let schema = schema.clone();
        memo(move || {
            let found = schema.parameter(&parameter.read());
            let found =
                found.map(|(parameter, _)| (range::example(parameter), control::bounds(parameter)));
            found.unwrap_or_default()
        })
    };
    let markers = {
        let schema = schema.clone();
        memo(move || {
            let found = schema.parameter(&parameter.read());
            let found = found.map(|(it, required)| (it.kind(), range::markers(it, required)));
            found.unwrap_or((Kind::Unknown, Vec::new()))
        })
    };
    let kind = move || chosen.read().as_ref().map(|(kind, _)| *kind);
    let is_text = when(move || matches!(kind(), Some(Kind::Text | Kind::MultiChoice)));
    // True if the controls already show every value: as a checkbox, a line or one item of a list.
    let are_visible = move |values: &[String]| match kind() {
        Some(Kind::Enum | Kind::Boolean | Kind::Text) => true,
        _ => this
            .typed()
            .is_some_and(|axis| range::lists_exactly(&axis.values, values)),
    };
    let options = options(parameter, &schema);
    let media = {
        let schema = schema.clone();
        memo(move || {
            let parameter = parameter.get();
            let media = schema.parameter(&parameter).and_then(|(it, _)| it.media());
            (parameter, media)
        })
    };
    let drop_files = {
        let schema = schema.clone();
        move |event: web_sys::DragEvent| {
            axis_files::drop_files(files, id, &parameter.read_untracked(), &schema, &event);
        }
    };
    let all = memo::<Result<Axis, String>>(move || match this.typed() {
        Some(axis) => axis.parse(&schema),
        None => Err(String::new()),
    });
    let result = memo::<Result<Vec<String>, String>>(move || {
        let axis = all.get()?.merged(Combine::of(is_product.get()));
        Ok(range::labels(&axis.values))
    });
    let repeats = when(move || {
        let count = |axis: &Axis| axis.values.len();
        all.read().as_ref().ok().map(count) != result.read().as_ref().ok().map(Vec::len)
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
        <div class="axis" class:of-text=is_text on:drop=handler(drop_files)>
            <select aria-label="Axis" on:change=handler(choose)>
                {options}
            </select>
            <textarea
                rows=text(move || if is_text.get() { "3" } else { "1" }.into())
                aria-label="Values"
                placeholder=text(move || example_and_bounds.get().0)
                prop:value=text(move || this.typed().map_or_else(String::new, |axis| axis.values))
                on:input=handler(write)
            ></textarea>
            <span class="muted axis-count" prop:textContent=text(count)></span>
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
                    let choice_texts = chosen.read().as_ref().map(|(kind, values)| choice_texts(*kind, values));
                    let choice_texts = Arc::new(choice_texts.unwrap_or_default());
                    choice_texts.iter().map(|text| checkbox(this, text, &choice_texts)).collect_view().into_any()
                })}
            </div>
            {axis_files::axis_files(files, id, media)}
            // Checkboxes, because users would not guess how to type these values.
            <div class="row axis-markers">
                {dynamic(move || {
                    let (kind, markers) = markers.get();
                    markers.into_iter().map(|it| marker(this, kind, it)).collect_view().into_any()
                })}
            </div>
            <p class="hint" hidden=when(move || example_and_bounds.read().1.is_empty()) prop:textContent=text(move || example_and_bounds.get().1)></p>
            <p class="hint" hidden=when(move || !repeats.get())>"Duplicate values are used once."</p>
            // The parsed values, so that the user can check them before adding.
            {dynamic(move || {
                let values = result.get().unwrap_or_default();
                numbered(&values, are_visible(&values))
            })}
            <p class="problem" role="status" prop:textContent=text(move || result.get().err().unwrap_or_default())></p>
        </div>
    }
    .into_any()
}

/// The options of the selector: all parameters.
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

/// Returns the values that have checkboxes; empty if the values of this kind are typed.
fn choice_texts(kind: Kind, choices: &[Value]) -> Vec<String> {
    match kind {
        Kind::Enum | Kind::Boolean if !choices.is_empty() => {
            let text = |value| choice_text(choices, value);
            choices.iter().map(text).collect()
        }
        Kind::Boolean => vec!["true".into(), "false".into()],
        _ => Vec::new(),
    }
}

/// The checkbox of one value. `all`: all values that have checkboxes.
fn checkbox(this: AxisField, text: &str, all: &Arc<Vec<String>>) -> AnyView {
    let (own, toggled, shown) = (text.to_owned(), text.to_owned(), text.to_owned());
    let all = all.clone();
    let is_on = when(move || {
        let axis = this.typed();
        axis.is_some_and(|axis| range::contains(&axis.values, &own))
    });
    let toggle =
        move |_| this.change(|axis| axis.values = range::toggled(&axis.values, &toggled, &all));
    view! {
        <label class="chip">
            <input type="checkbox" prop:checked=is_on on:change=handler(toggle) />
            <span>{shown}</span>
        </label>
    }
    .into_any()
}

/// The checkbox of a marker: a value that can't be typed otherwise, such as an empty text or a parameter that is left out.
fn marker(this: AxisField, kind: Kind, (marker, name): (&'static str, &'static str)) -> AnyView {
    let is_on = when(move || {
        let axis = this.typed();
        axis.is_some_and(|axis| range::has_marker(kind, &axis.values, marker))
    });
    let toggle = move |_| {
        this.change(|axis| axis.values = range::toggled_marker(kind, &axis.values, marker));
    };
    view! {
        <label class="tick">
            <input type="checkbox" prop:checked=is_on on:change=handler(toggle) />
            <span>{name}</span>
        </label>
    }
    .into_any()
}

/// The parsed values of an axis as a numbered list.
fn numbered(values: &[String], are_visible: bool) -> AnyView {
    if values.is_empty() || are_visible {
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
