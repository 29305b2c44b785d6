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
use atelier_studio::history::manifest::Manifest;
use atelier_studio::text::plural::counted;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::way_back::WayBack;
use crate::reactive::boxed::{effect, memo, when};
use crate::state::contexts::contexts;
use crate::state::tables::KeptTable;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::status_note::StatusNote;

/// With more rows than this, what follows the table as a whole does so between key presses; but at once where rows
/// count as sent that did not: what is typed next must not take them for rows to be sent.
const MAX_SYNC_ROWS: usize = 50;
const FOLLOWED_AFTER_MS: u32 = 300;

/// Items that are composed and not yet in the table.
#[derive(Clone)]
pub struct Offer {
    pub items: Arc<Vec<Draft>>,
    pub plan: Plan,
    /// What a person brought and is in none of them.
    pub left_out: String,
    /// They take the place of the rows that wait.
    pub replaces: bool,
    /// Puts them there, or asks why it should.
    pub add: Callback<()>,
}

impl Offer {
    /// Nothing was left out.
    pub fn all(items: Vec<Draft>, schema: &Schema, add: Callback<()>) -> Self {
        Self {
            plan: Plan::of(items.iter(), schema),
            items: Arc::new(items),
            left_out: String::new(),
            replaces: false,
            add,
        }
    }

    /// They are what the rows that wait were before.
    pub fn instead(items: Vec<Draft>, schema: &Schema, add: Callback<()>) -> Self {
        Self {
            replaces: true,
            ..Self::all(items, schema, add)
        }
    }
}

/// What a batch is composed of.
#[derive(Clone, Copy)]
pub struct Composer {
    schema: StoredValue<Arc<Schema>>,
    kept: StoredValue<&'static KeptTable, LocalStorage>,
    /// Changed through [`Composer::edit`] alone, so that every change is kept.
    pub table: Signal<Table>,
    /// How the table is being filled.
    pub way: RwSignal<FillMethod>,
    /// The sweep of a batch that is edited again, for the panel to begin with.
    pub begun: RwSignal<Option<WrittenSweep>>,
    /// How often a new batch was begun: nothing of the last one stands in the panels then.
    pub begun_anew: RwSignal<usize>,
    /// What stands in the form for one.
    pub one: RwSignal<Draft>,
    /// Why the last addition was refused.
    pub refused: RwSignal<Option<String>>,
    /// What is composed in the panel in view and not in the table yet: Generate puts it there and sends it with the rest.
    pub offered: RwSignal<Option<Offer>>,
    /// Why nothing is sent before it is clear what becomes of what the panel in view has composed.
    pub held_up: RwSignal<Option<String>>,
    /// All that is composed in the panel in view stands in the table.
    pub is_panel_added: RwSignal<bool>,
    /// What stands in the panels, for the way back from what takes its place.
    pub written: RwSignal<PanelState>,
    /// What the panels begin with, when they do so the next time.
    pub left: StoredValue<PanelState>,
    pub way_back: WayBack,
    /// Other seeds in the place of those that are used, for the panel in view to go along.
    pub fresh_seeds: RwSignal<HashMap<String, String>>,
    /// What was sent waits, for it can't be kept.
    pub is_held: Signal<bool>,
    /// The places in batches of this model whose tasks were not handed to the service.
    pub queued: Memo<QueuedPlaces>,
    /// The batch that was sent last, until it has come into view.
    pub unseen: RwSignal<Option<BatchKey>>,
    /// A manifest that is only looked at.
    pub looked_at: RwSignal<Option<Manifest>>,
    /// A person wants to have it in sight, or has something to send.
    pub is_wanted: RwSignal<bool>,
    /// A row that needs a look, to be shown with the focus in it.
    pub shown_bad: RwSignal<Option<BadRow>>,
    /// What is said to a press of Generate.
    pub answer: StatusNote,
    /// Over what was sent or removed just now: the second half of a double click may meet anything.
    pub just_pressed: DoubleClickGuard,
}

impl Composer {
    /// With the table as it was left, once that has been read.
    pub fn kept(model: &ModelId, schema: Arc<Schema>, one: RwSignal<Draft>) -> Self {
        let kept = KeptTable::of(model, &schema);
        let table = kept.table();
        let begun = kept.take_next_sweep();
        let way = match begun {
            Some(_) => FillMethod::Sweep,
            None => FillMethod::available(&schema)[0],
        };
        let runner = contexts().runner;
        let has_unsent = table.with_untracked(|table| table.unsent() > 0);
        let this = Self {
            way: RwSignal::new(way),
            schema: StoredValue::new(schema),
            kept: StoredValue::new_local(kept),
            table: RwSignal::from(table).into(),
            begun: RwSignal::new(begun),
            begun_anew: RwSignal::new(0),
            one,
            refused: RwSignal::new(None),
            offered: RwSignal::new(None),
            held_up: RwSignal::new(None),
            is_panel_added: RwSignal::new(false),
            written: RwSignal::new(PanelState::default()),
            left: StoredValue::new(PanelState::default()),
            way_back: WayBack::default(),
            fresh_seeds: RwSignal::new(HashMap::new()),
            queued: queued_places(model.clone()),
            is_held: when(move || runner.block_reason() == Some(BlockReason::StorageError)),
            unseen: RwSignal::new(None),
            looked_at: RwSignal::new(None),
            is_wanted: RwSignal::new(has_unsent),
            shown_bad: RwSignal::new(None),
            answer: StatusNote::default(),
            just_pressed: DoubleClickGuard::default(),
        };
        on_cleanup(move || this.keep_now());
        kept.settle_interrupted(contexts());
        this
    }

