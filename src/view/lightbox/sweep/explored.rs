//! Signals for the explored batch and the position in it, read from the URL.

use std::sync::Arc;

use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::batch::exploration;
use atelier_studio::batch::space::Space;
use leptos::prelude::*;

use crate::reactive::boxed::{memo, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::lightbox::shown::EXPLORED;

/// The explored batch.
#[derive(Clone, Copy)]
pub struct Explored {
    navigation: Navigation,
    /// Whether the URL names a batch, even one that this browser doesn't have.
    pub is_open: Signal<bool>,
    key: Memo<Option<BatchKey>>,
    pub space: Memo<Option<Arc<Space>>>,
    pub position: Memo<Vec<usize>>,
    /// The task at the position. `None` if no item has these values or its task was removed.
    pub task: Memo<Option<TaskKey>>,
}

impl Explored {
    pub fn of_address() -> Self {
        let all = contexts();
        let (navigation, runner) = (all.navigation, all.runner);
        let place = memo(move || exploration::read_address(&navigation.query(EXPLORED)?));
        let key = memo(move || place.read().as_ref().map(|(key, _)| key.clone()));
        let space = memo(move || {
            let key = key.get()?;
            let batch = Batches::new(all).find(&key)?;
            // Tracks the tasks of the batch, because a retry replaces a task.
            runner.keys_of_batch(&key);
            runner
                .with_tasks(|tasks| Space::of(&batch, tasks))
                .map(Arc::new)
        });
        let position = memo(move || {
            let place = place.read();
            let space = space.read();
            match (&*place, &*space) {
                (Some((_, wanted)), Some(space)) => space.exploration.position(wanted),
                _ => Vec::new(),
            }
        });
        let item = memo(move || space.read().as_ref()?.exploration.item(&position.read()));
        Self {
            navigation,
            is_open: when(move || place.read().is_some()),
            key,
            space,
            position,
            task: memo(move || space.read().as_ref()?.task(item.get()?)),
        }
    }

    /// Moves to a position of the batch.
    pub fn move_to(self, position: &[usize]) {
        if let (Some(key), Some(space)) = (self.key.get_untracked(), self.space.get_untracked()) {
            let address = space.exploration.address(&key, position);
            self.navigation.set_query(EXPLORED, Some(&address));
        }
    }
}
