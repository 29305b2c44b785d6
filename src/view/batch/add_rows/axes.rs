use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::{Draft, Kind, Schema};
use atelier_studio::compose::panel_items::{self, PanelItems};
use atelier_studio::compose::panel_state::PanelSweep;
use atelier_studio::compose::sweep::{self, Axis, Combine, WrittenSweep};
use atelier_studio::compose::table::{Placement, Table};
use leptos::prelude::*;

use super::axis::Written;
use super::held_seed::HeldSeed;
use crate::reactive::boxed::{effect, follow_memo, memo, when};
use crate::view::batch::composer::Composer;
use crate::view::batch::removed_rows::focus_on_items;
use crate::view::parts::focus;

/// A sweep as a person writes it, on its way into the table.
#[derive(Clone, Copy)]
pub struct Axes {
    composer: Composer,
    pub written: RwSignal<Vec<Written>>,
    /// Every combination; else the first values of all axes, then the second ones, and so on.
    pub is_product: RwSignal<bool>,
    held: StoredValue<Option<HeldSeed>>,
    /// What the items of a batch that is edited again have in addition to the axes: the form for one may have something
    /// else.
    pub own_base: RwSignal<Option<Draft>>,
    /// The seed is an axis itself.
    pub is_swept: Signal<bool>,
    /// It was to be added, and the table has some of it already.
    pub doubled: RwSignal<Option<Doubled>>,
    /// All of it waits in the table, as it was added.
    pub is_added: RwSignal<bool>,
    /// The rows that it has put into the table, if they were all that waited there.
    before: StoredValue<Option<Vec<Draft>>>,
    /// As it was when all of it was sent.
    sent: RwSignal<Option<PanelSweep>>,
}

/// A sweep of which the table has some already.
#[derive(Clone)]
pub struct Doubled {
    pub all: usize,
    pub new: Vec<Draft>,
}

impl Axes {
    /// Begins as a sweep that was sent before, else with one axis, of a parameter that is no text if there is one.
    /// It lives as long as the present owner.
    pub fn new(composer: Composer, begun: Option<WrittenSweep>) -> Self {
        let schema = composer.schema();
        let first = schema
            .parameters()
            .find(|(parameter, _)| parameter.kind() != Kind::Text)
            .or(schema.parameters().next())
            .map_or_else(String::new, |(parameter, _)| parameter.name.clone());
        let written = RwSignal::new(vec![Written {
            id: 0,
            parameter: first,
            values: String::new(),
        }]);
        let is_product = RwSignal::new(true);
        let held = HeldSeed::of(&schema, &composer.one.get_untracked());
        let own_base = RwSignal::new(None);
        let has_begun = begun.is_some();
        if let Some(begun) = begun {
            let axes = begun.axes.into_iter().enumerate();
            let axes = axes.map(|(id, (parameter, values))| Written {
                id,
                parameter,
                values,
            });
            written.set(axes.collect());
            is_product.set(begun.combine == Combine::Product);
            if let Some(held) = &held {
                held.set(begun.seed);
            }
            own_base.set(Some(begun.base));
        }
        let is_swept = {
            let name = held.as_ref().map(|held| held.name().to_owned());
            when(move || {
                let written = written.read();
                written
                    .iter()
                    .any(|axis| Some(&axis.parameter) == name.as_ref())
            })
        };
        let doubled = RwSignal::new(None);
        let is_added = RwSignal::new(false);
        // What was sent is answered by another sentence.
        let count_sent = memo(move || composer.table.read().sent());
        let seed = held.clone();
        let this = Self {
            composer,
            written,
            is_product,
            held: StoredValue::new(held),
            own_base,
            is_swept,
            doubled,
            is_added,
            before: StoredValue::new(None),
            sent: RwSignal::new(None),
        };
        // All of a batch that is edited again waits in the table already.
        let is_there = StoredValue::new(has_begun);
        let known = composer.fresh_seeds.get_untracked();
        effect(move || {
            let fresh = composer.fresh_seeds.get();
            if fresh != known {
                is_there.set_value(is_added.get_untracked());
                untrack(|| this.renew_seeds(&fresh));
            }
        });
        effect(move || {
            if let Some(seed) = &seed {
                seed.track();
            }
            written.track();
            is_product.track();
            own_base.track();
            follow_memo(count_sent);
            doubled.set(None);
            let waits = composer.table.with_untracked(|table| table.unsent() > 0);
            let was_there = is_there.get_value() && waits;
            is_added.set(was_there);
            is_there.set_value(false);
            untrack(|| this.note(was_there));
        });
        let waits = memo(move || composer.table.read().unsent() > 0);
        effect(move || {
            if !waits.get() {
                is_added.set(false);
            }
        });
        this
    }

