//! Fields that stand below each other. They are put into the page as HTML and followed from one place: as views of their own,
//! with signals and listeners for each, those of a model with many parameters took several times as long to open.

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
use super::frame::{back_to_default, frame};
use super::{controls, earlier_prompts, media, set_attribute, steering};
use crate::browser::frame::after_frame;
use crate::browser::lifecycle::is_visible;
use crate::browser::pointer;
use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::contexts;
use crate::view::parts::mounted::mount_into;

/// Fields that are built in each frame after those that are built at once.
const MORE: usize = 100;

#[derive(Clone)]
pub struct FieldList(Rc<Inner>);

struct Inner {
    fields: Vec<Field>,
    draft: RwSignal<Draft>,
    /// The person has tried to send: from then on every problem shows.
    attempted: RwSignal<bool>,
    refused: Signal<Vec<Problem>>,
    /// What the model's tasks had in its texts is offered.
    earlier: Option<(ModelId, Memo<BTreeSet<String>>)>,
    shown: RefCell<Vec<Shown>>,
    /// The first so many are in the page.
    built: Cell<usize>,
    root: NodeRef<Div>,
    /// Of the views within fields.
    owner: Owner,
    /// What stood in a field when its slider was touched.
    before_slide: RefCell<BTreeMap<usize, Option<Entry>>>,
}

/// What a field shows, and what that was made of.
#[derive(Default)]
struct Shown {
    /// The person has left the field: from now on its problem shows.
    is_visited: bool,
    made_of: Option<MadeOf>,
    said: FieldState,
}

struct MadeOf {
    entry: Option<Entry>,
    is_checked: bool,
    refused: Option<String>,
}

/// What has changed of a field.
struct Change {
    at: usize,
    is_other_entry: bool,
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
        let earlier = model.filter(|_| !names.is_empty()).cloned().map(|model| {
            let (runner, of) = (contexts().runner, model.clone());
            let sent = memo(move || earlier_prompts::sent_before(runner, &of, &names));
            (model, sent)
        });
        let shown = fields.iter().map(|_| Shown::default()).collect();
        Self(Rc::new(Inner {
            fields,
            draft,
            attempted,
            refused,
            earlier,
            shown: RefCell::new(shown),
            built: Cell::new(0),
            root: NodeRef::new(),
            owner: Owner::new(),
            before_slide: RefCell::default(),
        }))
    }

    /// Builds the fields once its root is there: `first` of them at once, the others in the frames after that. Then it follows
    /// the draft, for as long as the owner lives.
    pub fn begin(&self, first: usize) {
        let root = self.0.root;
        let list = self.clone();
        effect(move || {
            if root.get().is_some() && list.0.built.get() == 0 {
                // There are no frames while the page is not looked at.
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

    /// Builds so many more, and some in each frame after that, until all are there or the form has gone.
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
                frame(at, field, &shown[at].said, &controls::html(field)).into_string()
            });
            fields.collect()
        };
        // What is parsed within the page itself may be filled in by the browser, with what stood there before a reload.
        let template = document().create_element("template").ok();
        if let Some(template) = template.and_then(|it| it.dyn_into::<HtmlTemplateElement>().ok()) {
            template.set_inner_html(&html);
            // An element takes what is in a template.
            let _ = root.append_child(&template.content());
        }
        self.0.built.set(to);
        self.0
            .owner
            .with(|| (from..to).for_each(|at| self.fill(at)));
        if to < self.0.fields.len() {
            let list = self.clone();
            after_frame(move || untrack(|| list.build(MORE)));
        }
    }

    /// Puts into a field what its HTML does not have: what is not to be there, and views of their own.
    fn fill(&self, at: usize) {
        let field = &self.0.fields[at];
        let has_problem = self.0.shown.borrow()[at].said.problem.is_some();
        let is_set = controls::is_set(field);
        let has_views = matches!(
            field.kind,
            Kind::Parameter(Control::LongText | Control::Media(_))
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
        if let Kind::Parameter(Control::Media(media)) = field.kind
            && let Some(below) = found(".below-address")
        {
            mount_into(&below, media::below(field, media));
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

    pub fn root(&self) -> NodeRef<Div> {
        self.0.root
    }

    /// The field as it is in the page, once it has been built.
    pub fn element(&self, at: usize) -> Option<Element> {
        let root = self.0.root.try_get_untracked().flatten()?;
        root.children().item(u32::try_from(at).ok()?)
    }

    /// The slider of this field is touched: what it sets may have to be taken back.
    pub fn hold_entry(&self, at: usize) {
        let entry = self.0.fields[at].entry_now();
        self.0.before_slide.borrow_mut().insert(at, entry);
    }

    /// A finger that goes on to scroll has set a value where it came down, which was not meant.
    pub fn put_entry_back(&self, at: usize) {
        let held = self.0.before_slide.borrow_mut().remove(&at);
        if let Some(before) = held
            && self.0.fields[at].entry_now() != before
        {
            self.0.fields[at].put_back(before);
        }
    }

    /// The person has left the control: from now on its problem shows. It moves what is below, as Generate, which may
    /// be what is being pressed.
    pub fn leave(&self, at: usize) {
        let list = self.clone();
        pointer::once_up(move || {
            // An untouched field that someone tabs through is not wrong yet. A control that goes with its
            // page while it has the focus loses that, too.
            if list.0.fields[at].entry_now().is_some() {
                list.0.shown.borrow_mut()[at].is_visited = true;
                untrack(|| list.show());
            }
        });
    }

    /// Shows what has changed.
    fn show(&self) {
        for Change {
            at,
            is_other_entry,
            before,
        } in self.look()
        {
            // What is built later is built as it is then.
            if at >= self.0.built.get() {
                continue;
            }
            let Some(element) = self.element(at) else {
                continue;
            };
            let field = &self.0.fields[at];
            if is_other_entry {
                controls::show(field, &element);
            }
            let said = self.0.shown.borrow()[at].said.clone();
            if said != before {
                show_said(field, &element, &said);
            }
        }
    }

    /// Looks at every field anew; which of them have changed.
    fn look(&self) -> Vec<Change> {
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
                if field.follow(entry) {
                    // What was put there in another way, as by a text, is no half of a word, and what was cleared is
                    // not wrong yet.
                    shown.is_visited = entry.is_some_and(|entry| !entry.to_text().is_empty());
                }
                let refused = refused
                    .iter()
                    .find(|it| it.parameter == field.parameter.name);
                shown.follow(at, field, entry, is_attempted, refused)
            })
            .collect()
    }
}

