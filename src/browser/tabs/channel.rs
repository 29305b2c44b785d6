//! A channel on which the tabs of one person tell each other something.

use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BroadcastChannel, MessageEvent};

use crate::browser::local::{self, LocalStore};

/// What a text in [`LocalStore::Browser`] is called that is only there to be heard by the other tabs: the rest is the
/// channel's name.
const LETTER: &str = "atelier.letter.";

/// Messages reach the other tabs, never the sender.
pub struct Channel {
    channel: Option<BroadcastChannel>,
    /// The key that letters have; none where what is said must not be stored.
    letter: Option<String>,
    /// They hear as long as they live.
    listeners: Vec<EventListener>,
}

impl Channel {
    /// Without BroadcastChannel, or where it refuses, messages go through [`LocalStore::Browser`], of whose changes
    /// the browser tells the other tabs. Where that is refused as well each tab is on its own.
    pub fn open(name: &str, on_message: impl Fn(String) + 'static) -> Self {
        let on_message = Rc::new(on_message);
        let hear = on_message.clone();
        let mut opened = Self::open_in_memory(name, move |text| hear(text));
        let letter = format!("{LETTER}{name}");
        let letters = local::on_text(letter.clone(), move |text| on_message(text));
        opened.letter = Some(letter);
        opened.listeners.push(letters);
        opened
    }

    /// The same for what must never be stored, such as a token: without BroadcastChannel each tab is on its own.
    pub fn open_in_memory(name: &str, on_message: impl Fn(String) + 'static) -> Self {
        let channel = BroadcastChannel::new(name).ok();
        let listener = channel.as_ref().map(|channel| {
            EventListener::new(channel, "message", move |event| {
                let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data);
                if let Some(text) = data.and_then(|data| data.as_string()) {
                    on_message(text);
                }
            })
        });
        Self {
            channel,
            letter: None,
            listeners: listener.into_iter().collect(),
        }
    }

    /// Whether it was posted in a way that stores nothing.
    pub fn post_in_memory(&self, text: &str) -> bool {
        let message = JsValue::from_str(text);
        let channel = self.channel.as_ref();
        channel.is_some_and(|channel| channel.post_message(&message).is_ok())
    }

    pub fn post(&self, text: &str) {
        if self.post_in_memory(text) {
            return;
        }
        if let Some(letter) = &self.letter {
            LocalStore::Browser.write(letter, text);
            LocalStore::Browser.remove(letter);
        }
    }
}
