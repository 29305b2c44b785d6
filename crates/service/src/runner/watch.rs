//! Checks periodically which models are available.

use std::sync::Arc;

use super::Remote;
use crate::model::Stop;

/// Logs the warnings about each model's entry, and checks all models once, concurrently.
pub fn check_all(remotes: &[Arc<Remote>]) {
    for remote in remotes {
        for warning in remote.warnings() {
            tracing::warn!("{}: {warning}", remote.id());
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

/// Checks each model periodically until `stop` is set.
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
