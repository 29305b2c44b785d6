use leptos::html::P;
use leptos::prelude::*;

use super::into_view::into_view;
use super::settings_link::with_settings_link;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{after, dynamic, effect};

/// How long a message is shown.
const DURATION_MS: u32 = 8_000;

/// A short message next to a button about the result of pressing it. Screen readers also announce a repeated message.
#[derive(Clone, Copy)]
pub struct StatusNote {
    message: RwSignal<Option<Message>>,
    /// The number of messages shown so far. A timer clears only its own message.
    times: StoredValue<u32>,
}

#[derive(Clone)]
struct Message {
    text: String,
    /// The text and the URL of a link after the message.
    link: Option<(&'static str, String)>,
}

impl Default for StatusNote {
    fn default() -> Self {
        Self {
            message: RwSignal::new(None),
            times: StoredValue::new(0),
        }
    }
}

impl StatusNote {
    /// Shows a message.
    pub fn say(self, text: String) {
        self.show(Message { text, link: None });
    }

    /// Shows a message followed by a link.
    pub fn say_with_link(self, text: String, label: &'static str, href: String) {
        let link = Some((label, href));
        self.show(Message { text, link });
    }

    fn show(self, message: Message) {
        if self.message.try_set(Some(message)).is_some() {
            return; // The view was disposed.
        }
        self.times.update_value(|times| *times += 1);
        let time = self.times.get_value();
        let end = after(DURATION_MS, move || {
            if self.times.try_get_value() == Some(time) {
                self.clear();
            }
        });
        end.forget();
    }

    pub fn clear(self) {
        self.message.try_set(None);
    }

    /// Returns the element of the message. It scrolls into view when a message appears.
    pub fn view(self) -> AnyView {
        let note = NodeRef::<P>::new();
        let was_shown = StoredValue::new(false);
        effect(move || {
            let is_shown = self.message.read().is_some();
            if was_shown.get_value() || !is_shown {
                return was_shown.set_value(is_shown);
            }
            was_shown.set_value(true);
            after_frame(move || {
                if let Some(note) = note.try_get_untracked().flatten() {
                    into_view(&note);
                }
            });
        });
        let text = dynamic(move || {
            let message = self.message.get();
            message
                .map(|message| {
                    let link = message.link.map(|(label, href)| {
                        view! {
                            " "
                            <a href=href>{label}</a>
                        }
                        .into_any()
                    });
                    view! { <span>{with_settings_link(Signal::stored(message.text))} {link}</span> }
                        .into_any()
                })
                .into_any()
        });
        view! {
            <p class="answer" role="status" node_ref=note>
                {text}
            </p>
        }
        .into_any()
    }
}
