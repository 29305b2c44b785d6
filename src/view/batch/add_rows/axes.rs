use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::{Draft, Kind, Schema};
use atelier_studio::compose::panel_items::{self, PanelItems};
use atelier_studio::compose::panel_state::PanelSweep;
use atelier_studio::compose::sweep::{self, Axis, Combine, WrittenSweep};
use atelier_studio::compose::table::{Placement, Table};
use leptos::prelude::*;

use super::axis::TypedAxis;
use super::axis_files::AxisFiles;
use super::shared_seed::SharedSeed;
use crate::reactive::boxed::{effect, follow_memo, memo, when};
use crate::view::batch::composer::Composer;
use crate::view::batch::removed_rows::focus_on_items;
use crate::view::parts::focus;

/// A sweep as the user types it, before its items are in the table.
#[derive(Clone, Copy)]
pub struct Axes {
    composer: Composer,
    pub written: RwSignal<Vec<TypedAxis>>,
    /// The files that are not among the values yet.
    pub files: AxisFiles,
    /// Whether every combination is an item. If not, values are paired by position.
    pub is_product: RwSignal<bool>,
    shared_seed: StoredValue<Option<SharedSeed>>,
    /// The inputs that all items share, if a batch is edited again. `None` if the items take them from the single form.
    pub own_base: RwSignal<Option<Draft>>,
    /// Whether the seed is one of the axes.
    pub is_swept: Signal<bool>,
    /// The question that is shown because the table already has some of the items.
    pub duplicates: RwSignal<Option<Duplicates>>,
    /// Whether the table contains all items as unsent, unchanged rows.
    pub is_added: RwSignal<bool>,
    /// The rows that this sweep has put into the table, if the table had no other unsent rows.
    before: StoredValue<Option<Vec<Draft>>>,
    /// The content with which all items were sent.
    sent: RwSignal<Option<PanelSweep>>,
}

/// The items of a sweep that is to be added although the table already has some of them.
#[derive(Clone)]
pub struct Duplicates {
    pub all: usize,
    pub new: Vec<Draft>,
}

