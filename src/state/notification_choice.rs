//! Whether a person is notified: chosen in Settings, or next to a task that takes long.

use atelier_engine::Task;
use atelier_studio::task::notification_offer::OfferConditions;

use crate::browser::{clock, notify};
use crate::reactive::boxed::spawn;
use crate::state::contexts::Contexts;

/// Saves what was chosen.
pub fn choose(all: Contexts, is_wanted: bool) {
    let mut settings = all.session.settings_untracked();
    settings.notify = is_wanted;
    settings.notify_chosen = true;
    let token = all.session.token_untracked();
    // Not kept, it holds for this visit.
    all.session.save(settings, token, false);
}

/// Has the browser ask; must be called from a press. Where that is refused the setting is off again, which a view may have to
/// show.
pub fn ask(all: Contexts, refused: impl FnOnce() + 'static) {
    spawn(async move {
        if !notify::ask().await {
            choose(all, false);
            refused();
            all.notices
                .problem("The browser does not allow notifications for this page.");
        }
    });
}

/// What is known of offering it next to this task; tracked.
pub fn facts(all: Contexts, task: &Task, is_elsewhere: bool) -> OfferConditions {
    let settings = all.session.settings();
    OfferConditions {
        submitted: task.submitted,
        is_followed: task.watching && all.runner.wait_reason(task, clock::now()).is_none(),
        may_ask: notify::is_undecided(),
        is_on: settings.notify,
        was_chosen: settings.notify_chosen,
        is_elsewhere,
    }
}
