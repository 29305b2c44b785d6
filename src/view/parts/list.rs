//! Keyed lists.

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

/// One item of a list: what tells it from the others, and what it shows.
#[derive(Clone)]
pub struct Item {
    pub key: String,
    /// Its row, in a windowed list.
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

/// A list that changes item by item. An item whose key and order stay is left where it is: one that is taken out of the page and
/// put in again, as `For` does it with some of those that stay, would lose the focus.
pub fn list(items: impl Fn() -> Vec<Item> + Send + Sync + 'static) -> AnyView {
    list_around_focus(Arc::new(move |_| items()))
}

/// Gives the items; it can ask in which row the focus is.
type Items = Arc<dyn Fn(&dyn Fn() -> Option<usize>) -> Vec<Item> + Send + Sync>;

pub fn list_around_focus(items: Items) -> AnyView {
    let owner = Owner::current().unwrap_or_default();
    (move || KeyedList {
        items: items.clone(),
        owner: owner.clone(),
    })
    .into_any()
}

/// One type for all lists, so that the code that compares them is there once.
struct KeyedList {
    items: Items,
    /// Of the list; each of its items has one of its own below it.
    owner: Owner,
}

/// What is in the page.
struct KeyedListState {
    shown: Vec<Shown>,
    /// Stands after the last of them.
    end: Comment,
}

/// Leaves the page when it is dropped; its view is dropped before its owner.
struct Shown {
    key: String,
    row: usize,
    /// Where it was among the items before this change; none if it is new.
    place: Option<usize>,
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
            place: None,
            view,
            _owner: owner,
        }
    }
}

impl KeyedListState {
    fn focused_row(&self) -> Option<usize> {
        let focused = document().active_element()?;
        let has_it = |element: &Element| element.contains(Some(&focused));
        self.end.parent_element().filter(has_it)?;
        let mut shown = self.shown.iter();
        let shown = shown.find(|shown| shown.view.elements().iter().any(has_it))?;
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
                shown.place = Some(at);
                (shown.key.clone(), shown)
            })
            .collect();
        let stay = items.iter().map(|item| before.remove(&item.key));
        let stay: Vec<Option<Shown>> = stay.collect();
        // They go before others are built in their stead.
        drop(before);
        for (item, stays) in items.into_iter().zip(stay) {
            let row = item.row;
            let mut shown = stays.unwrap_or_else(|| self.show(item));
            shown.row = row;
            state.shown.push(shown);
        }
        let Some(list) = state.end.parent_element() else {
            return;
        };
        // From the last one: each is put before those that follow it.
        let mut next_place = usize::MAX;
        for at in (0..state.shown.len()).rev() {
            let (until, following) = state.shown.split_at_mut(at + 1);
            if let Some(place) = until[at].place.filter(|place| *place < next_place) {
                next_place = place;
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

/// Lists are rendered by browsers alone.
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
    async fn items_are_in_order_and_those_that_stay_are_the_same_elements() {
        let place: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        let keys = RwSignal::new("");
        let item = |key: char| {
            let view = move || match key {
                '-' => ().into_any(),
                _ => view! { <i>{key}</i><i>{key}</i> }.into_any(),
            };
            Item::new(key.to_string(), view)
        };
        let mounted = mount_to(place.clone(), move || {
            view! { <b>"<"</b>{list(move || keys.get().chars().map(item).collect())}<b>">"</b> }
        });
        let elements = || {
            let all = place.children();
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
            let said: String = now.iter().map(text).collect();
            let visible = shown.chars().filter(|key| *key != '-');
            let expected: String = visible.flat_map(|key| [key, key]).collect();
            assert_eq!(said, format!("<{expected}>"), "“{shown}”");
            let is_new = |element: &&Element| !before.contains(*element);
            let made: String = now.iter().filter(is_new).map(text).collect();
            for stays in before.iter().map(text).filter(|stays| *stays != "q") {
                assert!(
                    !made.contains(&stays),
                    "{stays} was made anew for “{shown}”"
                );
            }
            before = now;
        }
        drop(mounted);
        assert!(elements().is_empty());
    }
}
