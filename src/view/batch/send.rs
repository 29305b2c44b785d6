use std::rc::Rc;

use atelier_contract::ModelId;
use atelier_engine::TaskKey;
use atelier_engine::recovery::SUPERSEDED_REFUSAL;
use atelier_studio::compose::panel_items;
use atelier_studio::compose::table::Table;
use atelier_studio::form::control;
use atelier_studio::text::plural::{agreeing, counted};
use icondata_lu::LuSparkles;
use leptos::html::{Button, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use super::composer::Composer;
use super::file_wait::RowsWait;
use super::lost_files::LostFiles;
use super::made::{duplicate_rows, duplicates_note};
use super::place;
use super::removed_rows::removed_rows;
use crate::browser::{location, random};
use crate::reactive::boxed::{after, dynamic, effect, handler, memo, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::state::secrets;
use crate::state::tables::Sending;
use crate::view::form::{Field, field, secret_fields};
use crate::view::parts::away::unavailable_note;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::no_account::no_account;
use crate::view::parts::not_sent::not_sent;
use crate::view::parts::question::Question;
use crate::view::parts::size::{follow_size, set_root_property};

/// The number of problems that are listed; the table shows the others.
const MAX_PROBLEMS: usize = 5;

/// The foot of the form: what Generate sends, and the button.
pub fn send(
    composer: Composer,
    model: ModelId,
    is_below: Memo<bool>,
    generate: NodeRef<Button>,
) -> AnyView {
    let all = contexts();
    let away = unavailable_note(model.clone());
    let plan = memo(move || composer.table.read().plan(&composer.schema()));
    let good = move || plan.read().items;
    let bad = memo(move || composer.table.read().bad().count());
    let rest = memo(move || composer.table.read().unsent_rest_message());
    let offered = move || composer.offered.read().as_ref().map(|offer| offer.plan);
    let left_out = memo(move || {
        composer
            .offered
            .get()
            .map_or_else(String::new, |it| it.left_out)
    });
    let replaces = memo(move || {
        composer
            .offered
            .read()
            .as_ref()
            .is_some_and(|it| it.replaces)
    });
    let to_send = move || {
        let rows = if replaces.get() { 0 } else { good() };
        let offered = offered().map_or(0, |plan| plan.items);
        let is_held_up = composer.block_message.read().is_some();
        if is_held_up { 0 } else { rows + offered }
    };
    let is_all_sent = memo(move || composer.table.read().is_all_sent());
    let is_refused = RwSignal::new(false);
    let attempted = RwSignal::new(false);
    let typed = secrets::typed(all.session, &composer.schema());
    let which = RwSignal::new(Which::All);
    let made = move || match which.get_untracked() {
        Which::New => duplicate_rows(composer),
        _ => Vec::new(),
    };
    let planned = move || {
        let (made, schema) = (made(), composer.schema());
        composer.table.with_untracked(|table| {
            let added = match which.get_untracked() {
                Which::Added => table.added_plan(&schema),
                _ => None,
            };
            added.unwrap_or_else(|| table.plan_new(&made, &schema))
        })
    };
    let pressed = RwSignal::new(plan.get_untracked());
    let question = Question::default();
    let lost_files = LostFiles::follow(composer);
    let wait = RowsWait::new(composer, lost_files);
    let send = move || {
        let name = untrack(|| all.catalog.model(&model)).map_or_else(
            || model.subcategory.clone(),
            |model| model.display_name().to_owned(),
        );
        let send_defaults = all.session.settings_untracked().send_defaults;
        let schema = composer.schema();
        let (made, sent) = (made(), planned());
        let key = composer.keeping().batch_key(sent.items);
        composer.just_pressed.counts("Generate");
        let sending = Sending::begin(composer.keeping(), key.clone());
        let known = |key: &TaskKey| all.runner.place_of(key);
        let bits = &mut random::bits;
        let mut send =
            |table: &mut Table| table.send_new(&made, &key, &schema, send_defaults, bits, &known);
        let rows = composer.edit(|table| match which.get_untracked() {
            Which::Added => table.with_only_added_rows(send),
            _ => send(table),
        });
        let (count, elsewhere) = (rows.items.len(), rows.sent_elsewhere_message());
        sending.secure();
        composer.unseen.set(Some(key.clone()));
        composer.looked_at.set(None);
        // The newest batch is shown.
        all.navigation.set_query("batch", None);
        // The rows are drawn as sent in one frame and become tasks in the next, because a thousand of them take a while. If
        // the page is closed in between, they are in the table.
        let submit = move || {
            let is_sent = Batches::new(all).submit(key, &name, rows.items, rows.grid);
            sending.end(all.runner);
            // The reason for waiting is shown elsewhere.
            let done = match untrack(|| all.runner.block_reason()) {
                Some(_) => "To be sent",
                None => "Sent",
            };
            let said = match (is_sent, elsewhere.is_empty()) {
                (false, true) => return,
                (false, false) => elsewhere,
                (true, true) => format!("{done}: {}.", sent.user_message()),
                (true, false) => format!("{done}: {}. {elsewhere}", counted(count, "item")),
            };
            composer.answer.say(said);
            place::make_way(composer);
        };
        after(0, submit).forget();
    };
    // Presses Generate again after a wait for files.
    let again = StoredValue::new_local(None::<Rc<dyn Fn(Which)>>);
    let press = {
        let send = send.clone();
        move |pressed_for: Which| {
            if wait.is_waiting() {
                return;
            }
            // The rows would be sent with the file from before.
            if let Some(refusal) = composer.unfinished_form() {
                return composer.answer.say(refusal);
            }
            // The second half of a double click must not send the remaining rows.
            if pressed_for == Which::All
                && which.get_untracked() == Which::Added
                && untrack(|| composer.just_pressed.is_pressed())
            {
                let said = "Sent once. Press again to send the other rows.";
                return composer.answer.say(said.to_owned());
            }
            is_refused.set(untrack(|| {
                all.runner.is_superseded() || all.session.credentials().is_none()
            }));
            if is_refused.get_untracked() {
                // The reason is shown.
                return;
            }
            let schema = composer.schema();
            let missing = schema.of_secrets().validate(&typed.read_untracked(), false);
            if let Some(problem) = missing.err().and_then(|all| all.into_iter().next()) {
                attempted.set(true);
                let id = schema.position_of(&problem.parameter).map(Field::id_of);
                id.as_deref().into_iter().for_each(field::focus);
                return;
            }
            let resume: Rc<dyn Fn()> = Rc::new(move || {
                let press = again.try_get_value().flatten();
                press.into_iter().for_each(|press| press(pressed_for));
            });
            if wait.begin_check(pressed_for, resume.clone()) {
                return;
            }
            if let Some(refusal) = lost_files.refusal(pressed_for) {
                return composer.answer.say(refusal);
            }
            let offered = composer.offered.get_untracked();
            if let Some(offer) = offered.filter(|_| pressed_for != Which::Added) {
                let newest = composer.table.with_untracked(Table::last_id);
                offer.add.run(());
                let table = composer.table.read_untracked();
                let is_wrong = table.has_bad_since(newest) || table.good() == 0;
                if is_wrong || composer.refused.with_untracked(Option::is_some) {
                    return; // Their problems are shown.
                }
            }
            if wait.begin(resume) {
                return;
            }
            composer.undo_offer.end();
            which.set(pressed_for);
            pressed.set(planned());
            if pressed.get_untracked().needs_confirmation() {
                question.ask();
            } else {
                send();
            }
        }
    };
    again.set_value(Some(Rc::new(press.clone())));
    let send_only = {
        let press = press.clone();
        Callback::new(press)
    };
    let send_new = Callback::new(move |()| send_only.run(Which::New));
    // The answer is obsolete when the tasks wait for the user's consent.
    effect(move || {
        if composer.is_held.get() {
            composer.answer.clear();
        }
    });
    let label = text(move || match to_send() {
        0 => "Generate".to_owned(),
        n => format!("Generate {n}"),
    });
    let asked = text(move || {
        format!(
            "Send {}? Each of them may cost money.",
            pressed.get().user_message()
        )
    });
    let send_all = Callback::new(move |()| send());
    let foot = NodeRef::<Div>::new();
    // Elements that receive the focus are scrolled above the foot, whatever its height.
    follow_size(foot, |foot| {
        let height = foot.get_bounding_client_rect().height();
        set_root_property("--foot", &format!("{height:.0}px"));
    });
    view! {
        {dynamic(move || problems(composer, bad.get()))}
        {dynamic(move || is_refused.get().then(refusal).into_any())}
        {secret_fields(&composer.schema(), typed, attempted)}
        <div class="form-foot" node_ref=foot>
            {removed_rows(composer)}
            {duplicates_note(composer, send_new)}
            {added_rows(composer, Callback::new(move |()| send_only.run(Which::Added)))}
            <button
                class="button primary"
                type="button"
                node_ref=generate
                title=format!("{} Enter", control::command_key(&location::platform()))
                aria-keyshortcuts="Control+Enter Meta+Enter"
                prop:disabled=when(move || to_send() == 0)
                on:click=handler(move |_| press(Which::All))
            >
                <Glyph icon=LuSparkles />
                <span prop:textContent=label></span>
            </button>
            {wait.view()}
            {place::new_batch(composer, is_below)}
            <p class="muted" role="status" prop:textContent=text(move || composer.block_message.get().unwrap_or_else(|| {
                    let table = composer.table.read();
                    match offered() {
                        None if composer.is_held.get() && table.is_all_sent() => {
                            format!("{}.", table.sent_message(true, &composer.queued.read()))
                        }
                        Some(plan) if replaces.get() => panel_items::replacing_message(plan, &table),
                        plan => table.status_message(&composer.schema(), plan, composer.way.get()),
                    }
                }))></p>
            <p class="muted" role="status" hidden=when(move || left_out.read().is_empty()) prop:textContent=left_out></p>
            <p class="muted" hidden=when(move || rest.read().is_empty()) prop:textContent=rest></p>
            {away}
            // Only for screen readers when the rows show the same.
            <div hidden=is_below class:visually-hidden=is_all_sent>
                {composer.answer.view()}
            </div>
        </div>
        {question.view("Generate many", asked, "Not yet", "Send them", "primary", send_all)}
    }
    .into_any()
}

/// The rows that a press sends.
#[derive(Clone, Copy, PartialEq)]
pub enum Which {
    All,
    /// Without rows that were made before.
    New,
    /// Only the rows that were added last.
    Added,
}

/// Shown when rows were added to waiting ones: offers to send only the added rows, and to remove them again.
fn added_rows(composer: Composer, only_added: Callback<()>) -> AnyView {
    let said = memo(move || composer.table.read().addition_message());
    let count = memo(move || {
        let plan = composer.table.read().added_plan(&composer.schema());
        plan.map_or(0, |plan| plan.items)
    });
    view! {
        <div class="made-already" role="status" hidden=when(move || said.read().is_none())>
            <p prop:textContent=text(move || said.get().unwrap_or_default())></p>
            <div class="row tight">
                <button
                    class="button small"
                    type="button"
                    hidden=when(move || count.get() == 0)
                    on:click=handler(move |_| only_added.run(()))
                    prop:textContent=text(move || match count.get() {
                            1 => "Only the added one".to_owned(),
                            n => format!("Only the {n} added"),
                        })></button>
                <button
                    class="button small"
                    type="button"
                    on:click=handler(move |_| composer.keeping().edit_files(Table::undo_addition))
                >
                    "Undo"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Handles Ctrl+Enter and Cmd+Enter anywhere in the form, which press Generate.
pub fn press_by_key(event: &KeyboardEvent, composer: Composer, generate: NodeRef<Button>) {
    if event.key() != "Enter" || !(event.ctrl_key() || event.meta_key()) {
        return;
    }
    event.prevent_default();
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    // A dialog handles its own keys.
    let is_asked =
        target.is_some_and(|it| it.closest("dialog").is_ok_and(|dialog| dialog.is_some()));
    if is_asked || event.repeat() {
        return;
    }
    // Nothing is left to send, and the button ignores a second press.
    if untrack(|| composer.just_pressed.is_pressed() && composer.table.read().is_all_sent()) {
        return composer.answer.say("Sent once.".to_owned());
    }
    if let Some(button) = generate.get_untracked() {
        button.click();
    }
}

/// The reason why nothing was sent.
fn refusal() -> AnyView {
    let why = match untrack(|| contexts().runner.is_superseded()) {
        true => view! { {SUPERSEDED_REFUSAL} " The table stays." }.into_any(),
        false => no_account("The table stays."),
    };
    not_sent(why)
}

/// The rows that can't be sent, with their problems.
fn problems(composer: Composer, count: usize) -> AnyView {
    if count == 0 {
        return ().into_any();
    }
    let rows = memo(move || composer.table.read().bad_rows(MAX_PROBLEMS));
    let lines = dynamic(move || {
        let lines = rows.get().into_iter().map(|row| {
            let message = row.message.clone();
            let show = move |_| composer.row_to_fix.set(Some(row.clone()));
            view! {
                <li>
                    <button class="show-row" type="button" title="Show the row" on:click=handler(show)>
                        {message}
                    </button>
                </li>
            }
            .into_any()
        });
        lines.collect_view().into_any()
    });
    let rest = memo(move || {
        let named: usize = rows.read().iter().map(|row| row.count).sum();
        count.saturating_sub(named)
    });
    view! {
        <div class="summary" role="status">
            <p>
                <strong>
                    {format!(
                        "Fix {} before sending {}.",
                        counted(count, "row"),
                        agreeing(count, "it", "them"),
                    )}
                </strong>
            </p>
            <ul>{lines}</ul>
            <p hidden=when(move || rest.get() == 0) prop:textContent=text(move || format!("and {} more.", rest.get()))></p>
        </div>
    }
    .into_any()
}