impl Shown {
    fn follow(
        &mut self,
        at: usize,
        field: &Field,
        entry: Option<&Entry>,
        is_attempted: bool,
        refused: Option<&Problem>,
    ) -> Option<Change> {
        let is_checked = self.is_visited || is_attempted;
        let refused = refused.map(|problem| problem.message.as_str());
        let before = self.made_of.as_ref();
        let is_other_entry = before.is_none_or(|it| it.entry.as_ref() != entry);
        let is_same = |it: &MadeOf| it.is_checked == is_checked && it.refused.as_deref() == refused;
        if !is_other_entry && before.is_some_and(is_same) {
            return None;
        }
        self.made_of = Some(MadeOf {
            entry: entry.cloned(),
            is_checked,
            refused: refused.map(str::to_owned),
        });
        let said = field_state(&field.parameter, field.required, entry, is_checked, refused);
        Some(Change {
            at,
            is_other_entry,
            before: std::mem::replace(&mut self.said, said),
        })
    }
}

fn show_said(field: &Field, element: &Element, said: &FieldState) {
    let found = |selector: &str| element.query_selector(selector).ok().flatten();
    // It fails only where the name is none.
    let _ = (element.class_list()).toggle_with_force("refused", said.is_refused);
    if let Some(problem) = document().get_element_by_id(&field.problem_id()) {
        problem.set_text_content(Some(said.problem.as_deref().unwrap_or_default()));
    }
    mark_invalid(field, element, said.problem.is_some());
    if let Some(place) = found(".default-place") {
        match said.is_changed {
            true if place.child_element_count() == 0 => {
                place.set_inner_html(&back_to_default(field).into_string());
            }
            true => {}
            false => place.set_inner_html(""),
        }
    }
}

/// A group of boxes has no such mark.
fn mark_invalid(field: &Field, element: &Element, is_invalid: bool) {
    if field.kind == Kind::Parameter(Control::Several) {
        return;
    }
    if let Some(control) = controls::described(field, element) {
        match is_invalid {
            true => set_attribute(&control, "aria-invalid", "true"),
            // It fails only where the name is none.
            false => drop(control.remove_attribute("aria-invalid")),
        }
    }
}
