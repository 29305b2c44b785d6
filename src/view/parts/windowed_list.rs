//! A long list that renders only the rows near the screen and the row that has the focus.

use std::ops::Range;
use std::sync::Arc;

use atelier_studio::list::window::Stack;
use leptos::prelude::*;

use super::list::{Item, list_around_focus};
use super::px::px;
use super::viewport::Viewport;
use crate::reactive::boxed::{memo, text, when};

/// The row heights of a list and the range of rows to render.
#[derive(Clone, Copy)]
pub struct WindowedList {
    stack: Memo<Stack>,
    /// The rows near the screen.
    pub range: Memo<Range<usize>>,
}

impl WindowedList {
    /// Creates a list that renders the rows in a viewport. `overscan`: the number of additional rows on each side.
    pub fn new(viewport: RwSignal<Viewport>, stack: Memo<Stack>, overscan: usize) -> Self {
        let visible = move || {
            let viewport = viewport.read();
            (viewport.from, viewport.to)
        };
        Self::with_range(visible, stack, overscan)
    }

    /// Creates a list that renders the rows in a range. `visible`: returns the top and bottom of the range, in CSS pixels.
    pub fn with_range(
        visible: impl Fn() -> (f64, f64) + Send + Sync + 'static,
        stack: Memo<Stack>,
        overscan: usize,
    ) -> Self {
        let range = memo(move || stack.read().near(visible(), overscan));
        Self { stack, range }
    }

    /// Returns the height of all rows.
    pub fn height(self) -> Signal<String> {
        text(move || px(self.stack.read().height()))
    }

    /// Returns the height of the rows before the rendered ones.
    pub fn space_before(self) -> Signal<String> {
        text(move || px(self.stack.read().top(self.range.read().start)))
    }

    /// Returns the height of the rows after the rendered ones.
    pub fn space_after(self) -> Signal<String> {
        text(move || {
            let stack = self.stack.read();
            px(stack.height() - stack.top(self.range.read().end))
        })
    }

    /// Returns a placeholder row for the rows of a table that are not rendered. `height`: their total height.
    pub fn space_row(height: Signal<String>) -> AnyView {
        view! {
            <tr class="room" aria-hidden="true">
                <td style:height=height></td>
            </tr>
        }
        .into_any()
    }

    /// Returns the top of a row, needed for rows outside the rendered range ([`is_apart`]).
    pub fn top(self, row: usize) -> Signal<String> {
        text(move || px(self.stack.read().top(row)))
    }

    /// Returns the rendered rows.
    pub fn rows(self, row: impl Fn(usize) -> Option<Item> + Send + Sync + 'static) -> AnyView {
        rows(self.range, row)
    }
}

/// Returns whether a row is rendered only because of the focus. The style sheet then takes it out of the flow, because its
/// height is part of the space before or after the rows near the screen.
pub fn is_apart(range: Memo<Range<usize>>, row: usize) -> Signal<bool> {
    when(move || !range.read().contains(&row))
}

/// Returns the rows of a range, and the row that has the focus with its neighbors, so that Tab can reach them.
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

    fn texts(list: &HtmlElement) -> Vec<String> {
        let rows = list.children();
        let rows = (0..rows.length()).filter_map(|at| rows.item(at));
        rows.filter_map(|row| row.text_content()).collect()
    }

    /// The focus must not be lost while the user scrolls, not even for a moment, because a menu would close.
    #[wasm_bindgen_test]
    async fn focused_row_and_its_neighbors_stay_rendered() {
        let container: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().append_child(&container).unwrap();
        let near = RwSignal::new(0..5);
        let blurs = RwSignal::new(0);
        let row = move |at: usize| {
            let view = move || {
                let blur = handler(move |_: web_sys::FocusEvent| blurs.update(|count| *count += 1));
                view! { <button on:blur=blur>{at}</button> }.into_any()
            };
            (at < 100).then(|| Item::new(at.to_string(), view))
        };
        let mounted = mount_to(container.clone(), move || {
            view! { <b>"before"</b>{rows(memo(move || near.get()), row)}<b>"after"</b> }
        });
        let focused: HtmlElement = container.children().item(4).unwrap().unchecked_into();
        focused.focus().unwrap();
        for (range, expected) in [
            // The range contains the focused row 3.
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
            assert_eq!(texts(&container).join(" "), expected, "{range:?}");
            assert_eq!(document().active_element(), Some(focused.clone().into()));
            assert_eq!(blurs.get_untracked(), 0, "{range:?}");
        }
        focused.blur().unwrap();
        near.set(10..12);
        tick().await;
        assert_eq!(texts(&container).join(" "), "before 10 11 after");
        drop(mounted);
        assert_eq!(texts(&container).len(), 0);
        container.remove();
    }
}
