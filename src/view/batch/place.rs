//! Where the composer stands: above what was sent from it while there is something to send, and below it once all is
//! sent. It stays where a person writes in it, and next to what was sent where there is room for that.

use std::rc::Rc;

use atelier_studio::compose::fill_method::FillMethod;
use atelier_studio::text::plural::counted;
use icondata_lu::LuPlus;
use leptos::prelude::*;

use super::composer::Composer;
use super::removed_rows::{FIRST_FIELD, focus_on_items};
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, handler, memo, text, when};
use crate::view::form::field::focus_in_place;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::viewport;

const NEW_BATCH: &str = "new-batch";
const WRITTEN_IN: &str =
    ".composer :is(textarea, select, input:not([type=radio], [type=checkbox]))";

/// Whether it stands below.
pub fn is_below(composer: Composer, has_batch: Memo<bool>) -> Memo<bool> {
    let has_unsent = memo(move || composer.table.read().unsent() > 0);
    effect(move || {
        // Rows that come from elsewhere are to be seen.
        if has_unsent.get() && !is_written_in() {
            composer.is_wanted.set(true);
        }
    });
    let beside = viewport::beside();
    memo(move || has_batch.get() && !composer.is_wanted.get() && !beside.get())
}

/// Once all of it was sent, what came of it takes its place, unless a person writes on.
pub fn make_way(composer: Composer) {
    if is_written_in() {
        return;
    }
    if composer.table.with_untracked(|table| table.unsent() > 0) {
        // Rows that could not be sent are to be mended: Generate may be disabled now, and has lost the focus then.
        let bad = composer.table.with_untracked(|table| table.bad_rows(1));
        return focus::once_lost(move || {
            composer.shown_bad.try_set(bad.into_iter().next());
        });
    }
    composer.is_wanted.try_set(false);
    match viewport::is_beside() {
        // There is nothing to be pressed any more where it was sent from: what came of it is next to that.
        true => focus::once_lost(|| {
            focus::in_place_to(".run h2");
        }),
        false => after_frame(|| focus_in_place(NEW_BATCH)),
    }
}

fn is_written_in() -> bool {
    let focused = document().active_element();
    focused.is_some_and(|it| it.matches(WRITTEN_IN).unwrap_or_default())
}

/// What was sent from the composer, and the way to it, where it stands below.
pub fn way_to_composer(composer: Composer, is_below: Memo<bool>) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    view! {
        <div class="panel row new-batch" hidden=when(move || !is_below.get())>
            <button class="button" id=NEW_BATCH type="button" on:click=handler(move |_| open(composer))>
                <Glyph icon=LuPlus />
                "New batch"
            </button>
            <p class="muted" hidden=when(move || sent.get() == 0) prop:textContent=said(composer)></p>
            {composer.answer.view()}
        </div>
    }
    .into_any()
}

/// The same next to Generate, where the panel still holds what was sent, changed or not, or rows are left that can't be
/// sent.
pub fn new_batch(composer: Composer, is_below: Memo<bool>) -> AnyView {
    let is_sent = memo(move || composer.table.read().is_all_sent());
    let is_written = memo(move || {
        composer.way.get() != FillMethod::Lines && composer.written.read().has_content()
    });
    let has_left = memo(move || composer.table.read().has_left_rows());
    view! {
        <button
            class="button"
            type="button"
            hidden=when(move || is_below.get() || !(has_left.get() || is_sent.get() && is_written.get()))
            on:click=handler(move |_| {
                composer.begin_anew();
                show(composer);
            })
        >
            <Glyph icon=LuPlus />
            "New batch"
        </button>
    }
    .into_any()
}

/// Nothing of the last one stands in it, unless some of that is yet to be sent.
fn open(composer: Composer) {
    if composer.is_at_rest() {
        composer.begin_anew();
    }
    show(composer);
}

fn show(composer: Composer) {
    composer.is_wanted.set(true);
    after_frame(|| {
        focus::to(FIRST_FIELD);
    });
}

fn said(composer: Composer) -> Signal<String> {
    text(move || {
        let (is_held, queued) = (composer.is_held.get(), composer.queued.read());
        composer.table.read().sent_message(is_held, &queued)
    })
}

/// What was sent from here.
pub fn sent_rows(composer: Composer) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    let absent = RwSignal::new(0);
    composer.follow(Rc::new(move || {
        let now = composer.table.read_untracked().put_back_count();
        if now != absent.get_untracked() {
            absent.set(now);
        }
    }));
    // These buttons go with the rows that they are about: the keyboard goes on in the table.
    let put_back = move |_| {
        composer.put_all_back();
        focus::once_lost(focus_on_items);
    };
    let remove = move |_| {
        composer.edit(|table| table.clear_sent());
        focus::once_lost(focus_on_items);
    };
    view! {
        <div class="row tight sent-rows" hidden=when(move || sent.get() == 0)>
            <p class="muted" prop:textContent=said(composer)></p>
            <button
                class="button quiet small"
                type="button"
                title="Generate sends them once more"
                // What waits to be sent would be sent twice.
                hidden=when(move || absent.get() == 0 || composer.is_held.get())
                on:click=handler(put_back)
                prop:textContent=text(move || format!("Put {} back", counted(absent.get(), "row")))></button>
            <button class="button quiet small" type="button" on:click=handler(remove) prop:textContent=text(move || format!("Remove {}", counted(sent.get(), "sent row")))></button>
        </div>
    }
    .into_any()
}
