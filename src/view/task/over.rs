use atelier_engine::output::SafeUrl;
use icondata_lu::{LuDownload, LuEllipsis, LuExternalLink};
use leptos::prelude::*;

use super::again::Again;
use super::shown_output::ShownOutput;
use super::{favorite, output_recovery, use_in, vary};
use crate::boxed::handler;
use crate::contexts::contexts;
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::glyph::Glyph;

/// What is done with an output most, over it; the rest in a menu. `is_alone`: it is the task's only one. Others would
/// come along where it is made again.
pub fn over(shown: &ShownOutput, again: Again, is_alone: bool) -> AnyView {
    let contexts = contexts();
    let address = contexts.session.settings_untracked().address;
    let safe = SafeUrl::media(&shown.url, address.as_str());
    let heart = favorite::output_heart(&shown.task.key, shown.position);
    let held = DoubleClickGuard::default();
    let vary = is_alone.then(|| {
        let offered = move || {
            if !again.has_seed() {
                return ().into_any();
            }
            vary::vary(move |count| {
                if held.counts("Vary") {
                    again.send(count);
                }
            })
        };
        crate::boxed::dynamic(offered)
    });
    let open = safe.clone().filter(SafeUrl::is_link).map(|url| {
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
    let use_in = safe
        .as_ref()
        .and_then(|_| use_in::use_in(shown, "Use in…", again.answer));
    let save = safe.map(|_| {
        let shown = shown.clone();
        let busy = RwSignal::new(false);
        let save = move |_| {
            busy.set(true);
            output_recovery::save(contexts, shown.clone(), busy);
        };
        view! {
            <button
                class="button save"
                type="button"
                title="Download"
                prop:disabled=busy
                on:click=handler(save)
            >
                <Glyph icon=LuDownload />
                <span class="word">"Download"</span>
            </button>
        }
        .into_any()
    });
    let menu = format!("more-{}", shown.task.key.output(shown.position));
    let url = shown.url.clone();
    view! {
        <div class="over">
            {heart} {vary} {use_in} {save}
            <button
                class="button"
                type="button"
                aria-label="More"
                title="More"
                popovertarget=menu.clone()
            >
                <Glyph icon=LuEllipsis />
            </button>
            <div class="menu" id=menu popover="auto">
                {open} <CopyButton label="Copy output URL" text=move || url.clone() />
            </div>
        </div>
    }
    .into_any()
}
