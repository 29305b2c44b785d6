use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema};
use atelier_studio::form::{blocker, control, input_json, seed};
use atelier_studio::gallery::swipe;
use icondata_lu::{LuSlidersHorizontal, LuSparkles};
use leptos::html::{Div, Form};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlTextAreaElement, PointerEvent};

use super::form_undo::FormUndo;
use super::input_json::InputJson;
use super::loaded::{self, Loaded};
use super::presets;
use super::recall::recall;
use super::refused::refused;
use super::submission::{Refusal, Submission};
use super::upload_wait::UploadWait;
use crate::browser::{location, pointer};
use crate::reactive::boxed::{derived, dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::{secrets, uploads};
use crate::view::form::{Field, Fields, ProblemSummary, field, sheet, unknown_names};
use crate::view::parts::away::unavailable_note;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::{dialog, focus, viewport};
use crate::view::task::inputs::copy_link;

/// Returns the button that unfolds the form where it is folded to a bar.
///
/// The focus keeps the form open. The button itself never gets the focus, because the form would then open under the finger
/// before the click. With the keyboard, focusing the prompt opens the form.
fn unfold_button(fields: NodeRef<Div>) -> AnyView {
    view! {
        <button
            class="icon-button unfold"
            type="button"
            aria-label="Show the form"
            title="Show the form"
            tabindex="-1"
            on:mousedown=handler(|event: leptos::ev::MouseEvent| event.prevent_default())
            on:click=handler(move |_| {
                if let Some(fields) = fields.get_untracked() {
                    sheet::unfold(&fields);
                    let _ = fields.focus();
                }
            })
        >
            <Glyph icon=LuSlidersHorizontal />
        </button>
    }
    .into_any()
}

/// Returns the handle of a form that is shown as a bottom sheet: a swipe down or the close button closes it.
///
/// A press on the handle doesn't move the focus, because that would close the sheet before the click.
fn sheet_handle(form: NodeRef<Form>, handle: NodeRef<Div>) -> AnyView {
    let close = move || {
        if let Some(form) = form.get_untracked() {
            sheet::fold(&form);
        }
    };
    let position = |event: &PointerEvent| (event.client_x(), event.client_y());
    let start = StoredValue::new(None);
    let up = move |event: PointerEvent| {
        let from = start.try_update_value(Option::take).flatten();
        if from.is_some_and(|from| swipe::closes_sheet(from, position(&event))) {
            close();
        }
    };
    view! {
        <div
            class="sheet-handle"
            node_ref=handle
            on:pointerdown=handler(move |event: PointerEvent| start.set_value(Some(position(&event))))
            on:pointerup=handler(up)
            on:pointercancel=handler(move |_: PointerEvent| start.set_value(None))
            on:mousedown=handler(|event: leptos::ev::MouseEvent| event.prevent_default())
        >
            {dialog::close_button(close, false)}
        </div>
    }
    .into_any()
}

/// The form for one generation.
#[component]
pub fn OneForm(
    model: ModelId,
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    /// Whether the input comes from a link.
    is_recipe: RwSignal<bool>,
) -> impl IntoView {
    let json = InputJson::follow(schema.clone(), draft);
    let typed = secrets::typed(contexts().session, &schema);
    move_secrets(schema.clone(), draft);
    let edited = RwSignal::new(None);
    let refused = refused(schema.clone(), draft, edited);
    // A cleared form shows no refused values, even if only defaults were submitted.
    let is_cleared = RwSignal::new(false);
    let refused = derived(move || match is_cleared.get() && draft.read().is_empty() {
        true => Vec::new(),
        false => refused.get(),
    });
    // The service may have refused a file that it no longer has.
    effect(move || {
        if !refused.read().is_empty() {
            untrack(uploads::check_again);
        }
    });
    let loaded = loaded::follow(schema.clone(), draft, is_recipe, edited);
    let submission = Submission::new(&model, &schema, draft, json);
    loaded::report_unchanged(loaded, draft, submission.answer);
    let has_presets_open = RwSignal::new(false);
    let form = NodeRef::<Form>::new();
    let fields = NodeRef::<Div>::new();
    let handle = NodeRef::<Div>::new();
    let upload_wait = UploadWait::new(&model, &schema, draft);
    upload_wait.follow(form);
    pause_delivery(json);
    let form_sheet = sheet::FormSheet::follow(form, handle);
    let own_model = StoredValue::new(model.clone());
    let reset = move |_| {
        upload_wait.cancel();
        own_model.with_value(uploads::replace_form);
        loaded::load(loaded, draft, Draft::default(), Vec::new());
        typed.set(Draft::default());
        submission.reset();
        is_cleared.set(true);
        is_recipe.set(false);
        // Scroll to the note at the top of the form.
        if let Some(fields) = fields.get_untracked() {
            fields.set_scroll_top(0);
            // The button disappears.
            focus::when_lost(move || focus::in_place(&fields));
        }
    };
    // A press on the backdrop closes the sheet. The backdrop is part of the form element.
    let close_on_backdrop = move |event: leptos::ev::MouseEvent| {
        let Some(form) = form.get_untracked().filter(|_| viewport::is_one_pane()) else {
            return;
        };
        // A click by keyboard has no position, and its target is a control.
        let is_form = event.target() == Some(form.clone().into());
        if is_form && f64::from(event.client_y()) < form.get_bounding_client_rect().top() {
            sheet::fold(&form);
        }
    };
    pointer::follow();
    // Ignore the second click of a double click if another element has moved under the pointer.
    let ignore_stray_click = move |event: leptos::ev::MouseEvent| {
        if pointer::is_stray_click(&event) {
            event.prevent_default();
            event.stop_propagation();
        }
    };
    let recall = recall(model.clone(), schema.clone(), draft);
    let undo = FormUndo::follow(schema.clone(), draft);
    // Key repeat doesn't submit again.
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        let target = event.target();
        let is_text = target.is_some_and(|target| target.has_type::<HtmlTextAreaElement>());
        if undo.handle_key(&event) || recall(&event) || event.key() != "Enter" {
            return;
        }
        let is_sending = event.ctrl_key() || event.meta_key();
        if is_sending || (event.repeat() && !is_text) {
            event.prevent_default();
        }
        if let (true, false, Some(form)) = (is_sending, event.repeat(), form.get_untracked()) {
            let _ = form.request_submit();
        }
    };
    let link = {
        let (schema, model) = (schema.clone(), model.clone());
        copy_link(model, move || {
            input_json::values(&draft.read_untracked(), &schema)
        })
    };
    focus_first_field(schema.clone(), draft);
    let away = unavailable_note(model.clone());
    let cooldown = submission.cooldown.is_active(draft);
    let cooldown = derived(move || cooldown.get().then_some("true"));
    let fixed_seed = fixed_seed(schema.clone(), draft);
    let presets = presets::dialog(has_presets_open, &model, draft, move |preset| {
        own_model.with_value(uploads::replace_form);
        loaded::load(loaded, draft, preset, Vec::new());
    });
    view! {
        <form
            class="panel form"
            aria-label="Input"
            node_ref=form
            novalidate
            on:submit=handler(move |event: leptos::ev::SubmitEvent| {
                event.prevent_default();
                if upload_wait.begin(|uploaded| submission.is_valid_without(uploaded)) {
                    submission.answer.clear();
                    // On a phone, the form may be folded so that it doesn't show the wait.
                    let is_checking = upload_wait.is_checking_files();
                    if let Some(form) = form.get_untracked().filter(|_| !is_checking) {
                        sheet::show_problems(&form);
                    }
                    return;
                }
                is_cleared.set(false);
                let is_sent = submission.submit();
                if is_sent {
                    loaded.set(Loaded::Nothing);
                    is_recipe.set(false);
                }
                match form.get_untracked() {
                    Some(form) if is_sent => sheet::close_over_result(&form),
                    Some(form) if submission.has_problems() => sheet::show_problems(&form),
                    _ => {}
                }
            })
            on:input:capture=handler(move |event: web_sys::Event| undo.handle_input(&event))
            on:keydown=handler(keydown)
            // `toggle` events do not bubble.
            on:toggle:capture=handler(move |_: web_sys::Event| form_sheet.keep())
            on:click:capture=handler(ignore_stray_click)
            on:click=handler(close_on_backdrop)
        >
            {sheet_handle(form, handle)}
            <div class="form-scroll" tabindex="-1" node_ref=fields>
            <div class="row form-tools">{json.choice()} {presets::button(has_presets_open)} {link}</div>
            {loaded::note(loaded, draft, is_recipe)}
            <ProblemSummary
                schema=schema.clone()
                problems=submission.problems
                refusals=submission.refusals
                reveal=move |()| json.choose(false)
            />
            {dynamic(move || submission.refused.get().map(Refusal::view).into_any())}
            {unknown_names_note(schema.clone(), draft, json)}
            {json.notice()}
            {json.view(&schema, draft)}
            <div class="form-fields" hidden=when(move || json.is_shown())>
                <Fields schema draft attempted=submission.attempted refused />
            </div>
            </div>
            {unfold_button(fields)}
            <div class="form-foot">
                <button
                    class="button primary"
                    type="submit"
                    aria-disabled=cooldown
                    aria-keyshortcuts="Control+Enter Meta+Enter"
                >
                    <Glyph icon=LuSparkles />
                    "Generate"
                </button>
                <kbd class="keys" aria-hidden="true">
                    {control::command_key(&location::platform())} " Enter"
                </kbd>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || draft.read().is_empty() && typed.read().is_empty())
                    on:click=handler(reset)
                >
                    "Clear form"
                </button>
                <p class="muted why" translate="no" hidden=when(move || upload_wait.is_waiting())>
                    {submission.status()}
                </p>
                {upload_wait.view()}
                {away}
                {submission.answer.view()}
                {fixed_seed}
            </div>
        </form>
        {presets}
    }
}

