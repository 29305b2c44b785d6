//! Knows which models are away: asks each now and then.

use std::sync::Arc;

use super::Remote;
use crate::model::Stop;

/// Logs the warnings about each model's entry, and asks each model once, all at the same time.
pub fn check_all(remotes: &[Arc<Remote>]) {
    for remote in remotes {
        for words in remote.warnings() {
            tracing::warn!("{}: {words}", remote.id());
        }
    }
    std::thread::scope(|scope| {
        for remote in remotes {
            scope.spawn(|| remote.check());
        }
    });
    for remote in remotes {
        if let Some(note) = remote.note() {
            tracing::warn!("{}: {note}", remote.id());
        }
    }
}

/// Asks each model again and again until `stop`.
pub fn watch(remotes: &[Arc<Remote>], stop: &Stop) {
    for remote in remotes {
        let (remote, stop) = (remote.clone(), stop.clone());
        std::thread::spawn(move || {
            while !stop.is_set_within(remote.check_interval()) {
                remote.check();
            }
        });
    }
}
