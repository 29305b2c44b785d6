//! Closures behind one type each.
//!
//! Leptos generates code for every type that it renders, follows or runs, and every closure is a type of its own. What
//! goes through here shares one type, so that the code exists once. With plain closures in all of these functions the
//! compressed files of a release build were larger: the first one by 1.8 %, the deferred one by 2.8 %, that of the pages
//! by 7.5 %.

use std::future::Future;
use std::pin::Pin;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

/// A part of the page that is made anew whenever a signal it reads changes.
///
/// The same as a closure in `view!`; but all of them share one type, so that the code that renders
/// them is there once and not once for each.
pub fn dynamic(view: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    boxed(ViewFn::from(view))
}

fn boxed(view: ViewFn) -> AnyView {
    (move || view.run()).into_any()
}

/// A text that follows its signals; one type for all, as with [`dynamic`].
pub fn text(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    boxed_signal(Box::new(text))
}

/// A condition that follows its signals; one type for all.
pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    boxed_signal(Box::new(condition))
}

/// A signal of what a closure gives; one type for all of the same value.
pub fn derived<T: Send + Sync + 'static>(
    derive: impl Fn() -> T + Send + Sync + 'static,
) -> Signal<T> {
    boxed_signal(Box::new(derive))
}

fn boxed_signal<T: Send + Sync + 'static>(derive: Box<dyn Fn() -> T + Send + Sync>) -> Signal<T> {
    Signal::derive(derive)
}

/// What to do on an event; one type for all handlers of events of one kind.
pub fn handler<E: 'static>(handle: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(handle)
}

/// Follows signals for as long as its owner lives; one type for all.
pub fn effect(follow: impl FnMut() + 'static) {
    boxed_effect(Box::new(follow));
}

fn boxed_effect(mut follow: Box<dyn FnMut()>) {
    #[cfg(test)]
    crate::testing::mount_nothing();
    Effect::new(move |_| follow());
}

/// What is derived from signals and worth comparing: followers are notified of real changes
/// alone. One type for all of the same value.
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    derive: impl Fn() -> T + Send + Sync + 'static,
) -> Memo<T> {
    let derive: Box<dyn Fn() -> T + Send + Sync> = Box::new(derive);
    Memo::new(move |_| derive())
}

/// Follows what is derived, whatever it is. `Memo::track` alone does not derive what was never read, and what was never
/// derived never changes.
pub fn follow_memo<T: Send + Sync + 'static>(memo: Memo<T>) {
    memo.with(|_| ());
}

/// Runs a future to its end, whatever becomes of who started it.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    spawn_boxed(Box::pin(future));
}

fn spawn_boxed(future: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(future);
}

/// Does something after a while, unless it is dropped before; one type for all.
pub fn after(ms: u32, act: impl FnOnce() + 'static) -> Timeout {
    after_boxed(ms, Box::new(act))
}

fn after_boxed(ms: u32, act: Box<dyn FnOnce()>) -> Timeout {
    Timeout::new(ms, act)
}