    /// Notes which of the rows in the table are its own, and whether all of it was sent. `was_there`: it is that of a
    /// batch that is edited again, whose rows may be written in another way.
    fn note(self, was_there: bool) {
        let rows = self.rows();
        let table = self.composer.table.read();
        let is_there = table.is_waiting_for(&rows) || was_there && table.unsent() == rows.len();
        if is_there && !rows.is_empty() {
            self.before.set_value(Some(table.waiting()));
        }
        // Put back and taken out of the table it was sent all the same.
        if table.sent() >= rows.len() && table.has_sent(&rows) {
            self.sent.set(Some(self.as_sent()));
        }
    }

    /// Goes along with rows that have other seeds now.
    fn renew_seeds(self, fresh: &HashMap<String, String>) {
        let Some(held) = self.held() else {
            return;
        };
        if let Some(new) = fresh.get(held.text().trim()) {
            held.set(new.clone());
        }
        let schema = self.schema();
        self.written.update(|written| {
            let seeds = written.iter_mut();
            for axis in seeds.filter(|axis| axis.parameter == held.name()) {
                axis.exchange(fresh, &schema);
            }
        });
    }

    /// As it was left.
    pub fn with(self, left: PanelSweep) -> Self {
        let axes = left.axes.iter().cloned().enumerate();
        let axes = axes.map(|(id, (parameter, values))| Written {
            id,
            parameter,
            values,
        });
        self.written.set(axes.collect());
        self.is_product.set(!left.is_paired);
        self.own_base.set(left.base.clone());
        if let Some((held, seed)) = self.held().zip(left.seed.clone()) {
            held.set(seed);
        }
        self.sent.set(left.sent_with.is_some().then_some(left));
        self
    }

    /// As it stands, for [`Self::with`]; tracked.
    pub fn unfinished(self) -> PanelSweep {
        let is_sent = self.is_sent();
        let all = self.as_sent();
        PanelSweep {
            sent_with: all.sent_with.filter(|_| is_sent),
            ..all
        }
    }

    /// The same as if all of it had been sent as it stands; tracked.
    fn as_sent(self) -> PanelSweep {
        let axes = self.written.get().into_iter();
        PanelSweep {
            axes: axes.map(|axis| (axis.parameter, axis.values)).collect(),
            is_paired: !self.is_product.get(),
            seed: self.held().map(|held| held.text()),
            base: self.own_base.get(),
            sent_with: Some(self.beside_axes()),
        }
    }

    /// What the items have that is no axis; tracked.
    fn beside_axes(self) -> Draft {
        let mut base = self.base();
        for axis in self.written.read().iter() {
            base.reset(&axis.parameter);
        }
        base
    }

    /// All of it was sent as it stands: it is not sent once more before a person asks for that. Tracked.
    pub fn is_sent(self) -> bool {
        self.sent.read().as_ref() == Some(&self.as_sent())
    }

    pub fn schema(self) -> Arc<Schema> {
        self.composer.schema()
    }

    /// The seed that all items share; none where the model has no seed.
    pub fn held(self) -> Option<HeldSeed> {
        self.held.get_value()
    }

    fn combine(self) -> Combine {
        Combine::of(self.is_product.get())
    }

    /// How many items it gives, or why it gives none.
    pub fn planned(self) -> Memo<Result<usize, String>> {
        memo(move || {
            // What is wrong with an axis stands at the axis.
            let axes = self.read().unwrap_or_default();
            sweep::count(&axes, self.combine())
        })
    }

    /// Tracked.
    fn read(self) -> Result<Vec<Axis>, String> {
        let schema = self.schema();
        let (written, combine) = (self.written.read(), self.combine());
        let read = |axis: &Written| Ok(axis.read(&schema)?.merged(combine));
        written.iter().map(read).collect()
    }

    /// What the items take over, but for what they set themselves; tracked.
    pub fn base_of_all(self) -> Draft {
        self.own_base
            .get()
            .unwrap_or_else(|| self.composer.one.get())
    }

    /// What all items have in addition to the axes; tracked.
    fn base(self) -> Draft {
        let mut base = self.base_of_all();
        if let (Some(held), false) = (self.held(), self.is_swept.get()) {
            held.put_into(&mut base);
        }
        base
    }

