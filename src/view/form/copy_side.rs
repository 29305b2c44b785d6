//! The choice of the longest side of copies that are put into requests. It is remembered for each model.

use atelier_contract::ModelId;
use atelier_studio::form::upload::embedding::{ANY_SIDE, SIDE_LABEL, SIDES, parse_side};
use leptos::prelude::*;

use crate::reactive::boxed::{handler, memo, when};
use crate::state::uploads;

/// The choice, where copies are offered.
pub fn view(model: &ModelId, is_shown: Signal<bool>) -> AnyView {
    let side = {
        let model = model.clone();
        memo(move || uploads::copy_side(&model))
    };
    let model = model.clone();
    let choose = move |event: web_sys::Event| {
        uploads::set_copy_side(&model, parse_side(&event_target_value(&event)));
    };
    let option = |value: Option<u32>| {
        let (key, label) = match value {
            None => (String::new(), ANY_SIDE.to_owned()),
            Some(side) => (side.to_string(), format!("{side} px")),
        };
        view! {
            <option value=key prop:selected=when(move || side.get() == value)>
                {label}
            </option>
        }
        .into_any()
    };
    let options = std::iter::once(None).chain(SIDES.map(Some)).map(option);
    view! {
        <label class="copy-side" hidden=when(move || !is_shown.get())>
            <span>{SIDE_LABEL}</span>
            <select on:change=handler(choose)>{options.collect_view()}</select>
        </label>
    }
    .into_any()
}