    pub fn keeping(self) -> &'static KeptTable {
        self.kept.get_value()
    }

    /// Without waiting for further changes.
    pub fn keep_now(self) {
        if let Some(kept) = self.kept.try_get_value() {
            kept.write_soon();
        }
    }

    /// Acts on every change of the table, and now.
    pub fn follow(self, act: Rc<dyn Fn()>) {
        self.follow_with(|| 0, act);
    }

    /// The same on every change of what `track` reads, which are so many more rows.
    pub fn follow_with(self, track: impl Fn() -> usize + 'static, act: Rc<dyn Fn()>) {
        let waiting = StoredValue::new_local(None::<Timeout>);
        let sent = StoredValue::new(0);
        effect(move || {
            let act = act.clone();
            let (rows, now_sent) = self.table.with(|table| (table.rows().len(), table.sent()));
            let rows = rows + track();
            let is_other = sent.get_value() != now_sent;
            sent.set_value(now_sent);
            if rows <= MAX_SYNC_ROWS || is_other {
                waiting.set_value(None);
                act();
            } else {
                let wait = Timeout::new(FOLLOWED_AFTER_MS, move || act());
                waiting.set_value(Some(wait));
            }
        });
    }

    /// `None` once its view is gone.
    pub fn try_schema(self) -> Option<Arc<Schema>> {
        self.schema.try_get_value()
    }

    pub fn schema(self) -> Arc<Schema> {
        self.schema.get_value()
    }

    /// Changes the table, or says why not.
    pub fn change(self, change: impl FnOnce(&mut Table, &Schema) -> Result<(), String>) -> bool {
        let schema = self.schema();
        let result = self.edit(|table| change(table, &schema));
        let is_done = result.is_ok();
        self.refused.set(result.err());
        is_done
    }

    /// Whether nothing stands in it that is yet to be sent or understood; not tracked.
    pub fn is_at_rest(self) -> bool {
        untrack(|| {
            self.table.read().unsent() == 0
                && self.offered.read().is_none()
                // That it was sent is no reason to keep it.
                && (self.held_up.read().is_none() || self.is_panel_added.get())
                && self.refused.read().is_none()
        })
    }

    /// Another batch begins: nothing of the last one stands in the panels, and rows that were left are put aside.
    pub fn begin_anew(self) {
        if self.table.with_untracked(Table::has_left_rows) {
            self.edit(|table| table.put_aside(|_| true));
        }
        let (before, way) = (self.written.get_untracked(), self.way.get_untracked());
        let columns = self.edit(Table::reset_columns);
        self.refused.set(None);
        self.begin_with(PanelState::default());
        if before.has_content() {
            let lasts = before.has_unsent();
            let back = Callback::new(move |()| {
                self.edit(|table| columns.iter().for_each(|name| table.add_column(name)));
                self.way.set(way);
                self.begin_with(before.clone());
            });
            let said = "Emptied for a new batch.";
            match lasts {
                // It was not sent: it is nowhere else.
                true => self.way_back.keep_on_offering(said, back),
                false => self.way_back.offer(said, back),
            }
        }
    }

    /// The panels begin once more, with this.
    pub fn begin_with(self, left: PanelState) {
        self.left.set_value(left);
        self.begun_anew.update(|times| *times += 1);
    }

    /// A batch is edited again: its sweep takes the place of what stands in the panel.
    pub fn edit_sweep(self, sweep: WrittenSweep) {
        let (before, way) = (self.written.get_untracked(), self.way.get_untracked());
        self.begun.set(Some(sweep));
        self.way.set(FillMethod::Sweep);
        self.offer_sweep_back(before, way);
    }

    /// With it go the rows that came with what took its place.
    pub fn offer_sweep_back(self, before: PanelState, way: FillMethod) {
        if before.sweep.is_none() {
            return;
        }
        let back = Callback::new(move |()| {
            self.edit(Table::undo_addition);
            self.way.set(way);
            self.begin_with(before.clone());
        });
        self.way_back
            .offer("Replaced the sweep that was here.", back);
    }

    /// All that was sent is to be sent once more.
    pub fn put_all_back(self) {
        let before = self.edit(Table::put_all_back);
        let said = format!("Put {} back.", counted(before.len(), "row"));
        let back = Callback::new(move |()| self.edit(|table| table.undo_put_back(before.clone())));
        self.way_back.offer(&said, back);
    }

    /// What Generate sends; tracked.
    pub fn to_send(self) -> ToSend {
        if self.held_up.read().is_some() {
            return ToSend::default();
        }
        let (table, offered) = (self.table.read(), self.offered.read());
        match &*offered {
            Some(offer) => table.with_offered(&offer.items, offer.replaces),
            None => table.with_offered(&[], false),
        }
    }

    /// Changes the table in a way that cannot be refused.
    pub fn edit<T>(self, change: impl FnOnce(&mut Table) -> T) -> T {
        self.keeping().edit(change)
    }
}

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
