use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema, json};
use atelier_engine::compose::table::Table;
use atelier_engine::manifest::Manifest;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::browser::local::Place;
use crate::erased::effect;

/// With more rows than this, what follows the table as a whole does so between key presses.
const FOLLOWED_AT_ONCE: usize = 50;
const FOLLOWED_AFTER_MS: u32 = 300;

/// What a batch is composed of.
#[derive(Clone, Copy)]
pub struct Composer {
    schema: StoredValue<Arc<Schema>>,
    pub table: RwSignal<Table>,
    /// What stands in the form for one.
    pub one: RwSignal<Draft>,
    /// Why the last addition was refused.
    pub refused: RwSignal<Option<String>>,
    /// A manifest that is only looked at.
    pub looked_at: RwSignal<Option<Manifest>>,
    keep: StoredValue<Rc<dyn Fn() -> bool>, LocalStorage>,
}

impl Composer {
    /// With the table as it was left: nothing typed is lost by a reload or a visit elsewhere.
    pub fn kept(model: &ModelId, schema: Arc<Schema>, one: RwSignal<Draft>) -> Self {
        let place = format!("atelier.table.{model}");
        let kept = Place::Browser
            .read(&place)
            .and_then(|text| Table::from_value(json::read(&text)?, &schema));
        let table = RwSignal::new(kept.unwrap_or_default());
        let write = move || {
            let kept = table.try_with_untracked(|table| {
                if table.is_empty() {
                    Place::Browser.remove(&place);
                    return true;
                }
                Place::Browser.write(&place, &table.to_value().to_string())
            });
            kept == Some(true)
        };
        let this = Self {
            schema: StoredValue::new(schema),
            table,
            one,
            refused: RwSignal::new(None),
            looked_at: RwSignal::new(None),
            keep: StoredValue::new_local(Rc::new(write.clone())),
        };
        this.follow(Rc::new({
            let write = write.clone();
            move || {
                write();
            }
        }));
        on_cleanup(move || {
            write();
        });
        this
    }

    /// Writes the table at once; `false` if the browser refuses.
    pub fn keep(self) -> bool {
        let keep = self.keep.get_value();
        keep()
    }

    /// Acts on every change of the table, and now.
    pub fn follow(self, act: Rc<dyn Fn()>) {
        let waiting = StoredValue::new_local(None::<Timeout>);
        effect(move || {
            let act = act.clone();
            if self.table.read().rows().len() <= FOLLOWED_AT_ONCE {
                act();
            } else {
                let wait = Timeout::new(FOLLOWED_AFTER_MS, move || act());
                waiting.set_value(Some(wait));
            }
        });
    }

    pub fn schema(self) -> Arc<Schema> {
        self.schema.get_value()
    }

    /// Changes the table, or says why not.
    pub fn change(self, change: impl FnOnce(&mut Table, &Schema) -> Result<(), String>) -> bool {
        let schema = self.schema();
        let mut result = Ok(());
        self.table.update(|table| result = change(table, &schema));
        let is_done = result.is_ok();
        self.refused.set(result.err());
        is_done
    }
}
