//! A channel for messages between the tabs of one browser.

use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BroadcastChannel, MessageEvent};

use crate::browser::local::{self, LocalStore};

/// The prefix of the keys in [`LocalStore::Browser`] that carry messages to the other tabs. The name of the channel follows.
const MESSAGE_KEY_PREFIX: &str = "atelier.letter.";

/// A channel. Messages reach all other tabs, but not the sender.
pub struct Channel {
    channel: Option<BroadcastChannel>,
    /// The storage key for messages; `None` if they must not be stored.
    message_key: Option<String>,
    /// The listeners for messages, which are removed when dropped.
    listeners: Vec<EventListener>,
}

impl Channel {
    /// Opens a channel. Without BroadcastChannel, or if it refuses, messages are sent through [`LocalStore::Browser`], whose
    /// changes the browser reports to the other tabs. If that is refused as well, the tabs can't communicate.
    pub fn open(name: &str, on_message: impl Fn(String) + 'static) -> Self {
        let on_message = Rc::new(on_message);
        let callback = on_message.clone();
        let mut opened = Self::open_in_memory(name, move |text| callback(text));
        let message_key = format!("{MESSAGE_KEY_PREFIX}{name}");
        let listener = local::on_text(message_key.clone(), move |text| on_message(text));
        opened.message_key = Some(message_key);
        opened.listeners.push(listener);
        opened
    }

    /// Opens a channel for messages that must never be stored, such as a token. Without BroadcastChannel, the tabs can't
    /// communicate.
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
            message_key: None,
            listeners: listener.into_iter().collect(),
        }
    }

    /// Posts a message without storing it, and returns whether that worked.
    pub fn post_in_memory(&self, text: &str) -> bool {
        let message = JsValue::from_str(text);
        let channel = self.channel.as_ref();
        channel.is_some_and(|channel| channel.post_message(&message).is_ok())
    }

    /// Posts a message, through storage if there is no other way.
    pub fn post(&self, text: &str) {
        if self.post_in_memory(text) {
            return;
        }
        if let Some(key) = &self.message_key {
            LocalStore::Browser.write(key, text);
            LocalStore::Browser.remove(key);
        }
    }
}
