//! A long list of which only the rows near the screen are built, and the row that has the focus.

use std::ops::Range;
use std::sync::Arc;

use atelier_studio::list::window::Stack;
use leptos::prelude::*;

use super::list::{Item, list_around_focus};
use super::px::px;
use super::viewport::Viewport;
use crate::reactive::boxed::{memo, text, when};

#[derive(Clone, Copy)]
pub struct WindowedList {
    stack: Memo<Stack>,
    /// The rows near the screen.
    pub range: Memo<Range<usize>>,
}

impl WindowedList {
    /// `overscan`: how many more rows are built on both sides of those that are seen.
    pub fn new(seen: RwSignal<Viewport>, stack: Memo<Stack>, overscan: usize) -> Self {
        let stretch = move || {
            let seen = seen.read();
            (seen.from, seen.to)
        };
        Self::of_stretch(stretch, stack, overscan)
    }

    /// `stretch`: of the list, which is to be built.
    pub fn of_stretch(
        stretch: impl Fn() -> (f64, f64) + Send + Sync + 'static,
        stack: Memo<Stack>,
        overscan: usize,
    ) -> Self {
        let range = memo(move || stack.read().near(stretch(), overscan));
        Self { stack, range }
    }

    /// The height of all rows.
    pub fn height(self) -> Signal<String> {
        text(move || px(self.stack.read().height()))
    }

    /// The height of the rows before those that are built.
    pub fn space_before(self) -> Signal<String> {
        text(move || px(self.stack.read().top(self.range.read().start)))
    }

    /// The height of the rows after those that are built.
    pub fn space_after(self) -> Signal<String> {
        text(move || {
            let stack = self.stack.read();
            px(stack.height() - stack.top(self.range.read().end))
        })
    }

    /// Stands in a table for rows that are not built, as high as they are.
    pub fn space_row(height: Signal<String>) -> AnyView {
        view! {
            <tr class="room" aria-hidden="true">
                <td style:height=height></td>
            </tr>
        }
        .into_any()
    }

    /// The place of a row that is apart.
    pub fn top(self, row: usize) -> Signal<String> {
        text(move || px(self.stack.read().top(row)))
    }

    pub fn rows(self, row: impl Fn(usize) -> Option<Item> + Send + Sync + 'static) -> AnyView {
        rows(self.range, row)
    }
}

/// Whether a row is built for the focus alone. The stylesheet takes it out of the flow then: the space before the rows
/// near the screen, or after them, stands for it.
pub fn is_apart(range: Memo<Range<usize>>, row: usize) -> Signal<bool> {
    when(move || !range.read().contains(&row))
}

/// The items of these rows, and of the row that has the focus with its neighbors: Tab leads to them.
pub fn rows(
    range: Memo<Range<usize>>,
    row: impl Fn(usize) -> Option<Item> + Send + Sync + 'static,
) -> AnyView {
    list_around_focus(Arc::new(move |focused| {
        let range = range.get();
        let around = focused().map_or(0..0, |row| row.saturating_sub(1)..row + 2);
        let before = around.start..around.end.min(range.start);
        let after = around.start.max(range.end)..around.end;
        let all = before.chain(range).chain(after);
        let numbered = |at: usize| {
            let mut item = row(at)?;
            item.row = at;
            Some(item)
        };
        all.filter_map(numbered).collect()
    }))
}

#[cfg(test)]
mod tests {
    use leptos::mount::mount_to;
    use leptos::task::tick;
    use wasm_bindgen::JsCast;
    use wasm_bindgen_test::wasm_bindgen_test;
    use web_sys::HtmlElement;

    use super::*;
    use crate::reactive::boxed::handler;

    fn built(list: &HtmlElement) -> Vec<String> {
        let rows = list.children();
        let rows = (0..rows.length()).filter_map(|at| rows.item(at));
        rows.filter_map(|row| row.text_content()).collect()
    }

    /// Guards against a focus that is lost while a person scrolls, also for a moment: a menu would close.
    #[wasm_bindgen_test]
    async fn the_row_that_has_the_focus_and_its_neighbors_stay() {
        let place: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().append_child(&place).unwrap();
        let near = RwSignal::new(0..5);
        let blurs = RwSignal::new(0);
        let row = move |at: usize| {
            let view = move || {
                let blur = handler(move |_: web_sys::FocusEvent| blurs.update(|count| *count += 1));
                view! { <button on:blur=blur>{at}</button> }.into_any()
            };
            (at < 100).then(|| Item::new(at.to_string(), view))
        };
        let mounted = mount_to(place.clone(), move || {
            view! { <b>"before"</b>{rows(memo(move || near.get()), row)}<b>"after"</b> }
        });
        let focused: HtmlElement = place.children().item(4).unwrap().unchecked_into();
        focused.focus().unwrap();
        for (range, expected) in [
            // Some stay, behind many that come: one row is built for Tab.
            (1..7, "before 1 2 3 4 5 6 after"),
            (60..63, "before 2 3 4 60 61 62 after"),
            (58..62, "before 2 3 4 58 59 60 61 after"),
            (4..6, "before 2 3 4 5 after"),
            (0..3, "before 0 1 2 3 4 after"),
            (0..0, "before 2 3 4 after"),
            (97..120, "before 2 3 4 97 98 99 after"),
        ] {
            near.set(range.clone());
            tick().await;
            assert_eq!(built(&place).join(" "), expected, "{range:?}");
            assert_eq!(document().active_element(), Some(focused.clone().into()));
            assert_eq!(blurs.get_untracked(), 0, "{range:?}");
        }
        focused.blur().unwrap();
        near.set(10..12);
        tick().await;
        assert_eq!(built(&place).join(" "), "before 10 11 after");
        drop(mounted);
        assert_eq!(built(&place).len(), 0);
        place.remove();
    }
}
