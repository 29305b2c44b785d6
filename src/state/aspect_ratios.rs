//! The aspect ratios of models' images and videos, recorded whenever one is shown and stored in this browser. The gallery
//! uses them to lay out expected outputs.

use atelier_contract::ModelId;
use atelier_engine::TaskKey;
use atelier_studio::gallery::shapes::Shapes;
use atelier_studio::output::expected_output;
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlImageElement, HtmlVideoElement};

use crate::browser::local::{self, LocalStore};
use crate::state::contexts::Contexts;

const KEY: &str = "atelier.shapes";

/// The attributes that contain the name of the output that an element shows: in the gallery, and next to the form.
const OUTPUT_ATTRIBUTES: [&str; 2] = ["data-output", "data-shown"];

thread_local! {
    static KNOWN: ArcRwSignal<Shapes> = ArcRwSignal::new(read_stored());
}

fn read_stored() -> Shapes {
    Shapes::read(&LocalStore::Browser.read(KEY).unwrap_or_default())
}

fn known() -> ArcRwSignal<Shapes> {
    KNOWN.with(Clone::clone)
}

/// Returns the width of a model's outputs divided by their height, if one was shown before; tracked.
pub fn of(model: &ModelId) -> Option<f64> {
    known().read().of(model)
}

/// Records the aspect ratio of every image and video that is loaded, as long as the current owner lives.
pub fn follow(contexts: Contexts) {
    local::on_change(KEY, || known().set(read_stored()));
    // These events do not bubble.
    let captured = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    for kind in ["load", "loadedmetadata"] {
        let on_load = move |event: &Event| {
            let _ = learn(contexts, event);
        };
        let listener = EventListener::new_with_options(&document(), kind, captured, on_load);
        // The listener must not outlive its owner: the signals that it reads end with it.
        StoredValue::new_local(listener);
    }
}

/// Returns the image or video that a load event is about, with its size in pixels.
fn loaded_media(event: &Event) -> Option<(Element, (u32, u32))> {
    let element: Element = event.target()?.dyn_into().ok()?;
    let image = element.dyn_ref::<HtmlImageElement>();
    let image = image.map(|image| (image.natural_width(), image.natural_height()));
    let video = element.dyn_ref::<HtmlVideoElement>();
    let size = image.or_else(|| video.map(|video| (video.video_width(), video.video_height())))?;
    Some((element, size))
}

/// Records the aspect ratio of the output that a load event is about, unless the task's input determines it.
fn learn(contexts: Contexts, event: &Event) -> Option<()> {
    let (media, (width, height)) = loaded_media(event)?;
    let around = |attribute: &str| -> Option<String> {
        let element: Element = media.closest(&format!("[{attribute}]")).ok()??;
        element.get_attribute(attribute)
    };
    let name = OUTPUT_ATTRIBUTES.into_iter().find_map(around)?;
    let (key, _) = name.rsplit_once('/')?;
    let task = contexts.runner.task(&TaskKey(key.to_owned()))?;
    let task = task.get_untracked();
    if expected_output::ratio(task.input.values(), None).is_some() {
        return None;
    }
    let mut shapes = known().get_untracked();
    if shapes.learn(&task.model, width, height) {
        // If storage refuses, the aspect ratio is known during this visit only.
        LocalStore::Browser.write(KEY, &shapes.to_text());
        known().set(shapes);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_aspect_ratios_are_read() {
        let model = ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        };
        LocalStore::Browser.write(
            "atelier.shapes",
            r#"{"image/strata":1.5,"image/tessera":1.0}"#,
        );
        assert_eq!(read_stored().of(&model), Some(1.5));
        for odd in ["", "{", "[]", r#"{"image/strata":{"width":3}}"#] {
            LocalStore::Browser.write("atelier.shapes", odd);
            assert_eq!(read_stored(), Shapes::default(), "{odd}");
        }
        LocalStore::Browser.remove("atelier.shapes");
    }
}
