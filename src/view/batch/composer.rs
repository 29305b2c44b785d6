use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema};
use atelier_engine::{BatchKey, BlockReason};
use atelier_studio::compose::fill_method::FillMethod;
use atelier_studio::compose::panel_state::PanelState;
use atelier_studio::compose::plan::Plan;
use atelier_studio::compose::sweep::WrittenSweep;
use atelier_studio::compose::table::{BadRow, QueuedPlaces, Table, ToSend};
use atelier_studio::form::upload::pending::RESTORING;
use atelier_studio::history::manifest::Manifest;
use atelier_studio::text::plural::counted;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::dropped_files::DroppedFiles;
use super::undo_offer::UndoOffer;
use crate::reactive::boxed::{effect, memo, when};
use crate::state::contexts::{Contexts, contexts};
use crate::state::tables::ModelTable;
use crate::state::uploads;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::status_note::StatusNote;

/// With more rows than this, code that depends on the whole table is debounced. It still runs immediately after rows were
/// sent, so that the next input does not treat them as unsent.
const MAX_SYNC_ROWS: usize = 50;
const DEBOUNCE_MS: u32 = 300;

/// Items of the current panel that are not in the table yet.
#[derive(Clone)]
pub struct Offer {
    pub items: Arc<Vec<Draft>>,
    pub plan: Plan,
    /// A message about imported columns that are in none of the items.
    pub left_out: String,
    /// Whether the items replace the waiting rows.
    pub replaces: bool,
    /// Adds the items to the table, or asks first.
    pub add: Callback<()>,
}

impl Offer {
    /// Items that are added to the waiting rows.
    pub fn all(items: Vec<Draft>, schema: &Schema, add: Callback<()>) -> Self {
        Self {
            plan: Plan::of(items.iter(), schema),
            items: Arc::new(items),
            left_out: String::new(),
            replaces: false,
            add,
        }
    }

    /// Items that replace the waiting rows.
    pub fn replacing(items: Vec<Draft>, schema: &Schema, add: Callback<()>) -> Self {
        Self {
            replaces: true,
            ..Self::all(items, schema, add)
        }
    }
}

/// The state of the batch form: the table, the panels that fill it, and what was sent from it.
#[derive(Clone, Copy)]
pub struct Composer {
    schema: StoredValue<Arc<Schema>>,
    stored_table: StoredValue<&'static ModelTable, LocalStorage>,
    /// Changed only through [`Composer::edit`], so that every change is stored.
    pub table: Signal<Table>,
    /// The chosen fill method.
    pub way: RwSignal<FillMethod>,
    /// The sweep of a batch that is edited again, until the panel has loaded it.
    pub edited_sweep: RwSignal<Option<WrittenSweep>>,
    /// The number of times that the panels were rebuilt. Each change rebuilds them with the content of `next_panel_state`.
    pub panel_builds: RwSignal<usize>,
    /// Also for handlers without an owner, such as those after a wait.
    pub all: StoredValue<Contexts>,
    /// The draft in the single form.
    pub single_form: RwSignal<Draft>,
    /// The message if the last addition failed.
    pub refused: RwSignal<Option<String>>,
    /// The items of the current panel that are not in the table yet. Generate adds and sends them.
    pub offered: RwSignal<Option<Offer>>,
    /// Why Generate is disabled: the user must first decide about the items of the current panel.
    pub block_message: RwSignal<Option<String>>,
    /// Whether the table has all items of the current panel.
    pub is_panel_added: RwSignal<bool>,
    /// The current content of the panels, so that replacing it can be undone.
    pub panel_state: RwSignal<PanelState>,
    /// The content for the next rebuild of the panels.
    pub next_panel_state: StoredValue<PanelState>,
    /// The offer to undo the last replacement of the content of the panels.
    pub undo_offer: UndoOffer,
    /// Renewed seeds, by old seed, for the current panel to replace.
    pub fresh_seeds: RwSignal<HashMap<String, String>>,
    /// Whether sent tasks are blocked because they can't be stored.
    pub is_held: Signal<bool>,
    /// The places in batches of this model whose tasks were not submitted to the service yet.
    pub queued: Memo<QueuedPlaces>,
    /// The batch that was sent last, until it was scrolled into view.
    pub unseen: RwSignal<Option<BatchKey>>,
    /// A manifest that is displayed without being imported.
    pub looked_at: RwSignal<Option<Manifest>>,
    /// Whether the form is shown above the batch: the user opened it, or there is something to send.
    pub is_opened: RwSignal<bool>,
    /// A row with a problem that is to be scrolled to and focused.
    pub row_to_fix: RwSignal<Option<BadRow>>,
    /// The message after Generate was pressed.
    pub answer: StatusNote,
    /// Ignores the second click of a double click, which could hit a control that has just moved there.
    pub just_pressed: DoubleClickGuard,
    /// The files that were dropped or chosen last.
    pub files: DroppedFiles,
}

