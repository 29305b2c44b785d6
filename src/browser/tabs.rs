//! What the tabs of one person tell each other.

use gloo_events::EventListener;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BroadcastChannel, MessageEvent};

/// Messages reach the other tabs, never the sender.
pub struct Channel {
    channel: Option<BroadcastChannel>,
    _listener: Option<EventListener>,
}

impl Channel {
    /// Without BroadcastChannel each tab is on its own.
    pub fn open(name: &str, on_message: impl Fn(String) + 'static) -> Self {
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
            _listener: listener,
        }
    }

    pub fn post(&self, text: &str) {
        if let Some(channel) = &self.channel {
            // It only fails on a closed channel, and this one is never closed.
            let _ = channel.post_message(&JsValue::from_str(text));
        }
    }
}
