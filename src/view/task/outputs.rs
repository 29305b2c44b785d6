use std::sync::Arc;

use crate::boxed::{handler, text, when};
use crate::contexts::contexts;
use atelier_engine::output::{OutputKind, SafeUrl};
use atelier_engine::{Millis, Task};
use icondata_lu::{LuDownload, LuExternalLink};
use leptos::prelude::*;

use super::output_view::{OutputView, ShownOutput};
use super::{favorite, large, output_recovery};
use crate::view::parts::cached_output::address_of_copy;
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::glyph::Glyph;

/// As many outputs are made at a time: each is a picture to load, and a service may give thousands.
const OUTPUTS_AT_ONCE: usize = 48;

/// The outputs of a task: they are what all this is for.
#[component]
pub fn Outputs(
    task: Task,
    outputs: Vec<String>,
    /// See [`ShownOutput`].
    since: Millis,
) -> impl IntoView {
    if outputs.is_empty() {
        return view! { <p class="muted">"Completed, without any output."</p> }.into_any();
    }
    let total = outputs.len();
    let task = Arc::new(task);
    let shown = RwSignal::new(total.min(OUTPUTS_AT_ONCE));
    let list = move |from: usize, to: usize| {
        let some = outputs.iter().enumerate().take(to).skip(from);
        some.map(|(at, url)| {
            let (task, url) = (task.clone(), url.clone());
            view! { <Output task url n=at + 1 total since /> }.into_any()
        })
        .collect_view()
    };
    let begins = (0..total).step_by(OUTPUTS_AT_ONCE);
    let parts = move || {
        let begins = begins.clone().take_while(move |from| *from < shown.get());
        begins.collect::<Vec<_>>()
    };
    let left = move || total - shown.get();
    let more = move |_| shown.update(|shown| *shown = total.min(*shown + OUTPUTS_AT_ONCE));
    view! {
        <ul role="list" class="outputs" data-count=total.min(4).to_string()>
            <For each=parts key=|from| *from let:from>
                {list(from, from + OUTPUTS_AT_ONCE)}
            </For>
        </ul>
        <button class="button" type="button" hidden=when(move || left() == 0) on:click=handler(more)>
            {text(move || format!("Show {} more of {total} outputs", left().min(OUTPUTS_AT_ONCE)))}
        </button>
    }
    .into_any()
}

#[component]
fn Output(task: Arc<Task>, url: String, n: usize, total: usize, since: Millis) -> impl IntoView {
    let contexts = contexts();
    let address = contexts.session.settings_untracked().address;
    let kind = OutputKind::of(&url, &task.model.category);
    let what = match kind {
        OutputKind::Image => "Image",
        OutputKind::Video => "Video",
        OutputKind::Audio => "Audio",
        OutputKind::Other => "Output",
    };
    let which = if total > 1 {
        format!("{what} {n} of {total}")
    } else {
        what.to_owned()
    };
    let label = match task.input.title() {
        "" => which.clone(),
        title => format!("{which}: {title}"),
    };
    let safe = SafeUrl::media(&url, address.as_str());
    let key = task.key.clone();
    let open = safe.clone().filter(SafeUrl::is_link).map(|url| {
        view! {
            <a
                class="button quiet"
                href=url.as_str().to_owned()
                target="_blank"
                rel="noopener noreferrer"
            >
                <Glyph icon=LuExternalLink />
                "Open"
            </a>
        }
        .into_any()
    });
    let shown = ShownOutput {
        copy: address_of_copy(),
        words: RwSignal::new(String::new()),
        position: n - 1,
        url: url.clone(),
        task,
        kind,
        since,
    };
    let copy = shown.copy;
    let save = safe.map(|_| {
        let shown = shown.clone();
        let busy = RwSignal::new(false);
        let save = move |_| {
            let shown = shown.clone();
            busy.set(true);
            output_recovery::save(contexts, shown, busy);
        };
        view! {
            <button class="button quiet" type="button" prop:disabled=busy on:click=handler(save)>
                <Glyph icon=LuDownload />
                "Download"
            </button>
        }
    });
    let large = (kind == OutputKind::Image).then(|| large::enlarge(&shown, label.clone()));
    let heart = favorite::output_heart(&key, n - 1);
    let copied = url.clone();
    view! {
        <li class="output" data-kind=format!("{kind:?}").to_ascii_lowercase()>
            <figure>
                <div class="picture">
                    <OutputView shown label />
                    {large} {heart}
                </div>
                <figcaption>
                    <span class="muted">
                        {text(move || match copy.read().is_empty() {
                            true => which.clone(),
                            false => format!("{which}. Shown from the copy kept in this browser."),
                        })}
                    </span>
                    <span class="row tight">
                        {open} <CopyButton label="Copy URL" text=move || copied.clone() /> {save}
                    </span>
                </figcaption>
            </figure>
        </li>
    }
}
