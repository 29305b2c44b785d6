//! A list of fields. The fields are inserted as HTML and updated from one place. With a view, signals and listeners for
//! each field, forms with many parameters took several times as long to open.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use atelier_contract::{Draft, Entry, ModelId, Problem};
use atelier_studio::form::control::Control;
use atelier_studio::form::field::{FieldState, field_state};
use atelier_studio::form::vocabulary::Vocabulary;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlTemplateElement};

use super::field::{Field, Kind};
use super::frame::{frame, reset_button};
use super::own_file::{self, MediaField};
use super::{controls, earlier_prompts, media, set_attribute, steering};
use crate::browser::frame::after_frame;
use crate::browser::lifecycle::is_visible;
use crate::browser::pointer;
use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::contexts;
use crate::view::parts::mounted::mount_into;

/// The number of fields that are built in each frame after the first.
const FIELDS_PER_FRAME: usize = 100;

#[derive(Clone)]
pub struct FieldList(Rc<Inner>);

struct Inner {
    fields: Vec<Field>,
    draft: RwSignal<Draft>,
    /// Whether the user has pressed Generate. From then on, every problem is shown.
    attempted: RwSignal<bool>,
    refused: Signal<Vec<Problem>>,
    /// The model; `None` for a list of secrets.
    model: Option<ModelId>,
    /// The model, and the parameters for which earlier prompts are offered.
    earlier: Option<(ModelId, Memo<BTreeSet<String>>)>,
    shown: RefCell<Vec<Shown>>,
    /// The number of fields that are in the page.
    built: Cell<usize>,
    root: NodeRef<Div>,
    /// The owner of the views inside fields.
    owner: Owner,
    /// For each field, the entry that it had before its slider was touched.
    before_slide: RefCell<BTreeMap<usize, Option<Entry>>>,
}

/// The displayed state of a field, and the data that it was computed from.
#[derive(Default)]
struct Shown {
    /// Whether the user has left the field. From then on, its problem is shown.
    is_visited: bool,
    source: Option<StateSource>,
    state: FieldState,
}

/// The data that a [`FieldState`] was computed from.
struct StateSource {
    entry: Option<Entry>,
    is_checked: bool,
    refused: Option<String>,
}

/// A change of a field.
struct Change {
    at: usize,
    has_new_entry: bool,
    before: FieldState,
}

impl FieldList {
    pub fn new(
        fields: Vec<Field>,
        draft: RwSignal<Draft>,
        attempted: RwSignal<bool>,
        refused: Signal<Vec<Problem>>,
        model: Option<&ModelId>,
    ) -> Self {
        let is_long = |field: &&Field| field.kind == Kind::Parameter(Control::LongText);
        let texts = fields.iter().filter(is_long);
        let names: BTreeSet<String> = texts.map(|field| field.parameter.name.clone()).collect();
        let model = model.cloned();
        let earlier = model.clone().filter(|_| !names.is_empty()).map(|model| {
            let (runner, own_model) = (contexts().runner, model.clone());
            let sent = memo(move || earlier_prompts::sent_before(runner, &own_model, &names));
            (model, sent)
        });
        let shown = fields.iter().map(|_| Shown::default()).collect();
        Self(Rc::new(Inner {
            fields,
            draft,
            attempted,
            refused,
            model,
            earlier,
            shown: RefCell::new(shown),
            built: Cell::new(0),
            root: NodeRef::new(),
            owner: Owner::new(),
            before_slide: RefCell::default(),
        }))
    }

    /// Builds the fields once the root is mounted: `first` of them immediately, the others in the following frames. Updates
    /// them from the draft for as long as the owner lives.
    pub fn start(&self, first: usize) {
        let root = self.0.root;
        let list = self.clone();
        effect(move || {
            if root.get().is_some() && list.0.built.get() == 0 {
                // A hidden page has no animation frames.
                let first = if is_visible() { first } else { usize::MAX };
                untrack(|| list.build(first));
            }
        });
        let list = self.clone();
        effect(move || {
            list.0.draft.track();
            list.0.attempted.track();
            list.0.refused.track();
            untrack(|| list.show());
        });
    }

