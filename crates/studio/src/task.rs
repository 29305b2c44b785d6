//! Data and messages that a page shows for a task or for related tasks.

pub mod cancel;
pub mod filmstrip;
pub mod notification_offer;
pub mod other_accounts;
pub mod other_submission;
pub mod output_group;
pub mod progress;
pub mod removal;
