use std::sync::Arc;

use atelier_contract::{Draft, Entry, Parameter, Problem, check};
use atelier_engine::control::{self, Control};
use atelier_engine::parameter_name::in_full;
use icondata_lu::{LuInfo, LuUndo2};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::boxed::{derived, dynamic, handler, memo, text, when};
use crate::browser::pointer;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::into_view::into_view;

/// One parameter in the form: what stands in it and what is wrong with that.
#[derive(Clone)]
pub struct Field {
    pub parameter: Arc<Parameter>,
    pub required: bool,
    /// The control's element id.
    pub id: String,
    draft: RwSignal<Draft>,
    /// What the draft has of this parameter, so that only this field hears of it.
    entry: RwSignal<Option<Entry>>,
    visited: RwSignal<bool>,
    problem: Memo<Option<String>>,
    /// All that is wrong with it is that the service has refused it before.
    is_refused: Memo<bool>,
}

impl Field {
    pub fn new(
        at: usize,
        parameter: Parameter,
        required: bool,
        draft: RwSignal<Draft>,
        attempted: RwSignal<bool>,
        refused: Signal<Vec<Problem>>,
    ) -> Self {
        let parameter = Arc::new(parameter);
        let entry = RwSignal::new(draft.read_untracked().get(&parameter.name).cloned());
        let visited = RwSignal::new(false);
        let found = memo({
            let parameter = parameter.clone();
            move || {
                let found = (visited.get() || attempted.get()).then(|| {
                    let entry = entry.get();
                    // What the schema itself gets wrong is left out.
                    let default = || parameter.default_entry().filter(|_| required);
                    let entry = entry.or_else(default);
                    check(&parameter, required, entry.as_ref()).err()
                });
                Some(found.flatten()?.message)
            }
        });
        let problem = memo({
            let parameter = parameter.clone();
            move || {
                found.get().or_else(|| {
                    let refused = refused.read();
                    let refused = refused.iter().find(|it| it.parameter == parameter.name);
                    Some(refused?.message.clone())
                })
            }
        });
        let is_refused = memo(move || found.read().is_none() && problem.read().is_some());
        Self {
            parameter,
            required,
            id: Self::id_of(at),
            draft,
            entry,
            visited,
            problem,
            is_refused,
        }
    }

    /// Takes over what the draft has of this parameter, if it is something else. What was put there in another way, as
    /// by a text, is no half of a word, and what was cleared is not wrong yet.
    pub fn follow(&self, draft: &Draft) {
        let now = draft.get(&self.parameter.name);
        if self.entry.read_untracked().as_ref() != now {
            let is_empty = now.is_none_or(|entry| entry.to_text().is_empty());
            self.visited.set(!is_empty);
            self.entry.set(now.cloned());
        }
    }

    /// The element id of the control at a place of the form.
    pub fn id_of(at: usize) -> String {
        format!("field-{at}")
    }

    /// What the person entered; `None` while untouched.
    pub fn entry(&self) -> Option<Entry> {
        self.entry.get()
    }

    /// What the control shows: the entry, or the default while untouched.
    pub fn shown(&self) -> Option<Entry> {
        self.entry().or_else(|| self.parameter.default_entry())
    }

    /// What a text control shows. A default of `null` shows as empty.
    pub fn text(&self) -> String {
        match self.shown() {
            None | Some(Entry::Value(serde_json::Value::Null)) => String::new(),
            Some(entry) => entry.to_text(),
        }
    }

    pub fn set_text(&self, text: String) {
        self.set(Entry::Text(text));
    }

    pub fn set(&self, entry: Entry) {
        self.entry.set(Some(entry.clone()));
        self.draft
            .update(|draft| draft.set(self.parameter.name.clone(), entry));
    }

    fn reset(&self) {
        self.entry.set(None);
        self.draft.update(|draft| draft.reset(&self.parameter.name));
    }

    /// What was entered before stands there once more.
    pub fn put_back(&self, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.set(entry),
            None => self.reset(),
        }
    }

    /// The person has left the control: from now on its problem shows. It moves what is below, as Generate, which may
    /// be what is being pressed.
    pub fn leave(&self) {
        let (entry, visited) = (self.entry, self.visited);
        pointer::once_up(move || {
            // An untouched field that someone tabs through is not wrong yet. A control that goes with its
            // page while it has the focus loses that, too.
            if entry.try_with_untracked(Option::is_some) == Some(true) {
                visited.set(true);
            }
        });
    }

    /// `aria-invalid`: only where something is wrong.
    pub fn invalid(&self) -> Signal<Option<String>> {
        let problem = self.problem;
        derived(move || problem.read().is_some().then(|| "true".to_owned()))
    }

    /// What a text control shows, as a signal.
    pub fn value(&self) -> Signal<String> {
        let field = self.clone();
        text(move || field.text())
    }

    /// The ids of what describes the control.
    pub fn described_by(&self) -> String {
        format!("{0}-bounds {0}-hint {0}-problem", self.id)
    }

    pub fn label_id(&self) -> String {
        format!("{}-label", self.id)
    }
}

/// The element id of the input's text, where it is written as JSON.
pub const JSON_ID: &str = "input-json";

/// Moves the focus to a control. Nothing is scrolled: what a page begins with is in sight.
pub fn focus_in_place(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        focus::in_place(&element);
    }
}

