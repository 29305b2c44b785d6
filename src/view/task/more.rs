//! The menu of less frequent actions.

use atelier_contract::output::SafeUrl;
use atelier_studio::output::output_access::MissingFileReason;
use futures::future::FutureExt;
use icondata_core::Icon;
use icondata_lu::{LuEllipsis, LuExternalLink};
use leptos::prelude::*;

use super::shown_output::ShownOutput;
use super::use_in;
use crate::files::output_file;
use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::view::parts::copy_button::copy_button;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::status_note::StatusNote;

/// A button and the menu that it opens. `of`: the name of the task or output.
pub fn more(of: &str, label: &'static str, items: AnyView) -> AnyView {
    let id = id(of);
    view! {
        <button
            class="button more-button"
            type="button"
            aria-label=label
            title=label
            popovertarget=id.clone()
        >
            <Glyph icon=LuEllipsis />
        </button>
        <div class="menu" id=id popover="auto">
            {items}
        </div>
    }
    .into_any()
}

/// An item of the menu of `of`. A press closes the menu, because the effect is visible behind it.
pub fn item(
    of: &str,
    label: &'static str,
    icon: Icon,
    removes: bool,
    act: impl Fn() + 'static,
) -> AnyView {
    view! {
        <button
            class="button quiet"
            class:removes=removes
            type="button"
            popovertarget=id(of)
            popovertargetaction="hide"
            on:click=handler(move |_| act())
        >
            <Glyph icon=icon />
            {label}
        </button>
    }
    .into_any()
}

fn id(of: &str) -> String {
    format!("more-{of}")
}

/// Menu items that use the address of an output.
pub fn output_items(shown: &ShownOutput, answer: StatusNote) -> AnyView {
    let address = contexts().session.settings_untracked().address;
    let safe = SafeUrl::media(&shown.url, address.as_str());
    let use_in = (safe.as_ref()).and_then(|_| use_in::use_in(shown, "page", answer));
    let open = safe.filter(SafeUrl::is_link).map(|url| {
        view! {
            <a
                class="button quiet"
                href=url.as_str().to_owned()
                target="_blank"
                rel="noopener noreferrer"
            >
                <Glyph icon=LuExternalLink />
                "Open in new tab"
            </a>
        }
        .into_any()
    });
    view! { <div class="use-too">{use_in}</div> {open} {copy_url(shown)} }.into_any()
}

/// A button that copies the address of an output, or a data URL if the service sent the output as data.
pub fn copy_url(shown: &ShownOutput) -> AnyView {
    let (runner, notices) = (contexts().runner, contexts().notices);
    let (url, name) = (shown.url.clone(), shown.task.key.output(shown.position));
    let text = move || {
        let (url, name) = (url.clone(), name.clone());
        async move {
            let address = output_file::address(runner, &url, &name).await;
            if address.is_none() {
                notices.problem(MissingFileReason::NotStored.user_message());
            }
            address
        }
        .boxed_local()
    };
    copy_button("Copy output URL".into(), text)
}
