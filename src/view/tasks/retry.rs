use atelier_engine::TaskKey;
use atelier_engine::batch::again;
use leptos::prelude::*;

use crate::contexts::Contexts;
use crate::view::parts::double_click_guard::DoubleClickGuard;

/// Sends these once more, and says so where all rows are left: theirs may go elsewhere. `held`: over all rows.
pub fn retry(all: Contexts, held: DoubleClickGuard, keys: &[TaskKey]) {
    if held.counts("Retry") {
        let count = all.runner.retry_all(keys);
        let is_held = untrack(|| all.runner.block_reason()).is_some();
        all.notices.say(again::user_message(count, 0, is_held));
    }
}
