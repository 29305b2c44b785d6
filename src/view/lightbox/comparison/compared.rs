use atelier_engine::output::SafeUrl;
use atelier_engine::outputs_of;
use icondata_lu::{LuDownload, LuMaximize2};
use leptos::html::Div;
use leptos::prelude::*;

use crate::boxed::handler;
use crate::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::media;
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{favorite, output_recovery};

/// One of them, and what can be done with it.
///
/// `name`: what it is called among the others. `sides`: told how many pixels wide and high it is.
pub fn compared(
    shown: &ShownOutput,
    name: &str,
    number: usize,
    count: usize,
    sides: RwSignal<Option<(u32, u32)>>,
) -> AnyView {
    let all = contexts();
    let title = shown.task.input.title().to_owned();
    let label = format!("{number} of {count}: {title}");
    // The outputs of one task have their prompt in common.
    let which = match outputs_of(&shown.task) {
        0 | 1 => name.to_owned(),
        outputs => format!("Output {} of {outputs}: {name}", shown.position + 1),
    };
    let name = shown.task.key.output(shown.position);
    let address = all.session.settings_untracked().address;
    let save = SafeUrl::media(&shown.url, address.as_str()).map(|_| {
        let shown = shown.clone();
        let busy = RwSignal::new(false);
        let save = move |_| {
            busy.set(true);
            output_recovery::save(all, shown.clone(), busy);
        };
        let label = format!("Download {number}");
        view! {
            <button
                class="icon-button"
                type="button"
                aria-label=label.clone()
                title=label
                prop:disabled=busy
                on:click=handler(save)
            >
                <Glyph icon=LuDownload />
            </button>
        }
        .into_any()
    });
    let large = format!("Show {number} large");
    let output = NodeRef::<Div>::new();
    media::follow_sides(output, move |of| sides.set(of));
    view! {
        <li>
            <div class="compared-head">
                <span class="compared-number">{number}</span>
                <span class="compared-title" dir="auto" title=title>
                    {which}
                </span>
                {favorite::output_heart(&shown.task.key, shown.position)}
                {save}
                <button
                    class="icon-button"
                    type="button"
                    aria-label=large.clone()
                    title=large
                    on:click=handler(move |_| shown::open(all.navigation, &name))
                >
                    <Glyph icon=LuMaximize2 />
                </button>
            </div>
            <div class="compared-output" node_ref=output data-kind=shown.kind.word()>
                <OutputView shown=shown.clone() label />
            </div>
        </li>
    }
    .into_any()
}
