//! Which batch is explored, and where in it the person is: what the address says, made of signals.

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

#[derive(Clone, Copy)]
pub struct Explored {
    navigation: Navigation,
    /// Whether the address names any batch, known or not.
    pub is_open: Signal<bool>,
    key: Memo<Option<BatchKey>>,
    pub space: Memo<Option<Arc<Space>>>,
    pub position: Memo<Vec<usize>>,
    /// None where no item has the values of the position, and where the item's task was removed.
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
            // A retry takes the place of what it repeats.
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

    pub fn go(self, position: &[usize]) {
        if let (Some(key), Some(space)) = (self.key.get_untracked(), self.space.get_untracked()) {
            let address = space.exploration.address(&key, position);
            self.navigation.set_query(EXPLORED, Some(&address));
        }
    }
}
