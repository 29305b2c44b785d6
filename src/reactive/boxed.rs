//! Wrappers that give all closures of one kind the same type.
//!
//! Leptos generates code for every type that it renders, tracks or runs, and every closure has its own type. Closures
//! wrapped here share one type, so that the code exists once. With plain closures in all of these functions, the
//! compressed files of a release build were larger: the first by 1.8 %, the second by 2.8 %, and the third by
//! 7.5 %.

use std::future::Future;
use std::pin::Pin;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

/// A part of the page that is rebuilt whenever a signal that it reads changes.
///
/// Does the same as a closure in `view!`, but all parts share one type, so that the code that renders them exists only once.
pub fn dynamic(view: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    boxed(ViewFn::from(view))
}

fn boxed(view: ViewFn) -> AnyView {
    (move || view.run()).into_any()
}

/// A text derived from signals; one type for all, as with [`dynamic`].
pub fn text(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    boxed_signal(Box::new(text))
}

/// A condition derived from signals; one type for all.
pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    boxed_signal(Box::new(condition))
}

/// A value derived from signals; one type for all with the same type of value.
pub fn derived<T: Send + Sync + 'static>(
    derive: impl Fn() -> T + Send + Sync + 'static,
) -> Signal<T> {
    boxed_signal(Box::new(derive))
}

fn boxed_signal<T: Send + Sync + 'static>(derive: Box<dyn Fn() -> T + Send + Sync>) -> Signal<T> {
    Signal::derive(derive)
}

/// An event handler; one type for all with the same type of event.
pub fn handler<E: 'static>(handle: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(handle)
}

/// Runs a closure now and whenever a signal that it read changes, until the owner is disposed; one type for all.
pub fn effect(follow: impl FnMut() + 'static) {
    boxed_effect(Box::new(follow));
}

fn boxed_effect(mut follow: Box<dyn FnMut()>) {
    #[cfg(test)]
    crate::testing::mount_nothing();
    Effect::new(move |_| follow());
}

/// A value derived from signals that notifies its subscribers only when it differs from the last one; one type for all with
/// the same type of value.
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    derive: impl Fn() -> T + Send + Sync + 'static,
) -> Memo<T> {
    let derive: Box<dyn Fn() -> T + Send + Sync> = Box::new(derive);
    Memo::new(move |_| derive())
}

/// Subscribes to a memo and computes it. `Memo::track` alone does not compute a memo that was never read, and such a memo
/// never notifies.
pub fn follow_memo<T: Send + Sync + 'static>(memo: Memo<T>) {
    memo.with(|_| ());
}

/// Runs a future to completion, even if the current owner is disposed.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    spawn_boxed(Box::pin(future));
}

fn spawn_boxed(future: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(future);
}

/// Runs a closure after a delay, unless the returned timeout is dropped before; one type for all.
pub fn after(ms: u32, act: impl FnOnce() + 'static) -> Timeout {
    after_boxed(ms, Box::new(act))
}

fn after_boxed(ms: u32, act: Box<dyn FnOnce()>) -> Timeout {
    Timeout::new(ms, act)
}
