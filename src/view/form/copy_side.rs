//! The size of copies that are put into requests: the choice of the longest side, which is remembered for each model, and the
//! space in the request.

use atelier_contract::ModelId;
use atelier_studio::form::upload::embedding::{
    ANY_SIDE, SIDE_LABEL, SIDES, length_in_form, parse_side,
};
use leptos::prelude::*;

use crate::reactive::boxed::{handler, memo, when};
use crate::state::uploads::{self, PictureCopy};
use crate::view::form::field::Field;

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

/// Returns the copy for a field, or for an item of its list, which has no limit of its own.
pub fn copy(id: u32, field: &Field, is_list: bool) -> PictureCopy {
    let field = field.clone();
    PictureCopy::new(id, move || {
        let parameter = &field.parameter;
        let max_length = parameter.max_length().filter(|_| !is_list);
        length_in_form(&field.draft_now(), &parameter.name, max_length, is_list)
    })
}