/// Makes finished uploads wait while the JSON text can't be read: it would replace their URLs.
fn pause_delivery(json: InputJson) {
    effect(move || uploads::pause_delivery(json.has_message()));
    on_cleanup(|| uploads::pause_delivery(false));
}

/// Moves secrets from the draft to their own fields. A link, a preset or an earlier version may have put them there.
fn move_secrets(schema: Arc<Schema>, draft: RwSignal<Draft>) {
    let session = contexts().session;
    effect(move || {
        let mut now = draft.get();
        if secrets::take_from(session, &mut now, &schema) {
            draft.set(now);
        }
    });
}

/// Returns a message about names that are not parameters of the model, and therefore have no field. While the JSON is
/// shown, it has this message itself.
fn unknown_names_note(schema: Arc<Schema>, draft: RwSignal<Draft>, json: InputJson) -> AnyView {
    let unknown = memo(move || match json.is_shown() {
        true => Vec::new(),
        false => input_json::unknown(&draft.read(), &schema),
    });
    let message = text(move || {
        let names: Vec<String> = unknown.get().into_iter().map(|it| it.name).collect();
        input_json::unknown_message(&names)
    });
    let rename = Callback::new(move |(name, to): (String, Option<String>)| {
        draft.update(|draft| *draft = input_json::renamed(draft, &name, to.as_deref()));
        // The button disappears.
        focus::when_lost(|| {
            focus::to_without_scrolling(".form-fields :is(textarea, input, select)");
        });
    });
    view! {
        <div class="unknown-names" hidden=when(move || unknown.read().is_empty())>
            <p class="problem" role="status" prop:textContent=message></p>
            {unknown_names(unknown, rename)}
        </div>
    }
    .into_any()
}

