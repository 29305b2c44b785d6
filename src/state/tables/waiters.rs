use std::cell::RefCell;

/// Functions that are called when the changes up to a point are stored.
#[derive(Default)]
pub(super) struct Waiters(RefCell<Vec<Waiter>>);

struct Waiter {
    /// The number of changes that have to be stored first.
    changes: u64,
    act: Box<dyn FnOnce()>,
}

impl Waiters {
    pub(super) fn add(&self, changes: u64, act: impl FnOnce() + 'static) {
        let act = Box::new(act);
        self.0.borrow_mut().push(Waiter { changes, act });
    }

    /// Calls the functions that wait for at most `stored` changes.
    pub(super) fn serve(&self, stored: u64) {
        let is_due = |waiter: &mut Waiter| waiter.changes <= stored;
        let due: Vec<_> = self.0.borrow_mut().extract_if(.., is_due).collect();
        for waiter in due {
            (waiter.act)();
        }
    }

    /// Drops all functions: the changes will never be stored.
    pub(super) fn dismiss(&self) {
        self.0.take();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_waiter_is_called_once_when_its_changes_are_stored() {
        let waiters = Waiters::default();
        let acted = Rc::new(Cell::new(0));
        for changes in [1, 2, 3] {
            let acted = acted.clone();
            waiters.add(changes, move || acted.set(acted.get() * 10 + changes));
        }
        for (stored, wanted) in [(0, 0), (2, 12), (2, 12)] {
            waiters.serve(stored);
            assert_eq!(acted.get(), wanted);
        }
        waiters.dismiss();
        waiters.serve(3);
        assert_eq!(acted.get(), 12);
    }
}
