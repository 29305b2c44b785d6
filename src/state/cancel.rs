//! Whether tasks can be canceled at their service.

use atelier_engine::Task;

use crate::state::catalog::Load;
use crate::state::contexts::Contexts;

/// Returns whether the service of a task announces that it can cancel tasks; tracked. `false` for tasks of another account
/// than the present one, because no call can be made for them.
pub fn is_offered(all: Contexts, task: &Task) -> bool {
    let is_announced = match all.catalog.models() {
        Load::Loaded(list) => list.can_cancel,
        _ => false,
    };
    is_announced && task.account == all.session.account()
}
