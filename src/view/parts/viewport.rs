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

/// The stretch of an element that is on the screen, or about to be, in CSS pixels from the element's own top, and the
/// element's width.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Viewport {
    pub from: f64,
    pub to: f64,
    /// How much of it, above and below, is not on the screen but would be soon.
    pub margin: f64,
    pub width: f64,
    /// One `rem`: rises when a person asks for larger text.
    pub rem: f64,
}

impl Viewport {
    /// The stretch that is on the screen now.
    pub fn on_screen(&self) -> (f64, f64) {
        (self.from + self.margin, self.to - self.margin)
    }

    /// The room for outputs that have a line of so many `rem` each.
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

/// What of an element is in sight, followed for as long as its owner lives.
pub fn viewport(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |_| window().into(),
        |element| {
            let bounds = element.get_bounding_client_rect();
            let height = window().inner_height().ok();
            let height = height.and_then(|height| height.as_f64()).unwrap_or(800.0);
            InSight {
                top: -bounds.top(),
                height,
                width: bounds.width(),
                // What is on the screen is to be there soon.
                first_margin: 0.0,
                margin: height,
            }
        },
    )
}

/// What of a scrolling element's content is in sight, followed for as long as its owner lives.
pub fn scrolled(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| {
            let height = element.client_height();
            let margin = f64::from(height / 2);
            InSight {
                top: f64::from(element.scroll_top()),
                height: f64::from(height),
                width: f64::from(element.client_width()),
                first_margin: margin,
                margin,
            }
        },
    )
}

/// The height that an element can have without its parent scrolling: its own, and what is free below the last of its
/// siblings. That is negative where the last sibling is out of sight. It is followed for as long as its owner lives.
pub fn left(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| InSight {
            top: 0.0,
            height: (element.get_bounding_client_rect().height() + left_below(element)).max(0.0),
            width: f64::from(element.client_width()),
            first_margin: 0.0,
            margin: 0.0,
        },
    )
}

/// The height that an element can have without the pane of a result scrolling in which it stands: its own, and what is
/// free below the last that stands there. Endless where the page scrolls and no pane. It is followed for as long as its
/// owner lives.
pub fn left_in_pane(element: NodeRef<Div>) -> RwSignal<Viewport> {
    follow(
        element,
        |element| element.clone().into(),
        |element| InSight {
            top: 0.0,
            height: pane_height(element).unwrap_or(f64::INFINITY),
            width: f64::from(element.client_width()),
            first_margin: 0.0,
            margin: 0.0,
        },
    )
}

fn pane_height(element: &HtmlDivElement) -> Option<f64> {
    let pane = element.closest(PANE).ok().flatten();
    let pane = pane.filter(|_| is_beside())?;
    Some((element.get_bounding_client_rect().height() + left_at_end(&pane)).max(0.0))
}

/// The style sheet keeps so much free at the end of a result, in `rem`.
const END: f64 = 0.75;

fn left_below(element: &HtmlDivElement) -> f64 {
    let parent = element.parent_element();
    parent.map_or(0.0, |parent| left_at_end(&parent))
}

/// What is free below the last that stands in an element.
fn left_at_end(parent: &Element) -> f64 {
    let siblings = parent.children();
    let ends = (0..siblings.length()).filter_map(|at| siblings.item(at));
    let ends = ends.map(|sibling| sibling.get_bounding_client_rect().bottom());
    let last = ends.fold(f64::MIN, f64::max) + f64::from(parent.scroll_top());
    parent.get_bounding_client_rect().bottom() - last - END * rem()
}

/// The stretch on the screen, and how much more is to be there on each side.
struct InSight {
    top: f64,
    height: f64,
    width: f64,
    first_margin: f64,
    margin: f64,
}

/// Follows resizing and the scrolling of `target`, at most once a frame. In the first frame it may be less
/// than from the next one on, when scrolling is to show cards and not gaps.
fn follow(
    element: NodeRef<Div>,
    target: fn(&HtmlDivElement) -> EventTarget,
    measure: fn(&HtmlDivElement) -> InSight,
) -> RwSignal<Viewport> {
    let seen = RwSignal::new(Viewport::default());
    let is_first = Rc::new(Cell::new(true));
    let is_measured_first = is_first.clone();
    let measure = Rc::new(move || {
        let Some(element) = element.try_get_untracked().flatten() else {
            return;
        };
        let in_sight = measure(&element);
        let margin = match is_measured_first.get() {
            true => in_sight.first_margin,
            false => in_sight.margin,
        };
        let next = Viewport {
            from: in_sight.top - margin,
            to: in_sight.top + in_sight.height + margin,
            margin,
            width: in_sight.width,
            rem: rem(),
        };
        if seen.try_get_untracked().is_some_and(|seen| seen != next) {
            seen.set(next);
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
    seen
}

/// One `rem` in CSS pixels.
pub fn rem() -> f64 {
    document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten())
        .and_then(|style| style.get_property_value("font-size").ok())
        .map(|size| js_sys::parse_float(&size))
        .filter(|size| *size >= 1.0)
        .unwrap_or(16.0)
}

/// Between the edges of a page and of a panel on it, in `rem`.
const EDGES: f64 = 7.5;

/// The widest that a page is, edges and all, in `rem`; the stylesheet has the same.
const WIDEST: f64 = 150.0;

/// The room on a page, in `rem`.
pub fn page_width() -> f64 {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    (width.unwrap_or_default() / rem()).min(WIDEST) - EDGES
}

/// Where the form is a bar at the foot, below the result; the stylesheet says the same.
const ONE_PANE: &str = "not all and (min-width: 64rem)";

/// What came of a batch, on the page of its model.
const PANE: &str = ".workbench .result";

/// Between the edges of a panel and what is in it, and of the two panes of a batch as well, in `rem`.
const IN_PANEL: f64 = 3.0;
const BETWEEN: f64 = 1.625;

/// The room in the panel next to the table that a batch is composed in, in `rem`; the stylesheet divides the page the
/// same way.
pub fn pane_width() -> f64 {
    let page = page_width() + IN_PANEL;
    page - (0.42 * page).clamp(25.0, 52.0) - BETWEEN - IN_PANEL
}

/// Where a batch and the table that it is composed in stand next to each other, each scrolling by itself; the
/// stylesheet says the same.
const BESIDE: &str = "(min-width: 64rem) and (min-height: 34rem)";

pub fn is_beside() -> bool {
    matches(BESIDE)
}

/// The same, followed for as long as its owner lives.
pub fn beside() -> RwSignal<bool> {
    let beside = RwSignal::new(is_beside());
    let listener = window().match_media(BESIDE).ok().flatten().map(|query| {
        EventListener::new(&query, "change", move |_| {
            beside.try_set(is_beside());
        })
    });
    let listener = StoredValue::new_local(listener);
    on_cleanup(move || {
        listener.try_update_value(Option::take);
    });
    beside
}

/// Reads no style: a page that is being built would be styled for it.
pub fn is_one_pane() -> bool {
    matches(ONE_PANE)
}

/// Whether there are fingers, also in addition to a mouse.
pub fn has_coarse_pointer() -> bool {
    matches("(any-pointer: coarse)")
}

/// Whether a finger is what there is first.
pub fn is_mainly_coarse() -> bool {
    matches("(pointer: coarse)")
}

fn matches(query: &str) -> bool {
    let query = window().match_media(query);
    query.is_ok_and(|query| query.is_some_and(|query| query.matches()))
}