impl Composer {
    /// Creates the state with the stored table, which must have been read.
    pub fn restore(model: &ModelId, schema: Arc<Schema>, single_form: RwSignal<Draft>) -> Self {
        let stored_table = ModelTable::of(model, &schema);
        let table = stored_table.table();
        let edited_sweep = stored_table.take_next_sweep();
        let method = match edited_sweep {
            Some(_) => FillMethod::Sweep,
            None => FillMethod::available(&schema)[0],
        };
        let all = contexts();
        let runner = all.runner;
        let has_unsent = table.with_untracked(|table| table.unsent() > 0);
        let this = Self {
            way: RwSignal::new(method),
            schema: StoredValue::new(schema),
            stored_table: StoredValue::new_local(stored_table),
            table: RwSignal::from(table).into(),
            edited_sweep: RwSignal::new(edited_sweep),
            panel_builds: RwSignal::new(0),
            all: StoredValue::new(all),
            single_form,
            refused: RwSignal::new(None),
            offered: RwSignal::new(None),
            block_message: RwSignal::new(None),
            is_panel_added: RwSignal::new(false),
            panel_state: RwSignal::new(PanelState::default()),
            next_panel_state: StoredValue::new(PanelState::default()),
            undo_offer: UndoOffer::default(),
            fresh_seeds: RwSignal::new(HashMap::new()),
            queued: queued_places(model.clone()),
            is_held: when(move || runner.block_reason() == Some(BlockReason::StorageError)),
            unseen: RwSignal::new(None),
            looked_at: RwSignal::new(None),
            is_opened: RwSignal::new(has_unsent),
            row_to_fix: RwSignal::new(None),
            answer: StatusNote::default(),
            just_pressed: DoubleClickGuard::default(),
            files: DroppedFiles::default(),
        };
        on_cleanup(move || this.store_now());
        stored_table.settle_interrupted(contexts());
        stored_table.follow_files(contexts());
        this.follow_form();
        this
    }

