use std::cell::Cell;
use std::rc::Rc;

use crate::browser::frame::after_frame;
use crate::reactive::boxed::effect;
use atelier_studio::gallery::side_by_side::Space;
use gloo_events::EventListener;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, EventTarget, HtmlDivElement};

/// The vertical range of an element that is visible or may soon be, in CSS pixels from the element's top, and the element's
/// width.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Viewport {
    pub from: f64,
    pub to: f64,
    /// The height by which the range extends beyond the visible part, both at its top and at its bottom.
    pub margin: f64,
    pub width: f64,
    /// One `rem` in CSS pixels. It is larger if the user has set a larger font size.
    pub rem: f64,
}

impl Viewport {
    /// Returns the range that is visible now.
    pub fn on_screen(&self) -> (f64, f64) {
        (self.from + self.margin, self.to - self.margin)
    }

    /// Returns the visible space for outputs. `line`: the height of the line of text that each output has, in `rem`.
    pub fn room(&self, line: f64) -> Space {
        let (from, to) = self.on_screen();
        Space {
            width: self.width,
            height: to - from,
            line,
            rem: self.rem.max(1.0),
        }
    }
}

/// Returns the part of an element that is visible in the window, updated until the current owner is disposed.
pub fn viewport(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |_| window().into(),
        |element| {
            let bounds = element.get_bounding_client_rect();
            let height = window().inner_height().ok();
            let height = height.and_then(|height| height.as_f64()).unwrap_or(800.0);
            Measured {
                top: -bounds.top(),
                height,
                width: bounds.width(),
                // The first frame renders only what is visible.
                first_margin: 0.0,
                margin: height,
            }
        },
    )
}

/// Returns the part of a scrolling element's content that is visible, updated until the current owner is disposed.
pub fn scrolled(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| {
            let height = element.client_height();
            let margin = f64::from(height / 2);
            Measured {
                top: f64::from(element.scroll_top()),
                height: f64::from(height),
                width: f64::from(element.client_width()),
                first_margin: margin,
                margin,
            }
        },
    )
}

/// Returns the height that an element can have without its parent scrolling, updated until the current owner is disposed.
///
/// This is its own height plus the free space below its last sibling, which is negative if the siblings overflow.
pub fn left(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| Measured {
            top: 0.0,
            height: (element.get_bounding_client_rect().height() + free_height_below(element))
                .max(0.0),
            width: f64::from(element.client_width()),
            first_margin: 0.0,
            margin: 0.0,
        },
    )
}

/// Returns the height that an element can have without its result pane scrolling, updated until the current owner is
/// disposed.
///
/// This is its own height plus the free space at the end of the pane. It is infinite if the page scrolls instead of a pane.
pub fn free_height_in_pane(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| Measured {
            top: 0.0,
            height: pane_height(element).unwrap_or(f64::INFINITY),
            width: f64::from(element.client_width()),
            first_margin: 0.0,
            margin: 0.0,
        },
    )
}

fn pane_height(element: &HtmlDivElement) -> Option<f64> {
    let pane = element.closest(RESULT_PANE).ok().flatten();
    let pane = pane.filter(|_| is_side_by_side())?;
    Some((element.get_bounding_client_rect().height() + free_height_at_end(&pane)).max(0.0))
}

/// Padding at the end of a result, in `rem`. The style sheet has the same value.
const RESULT_PADDING: f64 = 0.75;

fn free_height_below(element: &HtmlDivElement) -> f64 {
    let parent = element.parent_element();
    parent.map_or(0.0, |parent| free_height_at_end(&parent))
}

/// Returns the free height below the last child of an element, in CSS pixels.
fn free_height_at_end(parent: &Element) -> f64 {
    let siblings = parent.children();
    let ends = (0..siblings.length()).filter_map(|at| siblings.item(at));
    let ends = ends.map(|sibling| sibling.get_bounding_client_rect().bottom());
    let last = ends.fold(f64::MIN, f64::max) + f64::from(parent.scroll_top());
    parent.get_bounding_client_rect().bottom() - last - RESULT_PADDING * rem()
}

/// The visible range, and how much to add on each side.
struct Measured {
    top: f64,
    height: f64,
    width: f64,
    first_margin: f64,
    margin: f64,
}

