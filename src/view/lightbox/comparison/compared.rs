use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_studio::gallery::side_by_side::Shape;
use icondata_lu::{LuDownload, LuMaximize2};
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{handler, text};
use crate::state::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::media;
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{favorite, output_recovery};

/// Returns a compared output with its number, caption and buttons.
///
/// `name`: the caption. `sides`: receives the width and height in pixels.
pub fn compared(
    shown: &ShownOutput,
    name: Signal<String>,
    number: usize,
    count: usize,
    sides: RwSignal<Option<(u32, u32)>>,
) -> AnyView {
    let all = contexts();
    let title = shown.task.input.title().to_owned();
    let label = format!("{number} of {count}: {title}");
    // Outputs of the same task have the same prompt, so the caption also has the number of the output.
    let which = match shown.task.outputs().len() {
        0 | 1 => name,
        outputs => {
            let output = shown.position + 1;
            text(move || format!("Output {output} of {outputs}: {}", name.get()))
        }
    };
    let name = shown.task.key.output(shown.position);
    let address = all.session.settings_untracked().address;
    let save = SafeUrl::file(&shown.url, address.as_str()).map(|_| {
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
    let heart = format!("Favorite {number}");
    let heart = favorite::named_heart(heart, &shown.task.key, shown.position);
    let shown = shown.clone();
    let (task, kind) = (shown.task.clone(), shown.kind);
    let output_view = view! { <OutputView shown label /> }.into_any();
    // The element of a picture has the picture's aspect ratio, so that zoomed pictures all show the same part.
    let output_view = match kind {
        OutputKind::Image => {
            let ratio = move || Shape::of(&task, kind, sides.get(), None).ratio.to_string();
            view! {
                <div class="compared-picture" style:--ratio=text(ratio)>
                    {output_view}
                </div>
            }
            .into_any()
        }
        _ => output_view,
    };
    view! {
        <li>
            <div class="compared-head">
                <span class="compared-number" translate="no">{number}</span>
                <span class="compared-title" translate="no" dir="auto" title=title>
                    {which}
                </span>
                {heart}
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
            <div
                class="compared-output"
                node_ref=output
                data-kind=kind.word()
            >
                {output_view}
            </div>
        </li>
    }
    .into_any()
}
