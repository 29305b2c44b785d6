use leptos::html::P;
use leptos::prelude::*;

use super::into_view::into_view;
use super::settings_link::with_settings_link;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{after, dynamic, effect};

const STAYS_MS: u32 = 8_000;

/// What is said, next to a button, to a press of it. The same words are read out anew each time.
#[derive(Clone, Copy)]
pub struct StatusNote {
    said: RwSignal<Option<Said>>,
    times: StoredValue<u32>,
}

#[derive(Clone)]
struct Said {
    words: String,
    /// Where it leads: the words of the link, and the address.
    link: Option<(&'static str, String)>,
}

impl Default for StatusNote {
    fn default() -> Self {
        Self {
            said: RwSignal::new(None),
            times: StoredValue::new(0),
        }
    }
}

impl StatusNote {
    pub fn say(self, words: String) {
        self.put(Said { words, link: None });
    }

    /// With a link behind the words.
    pub fn say_with(self, words: String, label: &'static str, href: String) {
        let link = Some((label, href));
        self.put(Said { words, link });
    }

    fn put(self, said: Said) {
        if self.said.try_set(Some(said)).is_some() {
            return; // Its view is gone.
        }
        self.times.update_value(|times| *times += 1);
        let time = self.times.get_value();
        let end = after(STAYS_MS, move || {
            if self.times.try_get_value() == Some(time) {
                self.clear();
            }
        });
        end.forget();
    }

    pub fn clear(self) {
        self.said.try_set(None);
    }

    /// As it begins to say something it comes into sight: it may stand below the edge of the screen.
    pub fn view(self) -> AnyView {
        let note = NodeRef::<P>::new();
        let was_said = StoredValue::new(false);
        effect(move || {
            let is_said = self.said.read().is_some();
            if was_said.get_value() || !is_said {
                return was_said.set_value(is_said);
            }
            was_said.set_value(true);
            after_frame(move || {
                if let Some(note) = note.try_get_untracked().flatten() {
                    into_view(&note);
                }
            });
        });
        let words = dynamic(move || {
            let said = self.said.get();
            said.map(|said| {
                let link = said.link.map(|(label, href)| {
                    view! {
                        " "
                        <a href=href>{label}</a>
                    }
                    .into_any()
                });
                view! { <span>{with_settings_link(Signal::stored(said.words))} {link}</span> }
                    .into_any()
            })
            .into_any()
        });
        view! {
            <p class="answer" role="status" node_ref=note>
                {words}
            </p>
        }
        .into_any()
    }
}