    /// Its items; none where an axis can't be read. Tracked.
    pub fn rows(self) -> Vec<Draft> {
        let axes = self.read();
        let rows = axes.and_then(|axes| sweep::rows(&self.base(), &axes, self.combine()));
        rows.unwrap_or_default()
    }

    /// What Generate does with it; tracked.
    pub fn beside(self) -> PanelItems {
        if self.is_added.get() || self.is_sent() {
            return PanelItems::InTable;
        }
        let before = self.before.get_value();
        PanelItems::of(&self.rows(), before.as_deref(), &self.composer.table.read())
    }

    /// What it needs from the form and does not find there; tracked.
    pub fn missing(self) -> Vec<String> {
        let axes = self.read().unwrap_or_default();
        panel_items::missing(&self.base(), &axes, &self.schema())
    }

    /// Puts its items into the table.
    pub fn add(self, place: Placement) {
        self.doubled.set(None);
        let base = untrack(|| self.base());
        let is_done = self.composer.change(|table, schema| {
            let (axes, combine) = untrack(|| (self.read(), self.combine()));
            table.put_sweep(place, &base, &axes?, combine, schema)
        });
        focus::once_lost(focus_on_items);
        self.is_added.set(is_done);
        untrack(|| self.note(false));
    }

    /// What the table has already is not added once more in silence: each item may cost money.
    pub fn try_add(self) {
        let rows = untrack(|| self.rows());
        let table = self.composer.table;
        match table.with_untracked(|table| table.unknown(&rows)) {
            new if new.len() == rows.len() => self.add(Placement::Append),
            new => self.doubled.set(Some(Doubled {
                all: rows.len(),
                new,
            })),
        }
    }

    /// Adds those that the table does not have yet.
    pub fn add_new(self, new: &[Draft]) {
        self.doubled.set(None);
        let add = |table: &mut Table, schema: &Schema| table.append(new.to_vec(), schema);
        self.is_added.set(self.composer.change(add));
        untrack(|| self.note(false));
        focus::once_lost(focus_on_items);
    }

    /// That it was sent, where the table does not say so any more; tracked.
    pub fn sent_message(self) -> Option<String> {
        let said =
            "This sweep has been sent. Change a value, or add it to the table to send it again.";
        let is_said = self.composer.table.read().has_rows();
        (!is_said).then(|| said.to_owned())
    }

    /// Those of its items that the table does not have; tracked.
    pub fn new_rows(self) -> Vec<Draft> {
        self.composer.table.read().unknown(&self.rows())
    }

    /// What keeps the axes from giving any items; none while rows in the table can be sent.
    /// Tracked.
    pub fn no_items_message(self) -> Option<String> {
        let schema = self.schema();
        let written = self.written.read();
        let wrong = written.iter().find_map(|axis| {
            let sentence = axis.read(&schema).err()?;
            match sentence.starts_with(&axis.parameter) {
                true => Some(sentence),
                false => Some(format!("{}: {sentence}", axis.parameter)),
            }
        });
        let waits = self.composer.table.read().unsent() > 0;
        let wrong = wrong.or_else(|| self.planned().get().err());
        if let (Some(sentence), false) = (wrong, waits) {
            return Some(sentence);
        }
        let empty = written.iter().find(|axis| axis.values.trim().is_empty())?;
        (!waits).then(|| panel_items::empty_axis_message(&empty.parameter))
    }

    /// The seed as an axis, in the place of axes that have no values yet.
    pub fn vary(self, seed: &HeldSeed) {
        self.written
            .update(|written| written.retain(|axis| !axis.values.trim().is_empty()));
        self.push(seed.name().to_owned(), seed.several());
    }

    /// One more axis, of a parameter that is none yet.
    pub fn push_free(self) {
        let schema = self.schema();
        let written = self.written.read_untracked();
        let is_free = |name: &str| written.iter().all(|axis| axis.parameter != name);
        let free = schema
            .parameters()
            .find(|(parameter, _)| is_free(&parameter.name));
        let parameter = free.map_or_else(String::new, |(free, _)| free.name.clone());
        drop(written);
        self.push(parameter, String::new());
    }

    fn push(self, parameter: String, values: String) {
        self.written.update(|written| {
            let id = written.last().map_or(0, |axis| axis.id + 1);
            written.push(Written {
                id,
                parameter,
                values,
            });
        });
    }
}
