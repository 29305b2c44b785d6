use std::sync::Arc;

use atelier_contract::{Draft, Entry, Parameter, Schema, check};
use atelier_studio::compose::table::Table;
use atelier_studio::form::seed;
use icondata_lu::LuDices;
use leptos::prelude::*;

use crate::browser::random;
use crate::reactive::boxed::{derived, handler, memo};
use crate::view::parts::glyph::Glyph;

/// The seed that all items of a sweep share, so that the items differ only in the axes.
#[derive(Clone)]
pub struct SharedSeed {
    parameter: Arc<Parameter>,
    text: RwSignal<String>,
}

impl SharedSeed {
    /// Starts with the seed of the single form, or else with a random one. `None` if the model has no seed.
    pub fn of(schema: &Schema, form: &Draft) -> Option<Self> {
        let parameter = Arc::new(seed::parameter(schema)?.clone());
        let text = match seed::entry(form, schema) {
            Some(entry) => entry.to_text(),
            None => seed::seed(&parameter, random::bits()).to_string(),
        };
        Some(Self {
            parameter,
            text: RwSignal::new(text),
        })
    }

    pub fn set(&self, text: String) {
        self.text.set(text);
    }

    /// Returns the text of the field; tracked.
    pub fn text(&self) -> String {
        self.text.get()
    }

    /// Returns the name of the seed parameter.
    pub fn name(&self) -> &str {
        &self.parameter.name
    }

    /// Whether the single form sets a seed and all lines of the table already have it.
    pub fn is_in_use(&self, form: &Draft, table: &Table) -> bool {
        let is_set = form.get(self.name()).is_some();
        is_set && table.all_lines_have(self.name(), &self.text.get_untracked())
    }

    /// Subscribes the current effect to the seed.
    pub fn track(&self) {
        self.text.track();
    }

    /// Writes the seed into `base`, or unsets it if the field is empty; tracked.
    pub fn write_into(&self, base: &mut Draft) {
        match self.text.get() {
            text if text.trim().is_empty() => base.reset(&self.parameter.name),
            text => base.set(self.parameter.name.clone(), Entry::Text(text)),
        }
    }

    /// Returns random seeds as the values of an axis.
    pub fn random_values(&self) -> String {
        const COUNT: usize = 4;
        let drawn = (0..COUNT).map(|_| seed::seed(&self.parameter, random::bits()).to_string());
        drawn.collect::<Vec<_>>().join(", ")
    }

    /// The field for the seed. It is hidden while the seed is an axis.
    pub fn view(self, is_swept: Signal<bool>) -> AnyView {
        let text = self.text;
        let parameter = self.parameter;
        let problem = {
            let parameter = parameter.clone();
            memo(move || {
                let found = check(&parameter, false, Some(&Entry::Text(text.get())));
                found.err().map(|problem| problem.message)
            })
        };
        let hint = crate::reactive::boxed::text(move || match &*text.read() {
            seed if seed.trim().is_empty() => "Empty: a different seed for each item.".to_owned(),
            seed => seed::held_message(seed),
        });
        let roll = move |_| text.set(seed::seed(&parameter, random::bits()).to_string());
        view! {
            <div class="field held-seed" hidden=is_swept>
                <label class="label" for="held-seed">
                    "Seed for every item"
                </label>
                <div class="number">
                    <input
                        type="text"
                        inputmode="numeric"
                        id="held-seed"
                        autocomplete="off"
                        aria-describedby="held-seed-problem held-seed-hint"
                        aria-invalid=derived(move || problem.read().is_some().then_some("true"))
                        prop:value=text
                        on:input=handler(move |event| text.set(event_target_value(&event)))
                    />
                    <button
                        class="button"
                        type="button"
                        aria-label="Another seed"
                        title="Another seed"
                        on:click=handler(roll)
                    >
                        <Glyph icon=LuDices />
                    </button>
                </div>
                <p class="problem" id="held-seed-problem" role="status">
                    {crate::reactive::boxed::text(move || problem.get().unwrap_or_default())}
                </p>
                <p class="hint" id="held-seed-hint" prop:textContent=hint></p>
            </div>
        }
        .into_any()
    }
}
