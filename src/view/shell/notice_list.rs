use icondata_lu::{LuTriangleAlert, LuX};
use leptos::prelude::*;

use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::state::notices::{Notice, Notices};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::settings_link::in_text_nodes;

/// The notices. Each is shown for some seconds or until it is dismissed.
pub fn notice_list() -> AnyView {
    let notices = contexts().notices;
    view! {
        <div class="notices" role="log" aria-label="Notices">
            {list(move || {
                notices
                    .list()
                    .into_iter()
                    .map(|notice| {
                        Item::new(notice.id.to_string(), move || notice_view(notices, &notice))
                    })
                    .collect()
            })}
        </div>
    }
    .into_any()
}

fn notice_view(notices: Notices, notice: &Notice) -> AnyView {
    let id = notice.id;
    view! {
                <div class="notice" class:bad=notice.is_problem>
                    {notice.is_problem.then(|| view! { <Glyph icon=LuTriangleAlert /> }.into_any())}
                    <p>{in_text_nodes(Signal::stored(notice.text.clone()))}</p>
                    <button
                        class="icon-button"
                        type="button"
                        aria-label="Dismiss"
                        on:click=handler(move |_| notices.dismiss(id))
                    >
                        <Glyph icon=LuX />
                    </button>
                </div>
    }
    .into_any()
}
