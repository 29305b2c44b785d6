use leptos::prelude::*;

use super::entered::Entered;
use super::tick::Tick;
use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::state::notification_choice;

/// The settings for notifications and for the parameters that are sent.
pub fn generating(entered: Entered) -> AnyView {
    let all = contexts();
    let ask = move |event| {
        let is_wanted = event_target_checked(&event);
        entered.notify.set(is_wanted);
        entered.choose(|settings| {
            settings.notify = is_wanted;
            settings.notify_chosen = true;
        });
        if is_wanted {
            notification_choice::ask(all, move || {
                entered.notify.try_set(false);
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
                    prop:checked=entered.notify
                    on:change=handler(ask)
                />
                <label for="notify">"Notify me when a task ends while this page is hidden"</label>
            </div>
            <div class="field">
                <Tick
                    id="send-defaults"
                    label="Always send every setting"
                    checked=entered.send_defaults
                    on_change=move |()| {
                        let is_wanted = entered.send_defaults.get_untracked();
                        entered.choose(|settings| settings.send_defaults = is_wanted);
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
