//! The progress of a running task as its service reports it: the completed fraction, the remaining time, and a picture of
//! the unfinished output.

use atelier_contract::output::SafeUrl;
use atelier_engine::time_left::{Announcements, TimeLeft, progress_text};
use atelier_engine::{Millis, Task};
use atelier_studio::task::progress;
use leptos::prelude::*;
use web_sys::{ErrorEvent, Event, HtmlImageElement};

use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};

/// The reported progress of a task.
#[derive(Clone, Copy)]
pub(super) struct Reported {
    /// The completed fraction, if the service reports it.
    pub fraction: Memo<Option<f64>>,
    /// The fraction with the remaining time: `40 %, about 20 s left`.
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
        let time_left = StoredValue::new(TimeLeft::default());
        let text = memo(move || {
            let (fraction, now, usual) = (fraction.get()?, now.get(), usual.get());
            let left =
                time_left.try_update_value(|time_left| time_left.update(fraction, usual, now));
            Some(progress_text(fraction, left.flatten()))
        });
        Self {
            fraction,
            text,
            now,
        }
    }

    /// A text for screen readers that changes rarely.
    pub fn announcement(self) -> AnyView {
        let is_reported = memo(move || self.fraction.read().is_some());
        let announcements = StoredValue::new(Announcements::default());
        let announced = Memo::new(move |before: Option<&String>| {
            let (fraction, now) = (self.fraction.get(), self.now.get());
            let is_due = fraction.is_some_and(|fraction| {
                announcements.try_update_value(|it| it.is_due(fraction, now)) == Some(true)
            });
            match is_due {
                true => self.text.get_untracked().unwrap_or_default(),
                false => before.cloned().unwrap_or_default(),
            }
        });
        dynamic(move || {
            match is_reported.get() {
            true => view! { <span class="visually-hidden" role="status" prop:textContent=announced></span> }
                .into_any(),
            false => ().into_any(),
        }
        })
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
    /// Whether there is one.
    pub is_shown: Memo<bool>,
    /// Its aspect ratio in CSS syntax, once it is loaded.
    pub ratio: RwSignal<Option<String>>,
    pub picture: AnyView,
}

/// Shows the preview that the service reports. A picture that can't be loaded is not shown.
pub(super) fn preview(task: &ArcRwSignal<Task>) -> Preview {
    let task = task.clone();
    let url = memo(move || {
        let task = task.read();
        let url = SafeUrl::link(task.preview.as_deref()?, &task.account.address)?;
        Some(url.to_string())
    });
    let failed = RwSignal::new(None::<String>);
    let is_shown = memo(move || url.read().is_some() && *url.read() != *failed.read());
    let ratio = RwSignal::new(None);
    let on_load = move |event: Event| {
        let picture: HtmlImageElement = event_target(&event);
        let (width, height) = (picture.natural_width(), picture.natural_height());
        if width > 0 && height > 0 {
            ratio.try_set(Some(format!("{width} / {height}")));
        }
    };
    let on_error = move |_: ErrorEvent| {
        failed.try_set(url.get_untracked());
    };
    // The element stays when the address changes: the browser shows the previous picture until the next one is loaded.
    let picture = dynamic(move || match is_shown.get() {
        true => view! {
            <img
                class="preview"
                src=text(move || url.get().unwrap_or_default())
                alt="Preview"
                crossorigin="anonymous"
                referrerpolicy="no-referrer"
                decoding="async"
                on:load=handler(on_load)
                on:error=handler(on_error)
            />
        }
        .into_any(),
        false => ().into_any(),
    });
    Preview {
        is_shown,
        ratio,
        picture,
    }
}
