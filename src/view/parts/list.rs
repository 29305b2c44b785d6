//! Keyed lists that preserve the elements of unchanged items.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use leptos::attr::Attribute;
use leptos::attr::any_attribute::AnyAttribute;
use leptos::prelude::*;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::view::add_attr::AddAnyAttr;
use leptos::tachys::view::any_view::AnyViewState;
use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};
use web_sys::{Comment, Element, Node};

/// An item of a list: its key and its view.
#[derive(Clone)]
pub struct Item {
    pub key: String,
    /// The index of its row in a windowed list.
    pub row: usize,
    view: ViewFn,
}

impl Item {
    pub fn new(key: String, view: impl Fn() -> AnyView + Send + Sync + 'static) -> Self {
        Self {
            key,
            row: 0,
            view: ViewFn::from(view),
        }
    }
}

/// Returns a list that updates item by item. An item whose key and order stay the same is not moved.
///
/// Leptos's `For` can't be used: it removes and reinserts some of the unchanged items, and their focus is lost.
pub fn list(items: impl Fn() -> Vec<Item> + Send + Sync + 'static) -> AnyView {
    list_around_focus(Arc::new(move |_| items()))
}

/// Returns the items. The argument is a function that returns the row with the focus.
type Items = Arc<dyn Fn(&dyn Fn() -> Option<usize>) -> Vec<Item> + Send + Sync>;

/// Returns a list whose items can depend on the row that has the focus.
pub fn list_around_focus(items: Items) -> AnyView {
    let owner = Owner::current().unwrap_or_default();
    (move || KeyedList {
        items: items.clone(),
        owner: owner.clone(),
    })
    .into_any()
}

/// A list. It isn't generic, so that the code that updates lists is compiled only once.
struct KeyedList {
    items: Items,
    /// The owner of the list. Each item has its own owner below this one.
    owner: Owner,
}

/// The rendered items.
struct KeyedListState {
    shown: Vec<Shown>,
    /// A marker after the last item.
    end: Comment,
}

/// A rendered item. It is removed from the page when it is dropped. Its view is dropped before its owner.
struct Shown {
    key: String,
    row: usize,
    /// Its index before the current update; `None` if it is new.
    old_index: Option<usize>,
    view: AnyViewState,
    _owner: Owner,
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.view.unmount();
    }
}

impl KeyedList {
    fn show(&self, item: Item) -> Shown {
        let owner = self.owner.with(Owner::new);
        let view = owner.with(|| untrack(|| item.view.run().build()));
        Shown {
            key: item.key,
            row: item.row,
            old_index: None,
            view,
            _owner: owner,
        }
    }
}

impl KeyedListState {
    fn focused_row(&self) -> Option<usize> {
        let focused = document().active_element()?;
        let has_focus = |element: &Element| element.contains(Some(&focused));
        self.end.parent_element().filter(has_focus)?;
        let mut shown = self.shown.iter();
        let shown = shown.find(|shown| shown.view.elements().iter().any(has_focus))?;
        Some(shown.row)
    }
}

impl Render for KeyedList {
    type State = KeyedListState;

    fn build(self) -> Self::State {
        let mut state = KeyedListState {
            shown: Vec::new(),
            end: document().create_comment(""),
        };
        self.rebuild(&mut state);
        state
    }

