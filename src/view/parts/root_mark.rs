//! What style sheets have to know of the page at its root, as attributes of `<html>`. A rule with `:has` there would have the
//! browser look through the whole page whenever anything in it changes.

use std::cell::Cell;

use leptos::prelude::*;

use crate::reactive::boxed::effect;

#[derive(Clone, Copy)]
pub enum RootMark {
    /// A dialog lies over the page, and is no [`RootMark::Lightbox`].
    Dialog,
    /// Outputs are shown large.
    Lightbox,
    /// The form for one generation is shown, next to its result.
    OneForm,
    /// The form for a batch is shown, next to its items.
    BatchForm,
    Composer,
    /// The fields that are folded away at first are unfolded.
    MoreFields,
    /// The bar for what is selected is in sight.
    Selection,
}

const COUNT: usize = RootMark::Selection as usize + 1;

thread_local! {
    /// How many views set each of them: the next one may come before the last one has gone.
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

    /// Sets it from now on for as long as the owner lives.
    pub fn hold(self) {
        self.count(true);
        on_cleanup(move || self.count(false));
    }

    /// Sets it while this holds, for as long as the owner lives.
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
            // It fails only where the name is none.
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

    /// Guards against a mark that goes with the view before, or stays when the last view has gone.
    #[wasm_bindgen_test]
    fn a_mark_is_set_while_any_view_sets_it() {
        let (before, after) = (Owner::new(), Owner::new());
        before.with(|| RootMark::BatchForm.hold());
        after.with(|| RootMark::BatchForm.hold());
        before.cleanup();
        assert!(is_set(RootMark::BatchForm));
        after.cleanup();
        assert!(!is_set(RootMark::BatchForm));
    }

    #[wasm_bindgen_test]
    async fn a_mark_follows_what_it_stands_for() {
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
