use leptos::prelude::*;

/// A part of the page that is made anew whenever a signal it reads changes.
///
/// The same as a closure in `view!`; but all of them share one type, so that the code that renders
/// them is there once and not once for each.
pub fn dynamic(view: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    erased(ViewFn::from(view))
}

fn erased(view: ViewFn) -> AnyView {
    (move || view.run()).into_any()
}

/// A text that follows its signals; one type for all, as with [`dynamic`].
pub fn text(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    Signal::derive(text)
}

/// A condition that follows its signals; one type for all.
pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    Signal::derive(condition)
}
