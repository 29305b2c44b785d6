use atelier_contract::output::OutputKind;
use atelier_engine::{Phase, Task, stored_output};
use icondata_lu::{LuCircleCheck, LuCircleHelp, LuCircleSlash, LuCircleX, LuEllipsis};
use leptos::prelude::*;

use super::output_recovery;
use super::reported::small_bar;
use super::small_image::small_image;
use crate::reactive::boxed::{dynamic, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::known_files;
use crate::view::parts::cached_output::object_url_signal;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::media::MediaView;

/// A thumbnail of a task's first output, with the number of further outputs. Without outputs, an icon of the task's state.
/// If the address is dead, it shows the copy in this browser. It requests no fresh address from the service, because a list
/// of old tasks would need many requests.
pub fn thumbnail(task: &ArcRwSignal<Task>) -> AnyView {
    let (key, category) =
        task.with_untracked(|task| (task.key.clone(), task.model.category.clone()));
    let phase = memo({
        let task = task.clone();
        move || task.read().state.phase()
    });
    let outputs = memo({
        let task = task.clone();
        move || {
            let task = task.read();
            let outputs = task.outputs();
            (outputs.first().cloned(), outputs.len())
        }
    });
    let more = move || outputs.read().1.saturating_sub(1);
    let output = key.output(0);
    let picture = move || {
        let Some(url) = outputs.read().0.clone() else {
            return mark(phase.get());
        };
        let kind = OutputKind::of(&url, &category);
        small_output(output.clone(), url, kind)
    };
    let is_ended = task.with_untracked(|task| task.state.is_terminal());
    let bar = (!is_ended).then(|| small_bar(task));
    view! {
        {dynamic(picture)}
        {bar}
        // Decorative: the link around it has a name of its own.
        <span
            class="more drawn"
            hidden=when(move || more() == 0)
            data-text=text(move || format!("+{}", more()))
        ></span>
    }
    .into_any()
}

/// A thumbnail of the output `name`, or of its copy if the address is dead.
pub fn small_output(name: String, url: String, kind: OutputKind) -> AnyView {
    let contexts = contexts();
    let copy = object_url_signal();
    let was_looked_for = RwSignal::new(!stored_output::is_reference(&url));
    if !was_looked_for.get_untracked() {
        let output = (url.clone(), kind);
        output_recovery::show_copy(contexts, name.clone(), output, copy, was_looked_for);
    }
    // A memo: setting the same value again does not rebuild the view.
    let is_known = memo(move || was_looked_for.get());
    dynamic(move || {
        if !is_known.get() {
            return ().into_any();
        }
        let name = name.clone();
        let kind = known_files::of_output(&url).kind.unwrap_or(kind);
        let on_gone = {
            let (name, url) = (name.clone(), url.clone());
            move |()| {
                if copy.read_untracked().is_empty() {
                    let output = (url.clone(), kind);
                    output_recovery::show_copy(
                        contexts,
                        name.clone(),
                        output,
                        copy,
                        was_looked_for,
                    );
                }
            }
        };
        let url = Some(copy.get())
            .filter(|copy| !copy.is_empty())
            .unwrap_or_else(|| url.clone());
        match kind {
            OutputKind::Image => small_image(name.clone(), url, Callback::new(on_gone)),
            _ => view! { <MediaView url kind label="" thumbnail=true on_gone /> }.into_any(),
        }
    })
}

/// The icon of the task's state, in place of a picture.
fn mark(phase: Phase) -> AnyView {
    let icon = match phase {
        Phase::Failed | Phase::Gone => LuCircleX,
        Phase::Canceled => LuCircleSlash,
        Phase::Unconfirmed => LuCircleHelp,
        Phase::Ready => LuCircleCheck,
        Phase::Queued | Phase::Submitting | Phase::Running | Phase::Fetching => LuEllipsis,
    };
    view! {
        <span class="media-stand-in state-mark" data-phase=phase.word()>
            <Glyph icon />
        </span>
    }
    .into_any()
}
