use atelier_contract::{Entry, Kind, read_typed};
use atelier_engine::{control, seed};
use icondata_lu::LuDices;
use leptos::prelude::*;
use serde_json::Value;
use web_sys::PointerEvent;

use super::field::{self, Field, FieldFrame};
use crate::boxed::{handler, text};
use crate::browser::frame::after_frame;
use crate::browser::random;
use crate::view::parts::glyph::Glyph;

/// A number. It is a text field to the browser, because a browser's own number field hides what it
/// cannot read and rounds what is long; arrow keys step exactly.
#[component]
pub fn NumberField(
    field: Field,
    /// With a slider beside it, for the mouse.
    slider: bool,
    /// With a button that draws a random value.
    dice: bool,
) -> impl IntoView {
    let (input, leave, keys) = (field.clone(), field.clone(), field.clone());
    let inputmode = match field.parameter.kind() {
        Kind::Integer => "numeric",
        _ => "decimal",
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let up = match event.key().as_str() {
            "ArrowUp" => true,
            "ArrowDown" => false,
            _ => return,
        };
        if let Some(next) = control::stepped(&keys.parameter, &keys.text(), up) {
            event.prevent_default();
            keys.set_text(next);
        }
    };
    let number = {
        let field = field.clone();
        text(move || number_in(&field).unwrap_or_else(|| field.text()))
    };
    let bound = |number: &Option<serde_json::Number>| number.as_ref().map(ToString::to_string);
    let placeholder = seed::is_drawn(&field.parameter, field.required).then_some("random");
    let slider = slider.then(|| view! { <Slider field=field.clone() /> }.into_any());
    let dice = dice.then(|| {
        let field = field.clone();
        let described = field.label_id();
        let roll = move |_| {
            let drawn = seed::seed(&field.parameter, random::bits());
            field.set(Entry::Value(Value::Number(drawn)));
            // A message below the form may then take up some of its room.
            let id = field.id.clone();
            after_frame(move || field::bring_into_sight(&id));
        };
        view! {
            <button
                class="button"
                type="button"
                aria-label="Roll the dice"
                title="Roll the dice"
                aria-describedby=described
                on:click=handler(roll)
            >
                <Glyph icon=LuDices />
            </button>
        }
    });
    view! {
        <FieldFrame field=field.clone()>
            <div class="number">
                <input
                    type="text"
                    role="spinbutton"
                    inputmode=inputmode
                    id=field.id.clone()
                    required=field.required
                    autocomplete="off"
                    placeholder=placeholder
                    aria-valuemin=bound(&field.parameter.minimum)
                    aria-valuemax=bound(&field.parameter.maximum)
                    aria-valuenow=number
                    aria-describedby=field.described_by()
                    aria-invalid=field.invalid()
                    prop:value=field.value()
                    on:input=handler(move |event| input.set_text(event_target_value(&event)))
                    on:keydown=handler(on_key)
                    on:blur=handler(move |_| leave.leave())
                />
                {dice}
                {slider}
            </div>
        </FieldFrame>
    }
}

/// What stands in the field as JSON writes it; none where that is no number. Tracked.
fn number_in(field: &Field) -> Option<String> {
    let is_whole = field.parameter.kind() == Kind::Integer;
    let number = read_typed(&field.text(), is_whole).ok()?;
    Some(number.to_string())
}

/// The same number by mouse or finger. The text field is what keyboards and screen readers use, so
/// this one stays out of their way.
#[component]
fn Slider(field: Field) -> impl IntoView {
    let Some((min, max)) = control::slider(&field.parameter) else {
        return ().into_any();
    };
    let (state, input) = (field.clone(), field.clone());
    let shown = |number: f64| serde_json::Number::from_f64(number).map(|number| number.to_string());
    let value = text(move || match number_in(&state) {
        Some(number) => number,
        None => shown(min).unwrap_or_default(),
    });
    let slide = move |event| {
        if let Some(text) = control::slid(&input.parameter, &event_target_value(&event)) {
            input.set_text(text);
        }
    };
    // A finger that goes on to scroll has set a value where it came down, which nobody meant.
    let before = StoredValue::new(None);
    let down = {
        let field = field.clone();
        move |_: PointerEvent| before.set_value(untrack(|| field.entry()))
    };
    let scrolls = move |_: PointerEvent| {
        let before = before.get_value();
        if untrack(|| field.entry()) != before {
            field.put_back(before);
        }
    };
    view! {
        <input
            type="range"
            tabindex="-1"
            aria-hidden="true"
            min=shown(min)
            max=shown(max)
            // It shows each value at its place; what it is moved to is on the grid.
            step="any"
            prop:value=value
            on:input=handler(slide)
            on:pointerdown=handler(down)
            on:pointercancel=handler(scrolls)
        />
    }
    .into_any()
}
