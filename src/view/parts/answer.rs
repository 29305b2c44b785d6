use std::time::Duration;

use leptos::prelude::*;

use crate::erased::dynamic;

const STAYS: Duration = Duration::from_secs(8);

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
    pub fn say(self, words: impl Into<String>) {
        self.said.set(Some(words.into()));
        self.times.update_value(|times| *times += 1);
        let time = self.times.get_value();
        set_timeout(
            move || {
                if self.times.try_get_value() == Some(time) {
                    self.hush();
                }
            },
            STAYS,
        );
    }

    pub fn hush(self) {
        self.said.try_set(None);
    }

    pub fn view(self) -> AnyView {
        let words = move || {
            let said = self.said.get();
            said.map(|said| view! { <span>{said}</span> }.into_any())
                .into_any()
        };
        view! {
            <p class="answer" role="status">
                {dynamic(words)}
            </p>
        }
        .into_any()
    }
}