/// Measures an element when it is resized or `target` scrolls, at most once per frame.
///
/// In the first frame, the margin is `first_margin`, so that less is rendered. Later the larger `margin` avoids gaps while
/// the user scrolls.
fn follow(
    element: NodeRef<Div>,
    target: fn(&HtmlDivElement) -> EventTarget,
    measure: fn(&HtmlDivElement) -> Measured,
) -> RwSignal<Viewport> {
    let viewport = RwSignal::new(Viewport::default());
    let is_first = Rc::new(Cell::new(true));
    let is_first_frame = is_first.clone();
    let measure = Rc::new(move || {
        let Some(element) = element.try_get_untracked().flatten() else {
            return;
        };
        let measured = measure(&element);
        let margin = match is_first_frame.get() {
            true => measured.first_margin,
            false => measured.margin,
        };
        let next = Viewport {
            from: measured.top - margin,
            to: measured.top + measured.height + margin,
            margin,
            width: measured.width,
            rem: rem(),
        };
        if viewport
            .try_get_untracked()
            .is_some_and(|viewport| viewport != next)
        {
            viewport.set(next);
        }
    });
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        measure();
        let (is_first, after_first) = (is_first.clone(), measure.clone());
        after_frame(move || {
            is_first.set(false);
            after_first();
        });
        let on_event = {
            let measure = measure.clone();
            move |_: &web_sys::Event| {
                let measure = measure.clone();
                request_animation_frame(move || measure());
            }
        };
        let scroll = EventListener::new(&target(&element), "scroll", on_event.clone());
        let resize = EventListener::new(&window(), "resize", on_event);
        let measure = measure.clone();
        let on_size = Closure::<dyn FnMut()>::new(move || measure());
        if let Ok(observer) = web_sys::ResizeObserver::new(on_size.as_ref().unchecked_ref()) {
            observer.observe(&element);
            listeners.set_value(vec![(scroll, resize, observer, on_size)]);
        }
    });
    on_cleanup(move || {
        listeners.try_update_value(|listeners| {
            for (_, _, observer, _) in listeners.drain(..) {
                observer.disconnect();
            }
        });
    });
    viewport
}

/// Returns one `rem` in CSS pixels.
pub fn rem() -> f64 {
    document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten())
        .and_then(|style| style.get_property_value("font-size").ok())
        .map(|size| js_sys::parse_float(&size))
        .filter(|size| *size >= 1.0)
        .unwrap_or(16.0)
}

/// The padding of a page and of a panel on it, both sides together, in `rem`.
const PAGE_PADDING: f64 = 7.5;

/// Maximum width of a page including its padding, in `rem`. The style sheet has the same value.
const MAX_PAGE_WIDTH: f64 = 150.0;

/// Returns the content width of a panel on a page, in `rem`.
pub fn page_width() -> f64 {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    (width.unwrap_or_default() / rem()).min(MAX_PAGE_WIDTH) - PAGE_PADDING
}

/// Media query for windows with one pane, where the form is a bar below the result. The style sheet has the same query.
const ONE_PANE: &str = "not all and (min-width: 64rem)";

/// CSS selector of the pane with the results of a batch on the page of its model.
const RESULT_PANE: &str = ".workbench .result";

/// The padding of a panel, both sides together, in `rem`.
const PANEL_PADDING: f64 = 3.0;

/// The gap between the two panes of a batch, in `rem`.
const PANE_GAP: f64 = 1.625;

/// Returns the content width of the result pane next to the table of a batch, in `rem`. The style sheet divides the page in
/// the same way.
pub fn pane_width() -> f64 {
    let page = page_width() + PANEL_PADDING;
    page - (0.42 * page).clamp(25.0, 52.0) - PANE_GAP - PANEL_PADDING
}

/// Media query for windows in which a batch and its table are next to each other, each with its own scrolling. The style
/// sheet has the same query.
const SIDE_BY_SIDE: &str = "(min-width: 64rem) and (min-height: 34rem)";

/// Returns whether a batch and its table are next to each other.
pub fn is_side_by_side() -> bool {
    matches(SIDE_BY_SIDE)
}

/// Returns a signal of [`is_side_by_side`], updated until the current owner is disposed.
pub fn beside() -> RwSignal<bool> {
    let beside = RwSignal::new(is_side_by_side());
    let listener = window()
        .match_media(SIDE_BY_SIDE)
        .ok()
        .flatten()
        .map(|query| {
            EventListener::new(&query, "change", move |_| {
                beside.try_set(is_side_by_side());
            })
        });
    let listener = StoredValue::new_local(listener);
    on_cleanup(move || {
        listener.try_update_value(Option::take);
    });
    beside
}

/// Returns whether the window has one pane.
///
/// This evaluates a media query instead of reading a style, which would force a style recalculation.
pub fn is_one_pane() -> bool {
    matches(ONE_PANE)
}

/// Returns whether the device has a touch screen, possibly in addition to a mouse.
pub fn has_coarse_pointer() -> bool {
    matches("(any-pointer: coarse)")
}

/// Returns whether the primary input device is a touch screen.
pub fn is_primary_pointer_coarse() -> bool {
    matches("(pointer: coarse)")
}

fn matches(query: &str) -> bool {
    let query = window().match_media(query);
    query.is_ok_and(|query| query.is_some_and(|query| query.matches()))
}