/// Moves the focus to a control, wherever on the page it is.
pub fn focus(id: &str) {
    if let Some(element) = element::<HtmlElement>(id) {
        // Written as JSON, the text stands for all of them.
        if let Ok(Some(_)) = element.closest(".form-fields[hidden]") {
            return focus(JSON_ID);
        }
        // A control that is folded away can't take the focus.
        if let Ok(Some(fold)) = element.closest("details") {
            let _ = fold.set_attribute("open", "");
        }
        let _ = element.focus();
        // Of a text the browser shows the line of the caret alone.
        bring_into_sight(id);
    }
}

/// Scrolls no further than it has to.
pub fn bring_into_sight(id: &str) {
    let field = element::<HtmlElement>(id).and_then(|element| element.closest(".field").ok()?);
    if let Some(field) = field {
        into_view(&field);
    }
}

/// A control, as the element that it is.
pub fn element<E: JsCast>(id: &str) -> Option<E> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// What stands around every control: name, bounds, way back to the default, description when it is asked
/// for, problem.
#[component]
pub fn FieldFrame(
    field: Field,
    /// A group of controls is named by the text, not by a `label for`.
    #[prop(optional)]
    group: bool,
    /// What stands at the right of the name.
    #[prop(optional)]
    aside: Option<AnyView>,
    children: Children,
) -> impl IntoView {
    let name = field.parameter.name.clone();
    let star = field.required.then(|| {
        view! {
            <span class="star" aria-hidden="true" title="Required">
                "*"
            </span>
        }
        .into_any()
    });
    let label = if group {
        view! {
            <span class="label" id=field.label_id()>
                {name.clone()}
            </span>
        }
        .into_any()
    } else {
        view! {
            <label class="label" id=field.label_id() for=field.id.clone()>
                {name.clone()}
            </label>
        }
        .into_any()
    };
    let reset = {
        let (state, field) = (field.clone(), field.clone());
        let is_away = memo(move || {
            let entry = state.entry.read();
            let entry = entry.as_ref();
            entry.is_some_and(|entry| !control::is_default(&state.parameter, entry))
        });
        let has_default = field.parameter.default.is_some();
        has_default.then(|| {
            let button = dynamic(move || match is_away.get() {
                true => back_to_default(field.clone()),
                false => ().into_any(),
            });
            // Its place is kept, so that nothing moves when it comes.
            view! { <span class="reset-place">{button}</span> }.into_any()
        })
    };
    // Heard, the name alone is what the control is called.
    let in_full = in_full(&field.parameter).map(|words| {
        view! {
            <span class="in-full" aria-hidden="true">
                {words}
            </span>
        }
        .into_any()
    });
    let bounds = control::bounds(&field.parameter);
    // Nobody chooses a seed by its bounds, which are long.
    let is_seed = Control::of(&field.parameter) == Control::Seed;
    let bounds_id = format!("{}-bounds", field.id);
    let hint_id = format!("{}-hint", field.id);
    let problem_id = format!("{}-problem", field.id);
    let description = field.parameter.description.clone();
    let is_explained = RwSignal::new(false);
    let has_description = !description.trim().is_empty();
    let explain = has_description.then(|| explain_button(&field, hint_id.clone(), is_explained));
    let help = move |event: leptos::ev::KeyboardEvent| {
        if has_description && event.key() == "F1" {
            event.prevent_default();
            is_explained.update(|is| *is = !*is);
        }
    };
    view! {
        <div class="field" class:refused=when(move || field.is_refused.get()) on:keydown=handler(help)>
            <div class="field-head">
                {label} {star} {in_full}
                <span class="bounds" class:visually-hidden=is_seed id=bounds_id>
                    {bounds}
                </span>
                {explain} {reset}
                {aside.map(|aside| view! { <span class="aside">{aside}</span> }.into_any())}
            </div>
            {children()}
            <p class="hint" class:visually-hidden=when(move || !is_explained.get()) id=hint_id dir="auto">
                {description}
            </p>
            <p class="problem" id=problem_id prop:textContent=text(move || field.problem.get().unwrap_or_default())></p>
        </div>
    }
}

/// The button that shows what the parameter does. Who hears the page has heard it with the control, and keys have F1
/// there: it is no stop between one control and the next.
fn explain_button(field: &Field, hint_id: String, is_explained: RwSignal<bool>) -> AnyView {
    let expanded = text(move || is_explained.get().to_string());
    view! {
        <button
            class="reset explain"
            type="button"
            tabindex="-1"
            aria-keyshortcuts="F1"
            // Without the parameter's name: that names the control alone.
            aria-label="What is this?"
            title=field.parameter.description.clone()
            aria-describedby=field.label_id()
            aria-expanded=expanded
            aria-controls=hint_id
            on:click=handler(move |_| is_explained.update(|is| *is = !*is))
        >
            <Glyph icon=LuInfo />
        </button>
    }
    .into_any()
}

/// The button that takes back what was entered.
fn back_to_default(field: Field) -> AnyView {
    let label_id = field.label_id();
    let reset = move |_| {
        field.reset();
        focus(&field.id);
    };
    view! {
        <button
            class="reset"
            type="button"
            // Without the parameter's name: that names the control alone.
            aria-label="Back to the default"
            title="Back to the default"
            aria-describedby=label_id
            on:click=handler(reset)
        >
            <Glyph icon=LuUndo2 />
        </button>
    }
    .into_any()
}