    /// Builds `more` fields, and the others in the following frames unless the form is removed.
    fn build(&self, more: usize) {
        let Some(root) = self.0.root.try_get_untracked().flatten() else {
            return;
        };
        self.show();
        let from = self.0.built.get();
        let to = self.0.fields.len().min(from.saturating_add(more));
        let html: String = {
            let shown = self.0.shown.borrow();
            let fields = (from..to).map(|at| {
                let field = &self.0.fields[at];
                frame(at, field, &shown[at].state, &controls::html(field)).into_string()
            });
            fields.collect()
        };
        // Parsed in a template, because the browser may restore values from before a reload into fields that are parsed
        // in the page.
        let template = document().create_element("template").ok();
        if let Some(template) = template.and_then(|it| it.dyn_into::<HtmlTemplateElement>().ok()) {
            template.set_inner_html(&html);
            // Appending a fragment does not fail.
            let _ = root.append_child(&template.content());
        }
        self.0.built.set(to);
        self.0
            .owner
            .with(|| (from..to).for_each(|at| self.fill(at)));
        if to < self.0.fields.len() {
            let list = self.clone();
            after_frame(move || untrack(|| list.build(FIELDS_PER_FRAME)));
        }
    }

    /// Adds what the HTML of a field does not contain: values that must not be in HTML, and views.
    fn fill(&self, at: usize) {
        let field = &self.0.fields[at];
        let has_problem = self.0.shown.borrow()[at].state.problem.is_some();
        let is_set = controls::is_set(field);
        let has_views = matches!(
            field.kind,
            Kind::Parameter(Control::LongText | Control::Media(_) | Control::MediaList(_))
        );
        if !has_problem && !is_set && !has_views {
            return;
        }
        let Some(element) = self.element(at) else {
            return;
        };
        if has_problem {
            mark_invalid(field, &element, true);
        }
        if is_set {
            controls::show(field, &element);
        }
        if !has_views {
            return;
        }
        let found = |selector: &str| element.query_selector(selector).ok().flatten();
        if let (Some(of), Some(below)) = (self.media_field(at), found(".below-address")) {
            mount_into(&below, media::below(of));
        }
        if let (Some(of), Some(place)) = (self.media_field(at), found(".own-file")) {
            let is_list = of.is_list();
            mount_into(&place, own_file::view(of));
            // The view contains the element that is marked.
            if is_list && has_problem {
                mark_invalid(field, &element, true);
            }
        }
        if let Some(vocabulary) = Vocabulary::of(&field.parameter) {
            steering::follow(field, vocabulary, &element);
        }
        if let (Some((model, sent)), Some(place)) = (&self.0.earlier, found(".earlier-place")) {
            mount_into(&place, earlier_prompts::earlier_button(field, model, *sent));
        }
    }

    pub fn field(&self, at: usize) -> Option<&Field> {
        self.0.fields.get(at)
    }

    /// Returns a field if it is a media field of a model.
    pub fn media_field(&self, at: usize) -> Option<MediaField> {
        MediaField::of(self.field(at)?, self.0.model.as_ref()?)
    }

    pub fn root(&self) -> NodeRef<Div> {
        self.0.root
    }

    /// Returns the element of a field, if it is built.
    pub fn element(&self, at: usize) -> Option<Element> {
        let root = self.0.root.try_get_untracked().flatten()?;
        root.children().item(u32::try_from(at).ok()?)
    }

    /// Saves the entry when the slider of a field is touched, for [`Self::restore_entry`].
    pub fn save_entry(&self, at: usize) {
        let entry = self.0.fields[at].entry_now();
        self.0.before_slide.borrow_mut().insert(at, entry);
    }

    /// Restores the saved entry. A finger that starts to scroll on a slider has set a value unintentionally.
    pub fn restore_entry(&self, at: usize) {
        let saved = self.0.before_slide.borrow_mut().remove(&at);
        if let Some(before) = saved
            && self.0.fields[at].entry_now() != before
        {
            self.0.fields[at].restore(before);
        }
    }