impl Axes {
    /// Creates the sweep, which lives as long as the current owner. If a batch is edited again, `edited_sweep` is its sweep.
    /// Otherwise there is one axis: the first parameter that is not a text, or the first parameter if all are texts.
    pub fn new(composer: Composer, edited_sweep: Option<WrittenSweep>) -> Self {
        let schema = composer.schema();
        let first = schema
            .parameters()
            .find(|(parameter, _)| parameter.kind() != Kind::Text)
            .or(schema.parameters().next())
            .map_or_else(String::new, |(parameter, _)| parameter.name.clone());
        let written = RwSignal::new(vec![TypedAxis {
            id: 0,
            parameter: first,
            values: String::new(),
        }]);
        let is_product = RwSignal::new(true);
        let shared_seed = SharedSeed::of(&schema, &composer.single_form.get_untracked());
        let own_base = RwSignal::new(None);
        let is_edited_again = edited_sweep.is_some();
        if let Some(edited_sweep) = edited_sweep {
            let axes = edited_sweep.axes.into_iter().enumerate();
            let axes = axes.map(|(id, (parameter, values))| TypedAxis {
                id,
                parameter,
                values,
            });
            written.set(axes.collect());
            is_product.set(edited_sweep.combine == Combine::Product);
            if let Some(seed) = &shared_seed {
                seed.set(edited_sweep.seed);
            }
            own_base.set(Some(edited_sweep.base));
        }
        let is_swept = {
            let name = shared_seed.as_ref().map(|seed| seed.name().to_owned());
            when(move || {
                let written = written.read();
                written
                    .iter()
                    .any(|axis| Some(&axis.parameter) == name.as_ref())
            })
        };
        let duplicates = RwSignal::new(None);
        let is_added = RwSignal::new(false);
        // Tracked below: once rows are sent, the question in `duplicates` is out of date.
        let count_sent = memo(move || composer.table.read().sent());
        let seed = shared_seed.clone();
        let this = Self {
            composer,
            written,
            files: AxisFiles::new(written, composer.keeping()),
            is_product,
            shared_seed: StoredValue::new(shared_seed),
            own_base,
            is_swept,
            duplicates,
            is_added,
            before: StoredValue::new(None),
            sent: RwSignal::new(None),
        };
        // If a batch is edited again, the table already contains all items as unsent rows.
        let is_in_table = StoredValue::new(is_edited_again);
        let known = composer.fresh_seeds.get_untracked();
        effect(move || {
            let fresh = composer.fresh_seeds.get();
            if fresh != known {
                is_in_table.set_value(is_added.get_untracked());
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
            duplicates.set(None);
            let has_waiting = composer.table.with_untracked(|table| table.unsent() > 0);
            let was_in_table = is_in_table.get_value() && has_waiting;
            is_added.set(was_in_table);
            is_in_table.set_value(false);
            untrack(|| this.update_added(was_in_table));
        });
        let has_waiting = memo(move || composer.table.read().unsent() > 0);
        effect(move || {
            if !has_waiting.get() {
                is_added.set(false);
            }
        });
        this
    }

    /// Updates `before` and `sent` from the table. `was_in_table`: the items were in the table before this change, possibly
    /// with differently written values.
    fn update_added(self, was_in_table: bool) {
        let rows = self.rows();
        let table = self.composer.table.read();
        let is_in_table =
            table.is_waiting_for(&rows) || was_in_table && table.unsent() == rows.len();
        if is_in_table && !rows.is_empty() {
            self.before.set_value(Some(table.waiting()));
        }
        // Also true for rows that were sent, put back and then removed.
        if table.sent() >= rows.len() && table.has_sent(&rows) {
            self.sent.set(Some(self.as_sent()));
        }
    }

    /// Replaces seeds that were renewed in the table. `fresh`: from old to new seed.
    fn renew_seeds(self, fresh: &HashMap<String, String>) {
        let Some(seed) = self.shared_seed() else {
            return;
        };
        if let Some(new) = fresh.get(seed.text().trim()) {
            seed.set(new.clone());
        }
        let schema = self.schema();
        self.written.update(|written| {
            let axes = written.iter_mut();
            for axis in axes.filter(|axis| axis.parameter == seed.name()) {
                axis.replace_values(fresh, &schema);
            }
        });
    }

    /// Restores stored content.
    pub fn restore(self, state: PanelSweep) -> Self {
        let axes = state.axes.iter().cloned().enumerate();
        let axes = axes.map(|(id, (parameter, values))| TypedAxis {
            id,
            parameter,
            values,
        });
        self.written.set(axes.collect());
        self.is_product.set(!state.is_paired);
        self.own_base.set(state.base.clone());
        if let Some((seed, text)) = self.shared_seed().zip(state.seed.clone()) {
            seed.set(text);
        }
        self.sent.set(state.sent_with.is_some().then_some(state));
        self
    }

    /// Returns the content to be stored, for [`Self::restore`]; tracked.
    pub fn panel_sweep(self) -> PanelSweep {
        let is_sent = self.is_sent();
        let all = self.as_sent();
        PanelSweep {
            sent_with: all.sent_with.filter(|_| is_sent),
            ..all
        }
    }

    /// Returns the content marked as sent; tracked.
    fn as_sent(self) -> PanelSweep {
        let axes = self.written.get().into_iter();
        PanelSweep {
            axes: axes.map(|axis| (axis.parameter, axis.values)).collect(),
            is_paired: !self.is_product.get(),
            seed: self.shared_seed().map(|seed| seed.text()),
            base: self.own_base.get(),
            sent_with: Some(self.shared_inputs()),
        }
    }

    /// Returns the inputs that are not axes; tracked.
    fn shared_inputs(self) -> Draft {
        let mut base = self.base();
        for axis in self.written.read().iter() {
            base.reset(&axis.parameter);
        }
        base
    }

    /// Whether all items were sent with the current content. They are then sent again only at the user's request. Tracked.
    pub fn is_sent(self) -> bool {
        self.sent.read().as_ref() == Some(&self.as_sent())
    }

    pub fn schema(self) -> Arc<Schema> {
        self.composer.schema()
    }

    /// Returns the seed that all items share; `None` if the model has no seed.
    pub fn shared_seed(self) -> Option<SharedSeed> {
        self.shared_seed.get_value()
    }

    fn combine(self) -> Combine {
        Combine::of(self.is_product.get())
    }

    /// Returns the number of items, or the reason why there are none.
    pub fn planned(self) -> Memo<Result<usize, String>> {
        memo(move || {
            // An invalid axis shows its own message.
            let axes = self.parse().unwrap_or_default();
            sweep::count(&axes, self.combine())
        })
    }

    /// Parses all axes; tracked.
    fn parse(self) -> Result<Vec<Axis>, String> {
        let schema = self.schema();
        let (written, combine) = (self.written.read(), self.combine());
        let read = |axis: &TypedAxis| Ok(axis.parse(&schema)?.merged(combine));
        written.iter().map(read).collect()
    }

    /// Returns the inputs that the items inherit; tracked.
    pub fn base_of_all(self) -> Draft {
        self.own_base
            .get()
            .unwrap_or_else(|| self.composer.single_form.get())
    }

    /// Returns the inherited inputs together with the shared seed; tracked.
    fn base(self) -> Draft {
        let mut base = self.base_of_all();
        if let (Some(seed), false) = (self.shared_seed(), self.is_swept.get()) {
            seed.write_into(&mut base);
        }
        base
    }

    /// Returns the items; empty if an axis is invalid. Tracked.
    pub fn rows(self) -> Vec<Draft> {
        let axes = self.parse();
        let rows = axes.and_then(|axes| sweep::rows(&self.base(), &axes, self.combine()));
        rows.unwrap_or_default()
    }

    /// Returns how the items relate to the table, which decides what Generate does with them; tracked.
    pub fn relation(self) -> PanelItems {
        if self.is_added.get() || self.is_sent() {
            return PanelItems::InTable;
        }
        let before = self.before.get_value();
        PanelItems::of(&self.rows(), before.as_deref(), &self.composer.table.read())
    }

    /// Returns the required parameters that neither the form nor an axis sets; tracked.
    pub fn missing(self) -> Vec<String> {
        let axes = self.parse().unwrap_or_default();
        panel_items::missing(&self.base(), &axes, &self.schema())
    }

    /// Changes the table. The items copy the single form, unless the sweep is edited again.
    fn change(self, change: impl FnOnce(&mut Table, &Schema) -> Result<(), String>) -> bool {
        match self.own_base.with_untracked(Option::is_some) {
            true => self.composer.change(change),
            false => self
                .composer
                .change_with_form(|table, _, schema| change(table, schema)),
        }
    }

    /// Puts the items into the table.
    pub fn add(self, place: Placement) {
        self.duplicates.set(None);
        let base = untrack(|| self.base());
        let is_done = self.change(|table, schema| {
            let (axes, combine) = untrack(|| (self.parse(), self.combine()));
            table.insert_sweep(place, &base, &axes?, combine, schema)
        });
        focus::when_lost(focus_on_items);
        self.is_added.set(is_done);
        untrack(|| self.update_added(false));
    }

    /// Adds the items, or asks first if the table already has some of them: each item may cost money.
    pub fn try_add(self) {
        let rows = untrack(|| self.rows());
        let table = self.composer.table;
        match table.with_untracked(|table| table.unknown(&rows)) {
            new if new.len() == rows.len() => self.add(Placement::Append),
            new => self.duplicates.set(Some(Duplicates {
                all: rows.len(),
                new,
            })),
        }
    }

    /// Adds `new`, the items that the table does not have yet.
    pub fn add_new(self, new: &[Draft]) {
        self.duplicates.set(None);
        self.is_added
            .set(self.change(|table, schema| table.append(new.to_vec(), schema)));
        untrack(|| self.update_added(false));
        focus::when_lost(focus_on_items);
    }

    /// Returns the message that the sweep was sent, if the table has no rows that show it; tracked.
    pub fn sent_message(self) -> Option<String> {
        let message =
            "This sweep has been sent. Change a value, or add it to the table to send it again.";
        let has_rows = self.composer.table.read().has_rows();
        (!has_rows).then(|| message.to_owned())
    }

    /// Returns the items that the table does not have; tracked.
    pub fn new_rows(self) -> Vec<Draft> {
        self.composer.table.read().unknown(&self.rows())
    }

    /// Returns why the axes give no items; `None` while the table has unsent rows. Tracked.
    pub fn no_items_message(self) -> Option<String> {
        let schema = self.schema();
        let written = self.written.read();
        let wrong = written.iter().find_map(|axis| {
            let sentence = axis.parse(&schema).err()?;
            match sentence.starts_with(&axis.parameter) {
                true => Some(sentence),
                false => Some(format!("{}: {sentence}", axis.parameter)),
            }
        });
        let has_waiting = self.composer.table.read().unsent() > 0;
        let wrong = wrong.or_else(|| self.planned().get().err());
        if let (Some(sentence), false) = (wrong, has_waiting) {
            return Some(sentence);
        }
        let empty = written.iter().find(|axis| axis.values.trim().is_empty())?;
        (!has_waiting).then(|| panel_items::empty_axis_message(&empty.parameter))
    }

    /// Adds the seed as an axis and removes axes without values.
    pub fn vary(self, seed: &SharedSeed) {
        self.written
            .update(|written| written.retain(|axis| !axis.values.trim().is_empty()));
        self.push(seed.name().to_owned(), seed.random_values());
    }

    /// Adds an axis for the first parameter that is not an axis yet.
    pub fn push_unused(self) {
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
            written.push(TypedAxis {
                id,
                parameter,
                values,
            });
        });
    }
}
