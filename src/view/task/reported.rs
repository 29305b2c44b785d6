//! The progress of a running task as its service reports it: the completed fraction, the remaining time, and a picture of
//! the unfinished output.

use atelier_contract::output::SafeUrl;
use atelier_engine::time_left::{Announcements, TimeLeft, progress_text};
use atelier_engine::{Millis, Task};
use atelier_studio::task::progress;
use leptos::prelude::*;
use web_sys::{ErrorEvent, Event, HtmlImageElement};

use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};

/// How long an announcement stays, in milliseconds.
const ANNOUNCEMENT_MS: Millis = 5_000;

/// The number of previews in a row that can't be loaded, after which no further one is requested.
const MAX_FAILURES: u32 = 3;

/// The largest ratio of the sides of a preview that sets the shape of its space.
const MAX_RATIO: f64 = 2.5;

/// The reported progress of a task.
#[derive(Clone, Copy)]
pub(super) struct Reported {
    /// The completed fraction, if the service reports it.
    pub fraction: Memo<Option<f64>>,
    /// The fraction with the remaining time, if the last poll was successful: `40 %, about 20 s left`.
    pub text: Memo<Option<String>>,
    now: RwSignal<Millis>,
}

impl Reported {
    /// `usual`: the median of earlier durations.
    pub fn of(
        task: &ArcRwSignal<Task>,
        usual: Memo<Option<Millis>>,
        now: RwSignal<Millis>,
    ) -> Self {
        let fraction = fraction(task);
        let has_error = {
            let task = task.clone();
            memo(move || task.read().poll_error.is_some())
        };
        let time_left = StoredValue::new(TimeLeft::default());
        let text = memo(move || {
            let (fraction, now, usual) = (fraction.get()?, now.get(), usual.get());
            let left =
                time_left.try_update_value(|time_left| time_left.update(fraction, usual, now));
            Some(progress_text(
                fraction,
                left.flatten().filter(|_| !has_error.get()),
            ))
        });
        Self {
            fraction,
            text,
            now,
        }
    }

    /// A text for screen readers that changes rarely.
    pub fn announcement(self) -> AnyView {
        let announcements = StoredValue::new(Announcements::default());
        let announced = Memo::new(move |before: Option<&(Millis, String)>| {
            let (fraction, now) = (self.fraction.get(), self.now.get());
            let is_due = fraction.is_some_and(|fraction| {
                announcements.try_update_value(|it| it.is_due(fraction, now)) == Some(true)
            });
            let is_recent = |(at, _): &&(Millis, String)| now.saturating_sub(*at) < ANNOUNCEMENT_MS;
            match is_due {
                true => (now, self.text.get_untracked().unwrap_or_default()),
                false => before.filter(is_recent).cloned().unwrap_or_default(),
            }
        });
        let announced = text(move || announced.read().1.clone());
        view! { <span class="visually-hidden" role="status" prop:textContent=announced></span> }
            .into_any()
    }
}

fn fraction(task: &ArcRwSignal<Task>) -> Memo<Option<f64>> {
    let task = task.clone();
    memo(move || progress::reported(&task.read()))
}

/// A decorative bar at the bottom of a small picture or tile.
pub fn small_bar(task: &ArcRwSignal<Task>) -> AnyView {
    let fraction = fraction(task);
    let width = derived(move || Some(format!("{:.1}%", fraction.get()? * 100.0)));
    view! {
        <span
            class="done-bar"
            aria-hidden="true"
            hidden=when(move || fraction.read().is_none())
            style:--done=width
        ></span>
    }
    .into_any()
}

/// The picture of the unfinished output.
pub(super) struct Preview {
    /// Whether there is one, and it is loaded.
    pub is_shown: Signal<bool>,
    /// Its aspect ratio in CSS syntax, once it is loaded, unless it is very wide or high.
    pub ratio: RwSignal<Option<String>>,
    pub picture: AnyView,
}

/// Shows the preview that the service reports, once it is loaded. Hosts may refuse it.
pub(super) fn preview(task: &ArcRwSignal<Task>) -> Preview {
    let task = task.clone();
    let url = memo(move || {
        let task = task.read();
        let preview = task.preview.as_deref();
        let preview = preview.filter(|_| progress::is_current(&task))?;
        Some(SafeUrl::link(preview, &task.account.address)?.to_string())
    });
    let failures = RwSignal::new(0);
    let is_requested = memo(move || url.read().is_some() && failures.get() < MAX_FAILURES);
    let (is_shown, ratio) = (RwSignal::new(false), RwSignal::new(None));
    let on_load = move |event: Event| {
        let picture: HtmlImageElement = event_target(&event);
        let (width, height) = (picture.natural_width(), picture.natural_height());
        let shape = f64::from(width) / f64::from(height);
        if (1.0 / MAX_RATIO..=MAX_RATIO).contains(&shape) {
            ratio.try_set(Some(format!("{width} / {height}")));
        }
        failures.try_set(0);
        is_shown.try_set(true);
    };
    let on_error = move |event: ErrorEvent| {
        let picture: HtmlImageElement = event_target(&event);
        // The address may have changed since.
        if picture.get_attribute("src") == url.get_untracked() {
            is_shown.try_set(false);
            failures.try_update(|failures| *failures += 1);
        }
    };
    // The element stays when the address changes: the browser shows the previous picture until the next one is loaded.
    let picture = dynamic(move || {
        is_shown.set(false);
        match is_requested.get() {
            true => view! {
                <img
                    class="task-preview"
                    src=text(move || url.get().unwrap_or_default())
                    alt="Preview"
                    hidden=when(move || !is_shown.get())
                    referrerpolicy="no-referrer"
                    decoding="async"
                    on:load=handler(on_load)
                    on:error=handler(on_error)
                />
            }
            .into_any(),
            false => ().into_any(),
        }
    });
    Preview {
        is_shown: when(move || is_shown.get()),
        ratio,
        picture,
    }
}