    /// Shows the problem of a field after the user has left it. Waits until the pointer is released, because the message
    /// moves the content below, such as a button that is being pressed.
    pub fn leave(&self, at: usize) {
        let list = self.clone();
        pointer::when_released(move || {
            // An untouched field is not marked when the user only tabs through it. The form may be disposed by now: a
            // focused control that is removed fires `focusout` too.
            if list.0.fields[at].entry_now().is_some() {
                list.0.shown.borrow_mut()[at].is_visited = true;
                untrack(|| list.show());
            }
        });
    }

    /// Updates all fields that have changed.
    fn show(&self) {
        for Change {
            at,
            has_new_entry,
            before,
        } in self.update_states()
        {
            // Fields that are not built yet will be built with their current state.
            if at >= self.0.built.get() {
                continue;
            }
            let Some(element) = self.element(at) else {
                continue;
            };
            let field = &self.0.fields[at];
            if has_new_entry {
                controls::show(field, &element);
            }
            let state = self.0.shown.borrow()[at].state.clone();
            if state != before {
                show_state(field, &element, &state);
            }
        }
    }

    /// Computes the state of every field. Returns the changes.
    fn update_states(&self) -> Vec<Change> {
        let (Some(is_attempted), Some(draft), Some(refused)) = (
            self.0.attempted.try_get_untracked(),
            self.0.draft.try_read_untracked(),
            self.0.refused.try_read_untracked(),
        ) else {
            return Vec::new();
        };
        let mut shown = self.0.shown.borrow_mut();
        let fields = self.0.fields.iter().zip(shown.iter_mut()).enumerate();
        fields
            .filter_map(|(at, (field, shown))| {
                let entry = draft.get(&field.parameter.name);
                if field.update_entry(entry) {
                    // The entry was not typed here, so it is complete and can be checked. An entry that was cleared is
                    // not checked yet.
                    shown.is_visited = entry.is_some_and(|entry| !entry.to_text().is_empty());
                }
                let refused = refused
                    .iter()
                    .find(|it| it.parameter == field.parameter.name);
                shown.update(at, field, entry, is_attempted, refused)
            })
            .collect()
    }
}

impl Shown {
    /// Computes the state; `None` if nothing has changed.
    fn update(
        &mut self,
        at: usize,
        field: &Field,
        entry: Option<&Entry>,
        is_attempted: bool,
        refused: Option<&Problem>,
    ) -> Option<Change> {
        let is_checked = self.is_visited || is_attempted;
        let refused = refused.map(|problem| problem.message.as_str());
        let before = self.source.as_ref();
        let has_new_entry = before.is_none_or(|it| it.entry.as_ref() != entry);
        let is_same =
            |it: &StateSource| it.is_checked == is_checked && it.refused.as_deref() == refused;
        if !has_new_entry && before.is_some_and(is_same) {
            return None;
        }
        self.source = Some(StateSource {
            entry: entry.cloned(),
            is_checked,
            refused: refused.map(str::to_owned),
        });
        let state = field_state(&field.parameter, field.required, entry, is_checked, refused);
        Some(Change {
            at,
            has_new_entry,
            before: std::mem::replace(&mut self.state, state),
        })
    }
}

/// Updates the displayed state of a field.
fn show_state(field: &Field, element: &Element, state: &FieldState) {
    let found = |selector: &str| element.query_selector(selector).ok().flatten();
    // Fails only for an invalid class name.
    let _ = (element.class_list()).toggle_with_force("refused", state.is_refused);
    if let Some(problem) = document().get_element_by_id(&field.problem_id()) {
        problem.set_text_content(Some(state.problem.as_deref().unwrap_or_default()));
    }
    mark_invalid(field, element, state.problem.is_some());
    if let Some(place) = found(".default-place") {
        match state.is_changed {
            true if place.child_element_count() == 0 => {
                place.set_inner_html(&reset_button(field).into_string());
            }
            true => {}
            false => place.set_inner_html(""),
        }
    }
}

/// Sets or removes `aria-invalid`, which a group of checkboxes does not support.
fn mark_invalid(field: &Field, element: &Element, is_invalid: bool) {
    if field.kind == Kind::Parameter(Control::Several) {
        return;
    }
    if let Some(control) = controls::described(field, element) {
        match is_invalid {
            true => set_attribute(&control, "aria-invalid", "true"),
            // Does not fail for this name.
            false => drop(control.remove_attribute("aria-invalid")),
        }
    }
}
