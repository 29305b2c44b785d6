//! The choice whether the user is notified of the end of tasks. It is made in Settings or next to a slow task.

use atelier_engine::Task;
use atelier_studio::task::notification_offer::OfferConditions;

use crate::browser::{clock, notify};
use crate::reactive::boxed::spawn;
use crate::state::contexts::Contexts;

/// Saves the choice.
pub fn choose(all: Contexts, is_wanted: bool) {
    let mut settings = all.session.settings_untracked();
    settings.notify = is_wanted;
    settings.notify_chosen = true;
    let token = all.session.token_untracked();
    // If it can't be stored, the choice applies to this visit.
    all.session.save(settings, token, false);
}

/// Makes the browser ask for permission; must be called from a press. If the user refuses, switches the setting off and
/// calls `refused`.
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

/// Returns the conditions for offering notifications next to a task; tracked.
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
