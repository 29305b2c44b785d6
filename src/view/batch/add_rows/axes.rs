use std::sync::Arc;

use atelier_contract::{Draft, Kind, Schema};
use atelier_engine::compose::sweep::{self, Axis, Combine};
use atelier_engine::compose::table::Table;
use leptos::prelude::*;

use super::axis::Written;
use super::held_seed::HeldSeed;
use crate::boxed::{effect, memo, when};
use crate::view::batch::composer::Composer;

/// A sweep as a person writes it, on its way into the table.
#[derive(Clone, Copy)]
pub struct Axes {
    composer: Composer,
    pub written: RwSignal<Vec<Written>>,
    /// Every combination; else the first values of all axes, then the second ones, and so on.
    pub is_product: RwSignal<bool>,
    held: StoredValue<Option<HeldSeed>>,
    /// The seed is an axis itself.
    pub is_swept: Signal<bool>,
    /// It was to be added, and the table has some of it already.
    pub doubled: RwSignal<Option<Doubled>>,
    /// All of it waits in the table, as it was added.
    pub is_added: RwSignal<bool>,
}

/// A sweep of which the table has some already.
#[derive(Clone)]
pub struct Doubled {
    pub all: usize,
    pub new: Vec<Draft>,
}

impl Axes {
    /// Begins with one axis, of a parameter that is no text if there is one.
    pub fn new(composer: Composer) -> Self {
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
        let sent = memo(move || composer.table.read().sent());
        effect(move || {
            written.track();
            is_product.track();
            sent.track();
            doubled.set(None);
            is_added.set(false);
        });
        let waits = memo(move || composer.table.read().unsent() > 0);
        effect(move || {
            if !waits.get() {
                is_added.set(false);
            }
        });
        Self {
            composer,
            written,
            is_product,
            held: StoredValue::new(held),
            is_swept,
            doubled,
            is_added,
        }
    }

    pub fn schema(self) -> Arc<Schema> {
        self.composer.schema()
    }

    /// The seed that all items share; none where the model has no seed.
    pub fn held(self) -> Option<HeldSeed> {
        self.held.get_value()
    }

    fn combine(self) -> Combine {
        match self.is_product.get() {
            true => Combine::Product,
            false => Combine::Paired,
        }
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
        let written = self.written.read();
        written.iter().map(|axis| axis.read(&schema)).collect()
    }

    /// What all items have beside the axes; tracked.
    fn base(self) -> Draft {
        let mut base = self.composer.one.get();
        if let (Some(held), false) = (self.held(), self.is_swept.get()) {
            held.put_into(&mut base);
        }
        base
    }

    /// Its items; none where an axis can't be read. Tracked.
    fn rows(self) -> Vec<Draft> {
        let axes = self.read();
        let rows = axes.and_then(|axes| sweep::rows(&self.base(), &axes, self.combine()));
        rows.unwrap_or_default()
    }

    /// Nothing waits to be sent, and nothing of it was: it can be sent as it is, and is paid once. Tracked.
    pub fn is_new(self) -> bool {
        let table = self.composer.table.read();
        if table.unsent() > 0 || table.is_empty() {
            return table.is_empty();
        }
        let rows = self.rows();
        table.unknown(&rows).len() == rows.len()
    }

    /// Puts its items into the table: below the others, or in their place.
    pub fn add(self, replace: bool) {
        self.doubled.set(None);
        let base = untrack(|| self.base());
        let is_done = self.composer.change(|table, schema| {
            if replace {
                table.clear();
            }
            let (axes, combine) = untrack(|| (self.read(), self.combine()));
            table.append_sweep(&base, &axes?, combine, schema)
        });
        self.is_added.set(is_done);
    }

    /// What the table has already is not added once more in silence: each item may cost money.
    pub fn try_add(self) {
        let rows = untrack(|| self.rows());
        let table = self.composer.table;
        match table.with_untracked(|table| table.unknown(&rows)) {
            new if new.len() == rows.len() => self.add(false),
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

    pub fn push(self, parameter: String, values: String) {
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