    fn rebuild(self, state: &mut Self::State) {
        let items = (self.items)(&|| state.focused_row());
        let before = mem::take(&mut state.shown).into_iter().enumerate();
        let mut before: HashMap<String, Shown> = before
            .map(|(at, mut shown)| {
                shown.old_index = Some(at);
                (shown.key.clone(), shown)
            })
            .collect();
        let reused = items.iter().map(|item| before.remove(&item.key));
        let reused: Vec<Option<Shown>> = reused.collect();
        // Remove old items before new ones are rendered.
        drop(before);
        for (item, reused) in items.into_iter().zip(reused) {
            let row = item.row;
            let mut shown = reused.unwrap_or_else(|| self.show(item));
            shown.row = row;
            state.shown.push(shown);
        }
        let Some(list) = state.end.parent_element() else {
            return;
        };
        // From last to first: insert each moved item before the items after it.
        let mut next_index = usize::MAX;
        for at in (0..state.shown.len()).rev() {
            let (until, following) = state.shown.split_at_mut(at + 1);
            if let Some(index) = until[at].old_index.filter(|index| *index < next_index) {
                next_index = index;
                continue;
            }
            let view = &mut until[at].view;
            let mut following = following.iter();
            if !following.any(|next| next.view.insert_before_this(view)) {
                view.mount(&list, Some(&state.end));
            }
        }
    }
}

impl Mountable for KeyedListState {
    fn unmount(&mut self) {
        for shown in &mut self.shown {
            shown.view.unmount();
        }
        self.end.unmount();
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.end.mount(parent, marker);
        for shown in &mut self.shown {
            shown.view.mount(parent, Some(&self.end));
        }
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        let mut shown = self.shown.iter();
        shown.any(|shown| shown.view.insert_before_this(child))
            || self.end.insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        let shown = self.shown.iter();
        shown.flat_map(|shown| shown.view.elements()).collect()
    }
}

impl AddAnyAttr for KeyedList {
    type Output<NewAttr: Attribute> = Self;

    fn add_any_attr<NewAttr: Attribute>(self, _: NewAttr) -> Self {
        self
    }
}

/// Lists are rendered only in browsers, never on a server.
impl RenderHtml for KeyedList {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(
        self,
        _: &mut String,
        _: &mut Position,
        _: bool,
        _: bool,
        _: Vec<AnyAttribute>,
    ) {
    }

    fn hydrate<const FROM_SERVER: bool>(self, _: &Cursor, _: &PositionState) -> Self::State {
        self.build()
    }

    fn into_owned(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use leptos::mount::mount_to;
    use leptos::task::tick;
    use wasm_bindgen::JsCast;
    use wasm_bindgen_test::wasm_bindgen_test;
    use web_sys::HtmlElement;

    use super::*;

    #[wasm_bindgen_test]
    async fn update_keeps_order_and_reuses_elements() {
        let container: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        let keys = RwSignal::new("");
        let item = |key: char| {
            let view = move || match key {
                '-' => ().into_any(),
                _ => view! { <i>{key}</i><i>{key}</i> }.into_any(),
            };
            Item::new(key.to_string(), view)
        };
        let mounted = mount_to(container.clone(), move || {
            view! { <b>"<"</b>{list(move || keys.get().chars().map(item).collect())}<b>">"</b> }
        });
        let elements = || {
            let all = container.children();
            (0..all.length())
                .filter_map(|at| all.item(at))
                .collect::<Vec<_>>()
        };
        let text = |element: &Element| element.text_content().unwrap_or_default();
        let mut before = Vec::new();
        for shown in [
            "", "abc", "abcd", "xyabcd", "cd", "ecfd", "dfce", "a-b", "-ab-c", "c-", "", "q",
            "qqr", "r",
        ] {
            keys.set(shown);
            tick().await;
            let now = elements();
            let content: String = now.iter().map(text).collect();
            let visible = shown.chars().filter(|key| *key != '-');
            let expected: String = visible.flat_map(|key| [key, key]).collect();
            assert_eq!(content, format!("<{expected}>"), "“{shown}”");
            let is_new = |element: &&Element| !before.contains(*element);
            let created: String = now.iter().filter(is_new).map(text).collect();
            for stays in before.iter().map(text).filter(|stays| *stays != "q") {
                assert!(
                    !created.contains(&stays),
                    "{stays} was created again for “{shown}”"
                );
            }
            before = now;
        }
        drop(mounted);
        assert!(elements().is_empty());
    }
}
