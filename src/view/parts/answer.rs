use leptos::prelude::*;

use crate::boxed::{after, dynamic};

const STAYS_MS: u32 = 8_000;

/// What is said, beside a button, to a press of it. The same words are read out anew each time.
#[derive(Clone, Copy)]
pub struct Answer {
    said: RwSignal<Option<String>>,
    times: StoredValue<u32>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            said: RwSignal::new(None),
            times: StoredValue::new(0),
        }
    }
}

impl Answer {
    pub fn say(self, words: String) {
        self.said.set(Some(words));
        self.times.update_value(|times| *times += 1);
        let time = self.times.get_value();
        let end = after(STAYS_MS, move || {
            if self.times.try_get_value() == Some(time) {
                self.hush();
            }
        });
        end.forget();
    }

    pub fn hush(self) {
        self.said.try_set(None);
    }

    pub fn view(self) -> AnyView {
        let words = dynamic(move || {
            let said = self.said.get();
            said.map(|said| view! { <span>{said}</span> }.into_any())
                .into_any()
        });
        view! {
            <p class="answer" role="status">
                {words}
            </p>
        }
        .into_any()
    }
}
