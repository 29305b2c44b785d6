use crate::contexts::contexts;
use atelier_engine::output::OutputKind;
use atelier_engine::route::Route;
use atelier_engine::{TaskKey, TaskState};
use leptos::prelude::*;

use crate::boxed::{dynamic, memo, text, when};
use crate::browser::clock;
use crate::view::parts::cached_output::address_of_copy;
use crate::view::parts::media::MediaView;
use crate::view::task::{StateLine, name, output_recovery};

/// One task of the list: enough to know it by; the rest is at its own address.
#[component]
pub fn TaskRow(task_key: TaskKey) -> impl IntoView {
    let runner = contexts().runner;
    let Some(task) = runner.task(&task_key) else {
        return ().into_any();
    };
    let first = task.get_untracked();
    let category = first.model.category.clone();
    let picture = memo({
        let task = task.clone();
        move || match &task.read().state {
            TaskState::Ready { outputs, .. } => outputs.first().cloned(),
            _ => None,
        }
    });
    let more = memo({
        let task = task.clone();
        move || match &task.read().state {
            TaskState::Ready { outputs, .. } => outputs.len().saturating_sub(1),
            _ => 0,
        }
    });
    let title = match first.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let href = Route::Task(task_key.clone()).path();
    // Where the output's address is dead, the copy that this browser keeps. The service is not asked
    // for a fresh one: of a list of old tasks it would be asked much.
    let copy = address_of_copy();
    let output = task_key.output(0);
    let time = clock::local(first.created).said(clock::local(clock::now()));
    let about = format!("{} · {time}", first.model_name);
    view! {
        <article class="task-row" aria-label=name(&first)>
            <div class="task-row-picture" aria-hidden="true">
                {dynamic(move || {
                    picture
                        .get()
                        .map(|url| {
                            let kind = OutputKind::of(&url, &category);
                            let output = output.clone();
                            let on_gone = move |()| {
                                if copy.read_untracked().is_empty() {
                                    output_recovery::show_copy(runner, output.clone(), copy);
                                }
                            };
                            let url = Some(copy.get()).filter(|copy| !copy.is_empty()).unwrap_or(url);
                            view! { <MediaView url kind label="" thumbnail=true on_gone /> }.into_any()
                        })
                        .into_any()
                })}
                <span class="more" hidden=when(move || more.get() == 0)>
                    {text(move || format!("+{}", more.get()))}
                </span>
            </div>
            <div class="task-row-text">
                <a class="cover" href=href>
                    {title}
                </a>
                <span class="muted">{about}</span>
            </div>
            <StateLine task />
        </article>
    }
    .into_any()
}
