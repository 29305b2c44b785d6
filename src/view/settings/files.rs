//! The settings for downloaded files. They take effect at once.

use atelier_studio::output::name_pattern::{
    NamePattern, NameValues, PatternError, SUGGESTED, placeholders,
};
use leptos::prelude::*;

use super::tick::Tick;
use crate::reactive::boxed::{derived, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::file_settings::FileSettings;

pub fn files() -> AnyView {
    let notices = contexts().notices;
    let now = FileSettings::read();
    let writes_inputs = RwSignal::new(now.writes_inputs);
    let has_pattern = RwSignal::new(!now.name_pattern.is_empty());
    let pattern = RwSignal::new(match now.name_pattern.as_str() {
        "" => SUGGESTED.to_owned(),
        pattern => pattern.to_owned(),
    });
    let parsed = memo(move || NamePattern::parse(&pattern.read()));
    let save = move || {
        let name_pattern = match (has_pattern.get_untracked(), &*parsed.read_untracked()) {
            (false, _) => String::new(),
            (true, Ok(_)) => pattern.get_untracked().trim().to_owned(),
            // The last valid pattern stays in use.
            (true, Err(_)) => FileSettings::read().name_pattern,
        };
        let settings = FileSettings {
            name_pattern,
            writes_inputs: writes_inputs.get_untracked(),
        };
        if !settings.write() {
            notices.problem("This browser refuses to store settings: these are not in use.");
        }
    };
    view! {
        <section class="panel form" aria-labelledby="files-heading">
            <h2 id="files-heading">"Downloaded files"</h2>
            <div class="field">
                <Tick
                    id="writes-inputs"
                    label="Write inputs into downloaded files"
                    checked=writes_inputs
                    on_change=move |()| save()
                />
                <p class="hint">
                    "PNG, JPEG, WebP, WAV and WebM files then say how they were generated, so that Atelier and other programs can \
                     open them. Secrets are left out. Files with Content Credentials (C2PA) are never changed."
                </p>
            </div>
            <Tick
                id="has-name-pattern"
                label="Name files by a pattern"
                checked=has_pattern
                on_change=move |()| save()
            />
            {pattern_field(pattern, parsed, has_pattern, save)}
        </section>
    }
    .into_any()
}

fn pattern_field(
    pattern: RwSignal<String>,
    parsed: Memo<Result<NamePattern, PatternError>>,
    has_pattern: RwSignal<bool>,
    save: impl Fn() + 'static,
) -> AnyView {
    let problem = text(move || match &*parsed.read() {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    });
    let example = text(move || match &*parsed.read() {
        Ok(pattern) => format!("Example: {}", pattern.name(&NameValues::example(), "png")),
        Err(_) => "Until the pattern is valid, the last valid one is used.".to_owned(),
    });
    let hint = format!(
        "You can use {}. Empty values are left out with their separator. Files of the same name in a ZIP are numbered.",
        placeholders()
    );
    view! {
        <div
            class="field"
            hidden=when(move || !has_pattern.get())
            class:wrong=when(move || parsed.read().is_err())
        >
            <label class="label" for="name-pattern">
                "File name pattern"
            </label>
            <input
                id="name-pattern"
                type="text"
                class="mono"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                aria-describedby="name-pattern-hint name-pattern-problem name-pattern-example"
                aria-invalid=derived(move || parsed.read().is_err().then(|| "true".to_owned()))
                prop:value=pattern
                on:input=handler(move |event| {
                    pattern.set(event_target_value(&event));
                    save();
                })
            />
            <p class="problem" id="name-pattern-problem" role="status" prop:textContent=problem></p>
            <p class="hint" id="name-pattern-example" translate="no" prop:textContent=example></p>
            <p class="hint" id="name-pattern-hint" translate="no">
                {hint}
            </p>
        </div>
    }
    .into_any()
}
