use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlElement};

use crate::reactive::boxed::effect;

/// Tells of each size of an element before it is painted, so that nothing moves after it; for as long as its owner lives.
pub fn follow_size<E>(element: NodeRef<E>, act: impl Fn(&E::Output) + Clone + 'static)
where
    E: ElementType,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
{
    let kept = StoredValue::new_local(None);
    effect(move || {
        let Some(element) = element.get() else { return };
        let (act, of) = (act.clone(), element.clone());
        kept.set_value(observed(element.as_ref(), move || act(&of)));
    });
    disconnect(kept);
}

/// The same for an element that is there.
pub fn follow_size_of(element: &Element, act: impl Fn() + 'static) {
    disconnect(StoredValue::new_local(observed(element, act)));
}

type Observed = (web_sys::ResizeObserver, Closure<dyn FnMut()>);

fn observed(element: &Element, act: impl Fn() + 'static) -> Option<Observed> {
    let on_size = Closure::<dyn FnMut()>::new(act);
    let observer = web_sys::ResizeObserver::new(on_size.as_ref().unchecked_ref()).ok()?;
    observer.observe(element);
    Some((observer, on_size))
}

/// With the owner, as it does not go by itself.
fn disconnect(kept: StoredValue<Option<Observed>, LocalStorage>) {
    on_cleanup(move || {
        let kept = kept.try_update_value(Option::take).flatten();
        if let Some((observer, _)) = kept {
            observer.disconnect();
        }
    });
}

/// Sets a property that the style sheet reads, for the whole page.
pub fn set_root_property(name: &str, value: &str) {
    let root = document().document_element();
    if let Some(root) = root.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // It fails only where the property can't be written to at all.
        let _ = root.style().set_property(name, value);
    }
}
