//! Attributes of `<html>` that tell the style sheets about the state of the page. A rule with `:has` on `<html>` would make
//! the browser search the whole page after each change.

use std::cell::Cell;

use leptos::prelude::*;

use crate::reactive::boxed::effect;

/// A state of the page with its own attribute.
#[derive(Clone, Copy)]
pub enum RootMark {
    /// A dialog is open that isn't a [`RootMark::Lightbox`].
    Dialog,
    /// A dialog with large outputs is open.
    Lightbox,
    /// The form for one generation is shown, next to its result.
    OneForm,
    /// The form for a batch is shown, next to its items.
    BatchForm,
    /// The composer of a batch is shown.
    Composer,
    /// The fields that are initially folded are unfolded.
    MoreFields,
    /// The bar with actions for the selected items is visible.
    Selection,
}

const COUNT: usize = RootMark::Selection as usize + 1;

thread_local! {
    /// The number of views that set each attribute. A new view may be created before the previous one is disposed.
    static SET_BY: [Cell<u32>; COUNT] = const { [const { Cell::new(0) }; COUNT] };
}

impl RootMark {
    fn attribute(self) -> &'static str {
        match self {
            Self::Dialog => "data-dialog",
            Self::Lightbox => "data-lightbox",
            Self::OneForm => "data-one-form",
            Self::BatchForm => "data-batch-form",
            Self::Composer => "data-composer",
            Self::MoreFields => "data-more-fields",
            Self::Selection => "data-selection",
        }
    }

    /// Sets the attribute until the current owner is disposed.
    pub fn hold(self) {
        self.count(true);
        on_cleanup(move || self.count(false));
    }

    /// Sets the attribute while a signal is true, until the current owner is disposed.
    pub fn follow(self, holds: Signal<bool>) {
        let is_set = StoredValue::new(false);
        let set = move |holds: bool| {
            let was_set = is_set.try_update_value(|is_set| std::mem::replace(is_set, holds));
            if was_set.is_some_and(|was_set| was_set != holds) {
                self.count(holds);
            }
        };
        effect(move || set(holds.get()));
        on_cleanup(move || set(false));
    }

    fn count(self, is_more: bool) {
        let count = SET_BY.with(|set_by| {
            let count = &set_by[self as usize];
            count.set(match is_more {
                true => count.get() + 1,
                false => count.get().saturating_sub(1),
            });
            count.get()
        });
        if let Some(root) = document().document_element() {
            // It never fails: the names of the attributes are valid.
            let _ = root.toggle_attribute_with_force(self.attribute(), count > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use gloo_timers::future::TimeoutFuture;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn is_set(mark: RootMark) -> bool {
        let root = document().document_element();
        root.is_some_and(|root| root.has_attribute(mark.attribute()))
    }

    /// The attribute must not be removed with the previous view, nor stay after the last one.
    #[wasm_bindgen_test]
    fn attribute_is_set_while_any_view_sets_it() {
        let (before, after) = (Owner::new(), Owner::new());
        before.with(|| RootMark::BatchForm.hold());
        after.with(|| RootMark::BatchForm.hold());
        before.cleanup();
        assert!(is_set(RootMark::BatchForm));
        after.cleanup();
        assert!(!is_set(RootMark::BatchForm));
    }

    #[wasm_bindgen_test]
    async fn attribute_follows_its_signal() {
        let owner = Owner::new();
        let holds = owner.with(|| RwSignal::new(true));
        owner.with(|| RootMark::Selection.follow(holds.into()));
        let settled = || TimeoutFuture::new(0);
        settled().await;
        assert!(is_set(RootMark::Selection));
        holds.set(false);
        settled().await;
        assert!(!is_set(RootMark::Selection));
        holds.set(true);
        settled().await;
        owner.cleanup();
        assert!(!is_set(RootMark::Selection));
    }
}
