use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlElement};

use crate::reactive::boxed::effect;

/// Calls a function with an element each time its size changes, before it is painted, until the current owner is disposed.
pub fn follow_size<E>(element: NodeRef<E>, act: impl Fn(&E::Output) + Clone + 'static)
where
    E: ElementType,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
{
    let observer = StoredValue::new_local(None);
    effect(move || {
        let Some(element) = element.get() else { return };
        let (act, of) = (act.clone(), element.clone());
        observer.set_value(observe(element.as_ref(), move || act(&of)));
    });
    disconnect(observer);
}

/// Calls a function each time the size of an existing element changes, until the current owner is disposed.
pub fn follow_size_of(element: &Element, act: impl Fn() + 'static) {
    disconnect(StoredValue::new_local(observe(element, act)));
}

type Observed = (web_sys::ResizeObserver, Closure<dyn FnMut()>);

fn observe(element: &Element, act: impl Fn() + 'static) -> Option<Observed> {
    let on_size = Closure::<dyn FnMut()>::new(act);
    let observer = web_sys::ResizeObserver::new(on_size.as_ref().unchecked_ref()).ok()?;
    observer.observe(element);
    Some((observer, on_size))
}

/// Disconnects the observer when the current owner is disposed.
fn disconnect(observer: StoredValue<Option<Observed>, LocalStorage>) {
    on_cleanup(move || {
        let observer = observer.try_update_value(Option::take).flatten();
        if let Some((observer, _)) = observer {
            observer.disconnect();
        }
    });
}

/// Sets a custom CSS property on the root element.
pub fn set_root_property(name: &str, value: &str) {
    let root = document().document_element();
    if let Some(root) = root.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // It fails only if the style is read-only.
        let _ = root.style().set_property(name, value);
    }
}
