use std::rc::Rc;

use leptos::prelude::*;

use super::base_hint::base_hint;
use crate::boxed::handler;
use crate::view::batch::composer::Composer;

/// One prompt per line: the table's own column, as a text. A change here changes the rows, and the
/// other way round.
pub fn prompts(composer: Composer, parameter: String) -> AnyView {
    let typed = RwSignal::new(String::new());
    let followed = parameter.clone();
    // A thousand lines are laid out anew whenever the text is set: too slow for every key press in
    // a cell.
    let follow = Rc::new(move || {
        let lines = composer.table.read_untracked().lines(&followed);
        let is_same = {
            let typed = typed.read_untracked();
            atelier_engine::compose::prompts::prompts(&typed).eq(lines.iter().map(String::as_str))
        };
        if !is_same {
            typed.set(lines.join("\n"));
        }
    });
    follow();
    composer.follow(follow.clone());
    let own = parameter.clone();
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
                // Before a change that is made here: it must not undo one that was made there.
                on:focus=handler(move |_| follow())
                on:input=handler(write)
            ></textarea>
            <p class="hint" id="prompts-hint">
                "One per line; each becomes a row of the table."
            </p>
            {base_hint(composer, move |name| name == own)}
        </div>
    }
    .into_any()
}
