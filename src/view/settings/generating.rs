use leptos::prelude::*;

use super::fields::SettingsFields;
use super::tick::Tick;
use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::state::notification_choice;

/// The settings for notifications and for the parameters that are sent.
pub fn generating(fields: SettingsFields) -> AnyView {
    let all = contexts();
    let ask = move |event| {
        let is_wanted = event_target_checked(&event);
        fields.notify.set(is_wanted);
        fields.choose(|settings| {
            settings.notify = is_wanted;
            settings.notify_chosen = true;
        });
        if is_wanted {
            notification_choice::ask(all, move || {
                fields.notify.try_set(false);
            });
        }
    };
    view! {
        <section class="panel form" aria-labelledby="generating-heading">
            <h2 id="generating-heading">"Generating"</h2>
            <div class="tick">
                <input
                    id="notify"
                    type="checkbox"
                    prop:checked=fields.notify
                    on:change=handler(ask)
                />
                <label for="notify">"Notify me when a task ends while this page is hidden"</label>
            </div>
            <div class="field">
                <Tick
                    id="send-defaults"
                    label="Always send every setting"
                    checked=fields.send_defaults
                    on_change=move |()| {
                        let is_wanted = fields.send_defaults.get_untracked();
                        fields.choose(|settings| settings.send_defaults = is_wanted);
                    }
                />
                <p class="hint">
                    "When off, settings you have not touched are left out, and the service uses its own defaults."
                </p>
            </div>
        </section>
    }
    .into_any()
}