    /// Returns the stored table.
    pub fn keeping(self) -> &'static ModelTable {
        self.stored_table.get_value()
    }

    /// Stores the table without the usual delay.
    pub fn store_now(self) {
        if let Some(stored_table) = self.stored_table.try_get_value() {
            stored_table.write_soon();
        }
    }

    /// Calls `act` now and after every change of the table, see [`MAX_SYNC_ROWS`].
    pub fn on_table_change(self, act: Rc<dyn Fn()>) {
        self.on_changes(|| 0, act);
    }

    /// Like [`Self::on_table_change`], but also after changes of what `track` reads. `track` returns a number of items, which counts
    /// towards [`MAX_SYNC_ROWS`].
    pub fn on_changes(self, track: impl Fn() -> usize + 'static, act: Rc<dyn Fn()>) {
        let waiting = StoredValue::new_local(None::<Timeout>);
        let sent = StoredValue::new(0);
        effect(move || {
            let act = act.clone();
            let (rows, now_sent) = self.table.with(|table| (table.rows().len(), table.sent()));
            let rows = rows + track();
            let has_sent_rows = sent.get_value() != now_sent;
            sent.set_value(now_sent);
            if rows <= MAX_SYNC_ROWS || has_sent_rows {
                waiting.set_value(None);
                act();
            } else {
                let wait = Timeout::new(DEBOUNCE_MS, move || act());
                waiting.set_value(Some(wait));
            }
        });
    }

    /// Returns the schema; `None` once the view is disposed.
    pub fn try_schema(self) -> Option<Arc<Schema>> {
        self.schema.try_get_value()
    }

    pub fn schema(self) -> Arc<Schema> {
        self.schema.get_value()
    }

    /// Changes the table. If `change` fails, shows the message and returns false.
    pub fn change(self, change: impl FnOnce(&mut Table, &Schema) -> Result<(), String>) -> bool {
        let schema = self.schema();
        let result = self.edit(|table| change(table, &schema));
        let is_done = result.is_ok();
        self.refused.set(result.err());
        is_done
    }

    /// Like [`Composer::change`], for new rows that are copies of the single form. Refuses while files of the form are being
    /// uploaded, which the rows would lack.
    pub fn change_with_form(
        self,
        change: impl FnOnce(&mut Table, &Draft, &Schema) -> Result<(), String>,
    ) -> bool {
        if let Some(refusal) = self.unfinished_form() {
            self.refused.set(Some(refusal));
            return false;
        }
        let form = self.single_form.get_untracked();
        self.change(|table, schema| change(table, &form, schema))
    }

    /// Returns why no copies can be made of the single form at present; not tracked.
    pub fn unfinished_form(self) -> Option<String> {
        untrack(|| self.form_refusal())
    }

    /// Returns why no copies can be made of the single form at present; tracked.
    fn form_refusal(self) -> Option<String> {
        if uploads::is_restoring() {
            return Some(RESTORING.to_owned());
        }
        uploads::refusal_of_batch(self.all.get_value(), &self.schema().model)
    }

    /// Withdraws the messages about the files of the single form when its uploads have changed.
    fn follow_form(self) {
        let refusal = memo(move || self.form_refusal());
        let mut before = refusal.get_untracked();
        effect(move || {
            let now = refusal.get();
            if let Some(earlier) = std::mem::replace(&mut before, now) {
                if self.refused.read_untracked().as_ref() == Some(&earlier) {
                    self.refused.set(None);
                }
                self.files.withdraw(&earlier);
            }
        });
    }

    /// Whether nothing is left to send and no message needs an answer; not tracked.
    pub fn is_idle(self) -> bool {
        untrack(|| {
            self.table.read().unsent() == 0
                && self.offered.read().is_none()
                // Items that are already in the table need no answer.
                && (self.block_message.read().is_none() || self.is_panel_added.get())
                && self.refused.read().is_none()
        })
    }

    /// Starts a new batch: empties the panels and puts aside the rows that could not be sent.
    pub fn start_new_batch(self) {
        if self.table.with_untracked(Table::has_only_invalid_rows_left) {
            self.edit(|table| table.put_aside(|_| true));
        }
        let (before, method) = (self.panel_state.get_untracked(), self.way.get_untracked());
        let columns = self.edit(Table::reset_columns);
        self.refused.set(None);
        self.rebuild_panels(PanelState::default());
        if before.has_content() {
            let has_unsent = before.has_unsent();
            let undo = Callback::new(move |()| {
                self.edit(|table| columns.iter().for_each(|name| table.add_column(name)));
                self.way.set(method);
                self.rebuild_panels(before.clone());
            });
            let message = "Cleared for a new batch.";
            match has_unsent {
                // Unsent content exists nowhere else.
                true => self.undo_offer.offer_until_change(message, undo),
                false => self.undo_offer.offer(message, undo),
            }
        }
    }

    /// Rebuilds the panels with this content.
    pub fn rebuild_panels(self, state: PanelState) {
        self.next_panel_state.set_value(state);
        self.panel_builds.update(|times| *times += 1);
    }

    /// Edits the sweep of a batch again: it replaces the content of the sweep panel.
    pub fn edit_sweep(self, sweep: WrittenSweep) {
        let (before, method) = (self.panel_state.get_untracked(), self.way.get_untracked());
        self.edited_sweep.set(Some(sweep));
        self.way.set(FillMethod::Sweep);
        self.offer_sweep_back(before, method);
    }

    /// Offers to restore the sweep that was replaced. This also removes the rows that were added with the new sweep.
    pub fn offer_sweep_back(self, before: PanelState, method: FillMethod) {
        if before.sweep.is_none() {
            return;
        }
        let undo = Callback::new(move |()| {
            self.keeping().edit_files(Table::undo_addition);
            self.way.set(method);
            self.rebuild_panels(before.clone());
        });
        self.undo_offer.offer("Replaced the previous sweep.", undo);
    }

    /// Makes all sent rows waiting again.
    pub fn put_all_back(self) {
        let before = self.edit(Table::put_all_back);
        let message = format!("Put {} back.", counted(before.len(), "row"));
        let undo = Callback::new(move |()| self.edit(|table| table.undo_put_back(before.clone())));
        self.undo_offer.offer(&message, undo);
    }

    /// Returns what Generate sends; tracked.
    pub fn to_send(self) -> ToSend {
        if self.block_message.read().is_some() {
            return ToSend::default();
        }
        let (table, offered) = (self.table.read(), self.offered.read());
        match &*offered {
            Some(offer) => table.with_offered(&offer.items, offer.replaces),
            None => table.with_offered(&[], false),
        }
    }

    /// Changes the table and stores it.
    pub fn edit<T>(self, change: impl FnOnce(&mut Table) -> T) -> T {
        self.keeping().edit(change)
    }
}

/// Returns the places of the tasks of a model that were not submitted yet.
fn queued_places(model: ModelId) -> Memo<QueuedPlaces> {
    let runner = contexts().runner;
    memo(move || {
        runner.track_phases();
        let are_all_known = runner.has_read_stored();
        runner.with_tasks(|tasks| {
            let tasks = tasks.iter().copied().filter(|task| task.model == model);
            QueuedPlaces::of(tasks, are_all_known)
        })
    })
}