/// Returns a note about a fixed seed, with a button that removes it.
fn fixed_seed(schema: Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
    let fixed = {
        let schema = schema.clone();
        memo(move || seed::fixed_seed(&draft.read(), &schema))
    };
    let remove_seed = move |_| {
        draft.update(|draft| {
            seed::release(draft, &schema);
        });
    };
    view! {
        <p class="fixed-seed" hidden=when(move || fixed.read().is_none())>
            <span role="status">
                // Change the text node instead of replacing it at each digit: otherwise Chromium would undo each typed digit
                // separately.
                {text(move || match &*fixed.read() {
                    Some(seed) => format!("Seed {seed} fixed"),
                    None => String::new(),
                })}
            </span>
            <button
                class="button quiet small"
                type="button"
                title="Another seed for each result"
                on:click=handler(remove_seed)
            >
                "New seed each time"
            </button>
        </p>
    }
    .into_any()
}

/// Focuses the first field that is required and empty, or the first text field.
///
/// Does nothing in a window with one pane, where an on-screen keyboard would cover the page, and nothing if another element
/// has the focus.
fn focus_first_field(schema: Arc<Schema>, draft: RwSignal<Draft>) {
    if viewport::is_one_pane() {
        return;
    }
    let typed = secrets::typed(contexts().session, &schema);
    // In the next frame the form has the values from the URL.
    request_animation_frame(move || {
        let Some(draft) = draft.try_get_untracked() else {
            return;
        };
        let missing_secret = || {
            let missing = schema.of_secrets().validate(&typed.get_untracked(), false);
            schema.position_of(&missing.err()?.first()?.parameter)
        };
        let first = blocker::missing(&draft, &schema)
            .or_else(missing_secret)
            .or_else(|| {
                let mut parameters = schema.parameters();
                parameters.position(|(parameter, _)| parameter.is_long_text())
            });
        let Some(id) = first.map(Field::id_of) else {
            return;
        };
        if focus::is_free() {
            field::focus_in_place(&id);
        }
    });
}
