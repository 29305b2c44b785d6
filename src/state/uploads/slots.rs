//! Only a few files of tables are sent at a time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use futures::channel::oneshot;

const MAX_AT_ONCE: usize = 3;

thread_local! {
    static FREE: Cell<usize> = const { Cell::new(MAX_AT_ONCE) };
    static WAITING: RefCell<VecDeque<oneshot::Sender<Slot>>> = const { RefCell::new(VecDeque::new()) };
}

/// The right to send one file, until it is dropped.
pub(super) struct Slot(());

impl Drop for Slot {
    fn drop(&mut self) {
        // A receiver that was dropped returns the slot. It must not be dropped while the queue is borrowed.
        let next = WAITING.with_borrow_mut(VecDeque::pop_front);
        match next {
            Some(next) => drop(next.send(Self(()))),
            None => FREE.set(FREE.get() + 1),
        }
    }
}

/// Waits for a slot. Slots are given in the order of the calls.
pub(super) async fn slot() -> Slot {
    if FREE.get() > 0 {
        FREE.set(FREE.get() - 1);
        return Slot(());
    }
    let (sender, receiver) = oneshot::channel();
    WAITING.with_borrow_mut(|waiting| waiting.push_back(sender));
    match receiver.await {
        Ok(slot) => slot,
        // Senders are never dropped without a slot.
        Err(_) => futures::future::pending().await,
    }
}
