use atelier_engine::output::SafeUrl;
use icondata_lu::LuDownload;
use leptos::prelude::*;

use crate::boxed::{dynamic, handler};
use crate::contexts::contexts;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::glyph::Glyph;
use crate::view::task::again::Again;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{favorite, output_recovery, use_in, vary};

/// What is done most with an output that is shown large, all of one kind: none is what everybody came for. `more` comes
/// at the end.
pub fn actions(shown: &ShownOutput, again: Again, more: AnyView) -> AnyView {
    let all = contexts();
    let address = all.session.settings_untracked().address;
    let safe = SafeUrl::media(&shown.url, address.as_str());
    let held = DoubleClickGuard::default();
    let vary = dynamic(move || {
        if !again.has_seed() {
            return ().into_any();
        }
        vary::vary(move |count| {
            if held.counts("Vary") {
                again.send(count);
            }
        })
    });
    let use_in = safe
        .is_some()
        .then(|| use_in::use_in(shown, "Use as input", again.answer));
    let save = safe.map(|_| {
        let shown = shown.clone();
        let busy = RwSignal::new(false);
        let save = move |_| {
            busy.set(true);
            output_recovery::save(all, shown.clone(), busy);
        };
        view! {
            <button class="button save" type="button" prop:disabled=busy on:click=handler(save)>
                <Glyph icon=LuDownload />
                <span class="word">"Download"</span>
            </button>
        }
        .into_any()
    });
    view! {
        <div class="lightbox-actions">
            {favorite::output_heart(&shown.task.key, shown.position)} {vary} {use_in} {save} {more}
        </div>
    }
    .into_any()
}
