use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema};
use atelier_engine::BatchKey;
use atelier_engine::compose::table::Table;
use atelier_engine::compose::way::Way;
use atelier_engine::manifest::Manifest;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::boxed::effect;
use crate::contexts::contexts;
use crate::tables::KeptTable;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::status_note::StatusNote;

/// With more rows than this, what follows the table as a whole does so between key presses; but at once where rows
/// count as sent that did not: what is typed next must not take them for rows to be sent.
const MAX_SYNC_ROWS: usize = 50;
const FOLLOWED_AFTER_MS: u32 = 300;

/// Items that are composed and not yet in the table.
#[derive(Clone, Copy)]
pub struct Offer {
    pub items: usize,
    /// Puts them there, or asks why it should.
    pub add: Callback<()>,
}

/// What a batch is composed of.
#[derive(Clone, Copy)]
pub struct Composer {
    schema: StoredValue<Arc<Schema>>,
    kept: StoredValue<&'static KeptTable, LocalStorage>,
    /// Changed through [`Composer::edit`] alone, so that every change is kept.
    pub table: Signal<Table>,
    /// How the table is being filled.
    pub way: RwSignal<Way>,
    /// What stands in the form for one.
    pub one: RwSignal<Draft>,
    /// Why the last addition was refused.
    pub refused: RwSignal<Option<String>>,
    /// What can be sent without being put into the table first: what would be all that is sent, so that nobody pays
    /// for anything else.
    pub offered: RwSignal<Option<Offer>>,
    /// The batch that was sent last, until it has come into view.
    pub unseen: RwSignal<Option<BatchKey>>,
    /// A manifest that is only looked at.
    pub looked_at: RwSignal<Option<Manifest>>,
    /// A person wants to have it in sight, or has something to send.
    pub is_wanted: RwSignal<bool>,
    /// What is said to a press of Generate.
    pub answer: StatusNote,
    /// Over what was sent just now: the second half of a double click may meet anything.
    pub just_sent: DoubleClickGuard,
}

impl Composer {
    /// With the table as it was left, once that has been read.
    pub fn kept(model: &ModelId, schema: Arc<Schema>, one: RwSignal<Draft>) -> Self {
        let kept = KeptTable::of(model, &schema);
        let table = kept.table();
        let way = Way::of(&schema)[0];
        let has_unsent = table.with_untracked(|table| table.unsent() > 0);
        let this = Self {
            way: RwSignal::new(way),
            schema: StoredValue::new(schema),
            kept: StoredValue::new_local(kept),
            table: RwSignal::from(table).into(),
            one,
            refused: RwSignal::new(None),
            offered: RwSignal::new(None),
            unseen: RwSignal::new(None),
            looked_at: RwSignal::new(None),
            is_wanted: RwSignal::new(has_unsent),
            answer: StatusNote::default(),
            just_sent: DoubleClickGuard::default(),
        };
        on_cleanup(move || this.keep_now());
        kept.settle_what_was_left(contexts());
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
        let waiting = StoredValue::new_local(None::<Timeout>);
        let sent = StoredValue::new(0);
        effect(move || {
            let act = act.clone();
            let (rows, now_sent) = self.table.with(|table| (table.rows().len(), table.sent()));
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

    /// Changes the table in a way that cannot be refused.
    pub fn edit<T>(self, change: impl FnOnce(&mut Table) -> T) -> T {
        self.keeping().edit(change)
    }
}
