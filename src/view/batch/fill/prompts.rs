use leptos::prelude::*;

use super::base_hint;
use crate::erased::{effect, handler};
use crate::view::batch::composer::Composer;

/// One prompt per line: the table's own column, as a text. A change here changes the rows, and the
/// other way round.
pub fn prompts(composer: Composer, parameter: String) -> AnyView {
    let typed = RwSignal::new(String::new());
    let follow = parameter.clone();
    effect(move || {
        let lines = composer.table.read().lines(&follow);
        let is_same = {
            let typed = typed.read_untracked();
            atelier_engine::compose::prompts::prompts(&typed).eq(lines.iter().map(String::as_str))
        };
        if !is_same {
            typed.set(lines.join("\n"));
        }
    });
    let write = move |event| {
        let text = event_target_value(&event);
        composer.change(|table, schema| {
            table.set_lines(&parameter, &text, &composer.one.read_untracked(), schema)
        });
        typed.set(text);
    };
    view! {
        <div class="field">
            <label class="label" for="prompts">
                "Prompts"
            </label>
            <textarea
                id="prompts"
                rows="4"
                aria-describedby="prompts-hint"
                placeholder="a lighthouse in a storm\na lighthouse at dawn"
                prop:value=typed
                on:input=handler(write)
            ></textarea>
            <p class="hint" id="prompts-hint">
                "One per line; each becomes a row of the table."
            </p>
            {base_hint(composer)}
        </div>
    }
    .into_any()
}
