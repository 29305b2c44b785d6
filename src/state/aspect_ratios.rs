//! The shapes of models' pictures and films, learned wherever one is shown, so that the gallery gives the next
//! ones their place before they are there. Kept in this browser.

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

const PLACE: &str = "atelier.shapes";

/// Say of an element which output is shown in it: in the gallery, and next to the form.
const OUTPUT: [&str; 2] = ["data-output", "data-shown"];

thread_local! {
    static KNOWN: ArcRwSignal<Shapes> = ArcRwSignal::new(kept());
}

fn kept() -> Shapes {
    Shapes::read(&LocalStore::Browser.read(PLACE).unwrap_or_default())
}

fn known() -> ArcRwSignal<Shapes> {
    KNOWN.with(Clone::clone)
}

/// Width by height, where one was seen; tracked.
pub fn of(model: &ModelId) -> Option<f64> {
    known().read().of(model)
}

/// Looks at every picture and every film that is loaded, for as long as the present owner lives.
pub fn follow(contexts: Contexts) {
    local::on_change(PLACE, || known().set(kept()));
    // These events do not bubble.
    let captured = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    for kind in ["load", "loadedmetadata"] {
        let seen = move |event: &Event| {
            let _ = learn(contexts, event);
        };
        let listener = EventListener::new_with_options(&document(), kind, captured, seen);
        // The listener must not outlive its owner: the signals that it reads end with it.
        StoredValue::new_local(listener);
    }
}

/// Of a picture or a film, with its size in pixels.
fn shown(event: &Event) -> Option<(Element, (u32, u32))> {
    let element: Element = event.target()?.dyn_into().ok()?;
    let image = element.dyn_ref::<HtmlImageElement>();
    let image = image.map(|image| (image.natural_width(), image.natural_height()));
    let film = element.dyn_ref::<HtmlVideoElement>();
    let size = image.or_else(|| film.map(|film| (film.video_width(), film.video_height())))?;
    Some((element, size))
}

fn learn(contexts: Contexts, event: &Event) -> Option<()> {
    let (shown, (width, height)) = shown(event)?;
    let around = |attribute: &str| -> Option<String> {
        let element: Element = shown.closest(&format!("[{attribute}]")).ok()??;
        element.get_attribute(attribute)
    };
    let name = OUTPUT.into_iter().find_map(around)?;
    let (key, _) = name.rsplit_once('/')?;
    let task = contexts.runner.task(&TaskKey(key.to_owned()))?;
    let task = task.get_untracked();
    if expected_output::ratio(task.input.values(), None).is_some() {
        return None;
    }
    let mut shapes = known().get_untracked();
    if shapes.learn(&task.model, width, height) {
        // If storage refuses, the shape holds for this visit.
        LocalStore::Browser.write(PLACE, &shapes.to_text());
        known().set(shapes);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_shapes_are_read_as_they_were() {
        let model = ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        };
        LocalStore::Browser.write(
            "atelier.shapes",
            r#"{"image/strata":1.5,"image/tessera":1.0}"#,
        );
        assert_eq!(kept().of(&model), Some(1.5));
        for odd in ["", "{", "[]", r#"{"image/strata":{"width":3}}"#] {
            LocalStore::Browser.write("atelier.shapes", odd);
            assert_eq!(kept(), Shapes::default(), "{odd}");
        }
        LocalStore::Browser.remove("atelier.shapes");
    }
}
