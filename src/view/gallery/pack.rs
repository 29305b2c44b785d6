use atelier_engine::Task;
use atelier_studio::gallery::GalleryEntry;
use leptos::prelude::*;

use crate::browser::download;
use crate::files::batch_archive;
use crate::state::contexts::Contexts;

/// Saves the outputs as one archive and reports the result.
pub async fn pack(
    all: Contexts,
    entries: Vec<GalleryEntry>,
    progress: RwSignal<Option<batch_archive::Progress>>,
) {
    const NAME: &str = "outputs.zip";
    let outputs: Vec<(Task, usize)> = entries
        .iter()
        .filter_map(|entry| {
            Some((
                all.runner.task(&entry.task)?.get_untracked(),
                entry.position,
            ))
        })
        .collect();
    let address = all.session.settings_untracked().address;
    let packed = batch_archive::pack(all.runner, outputs, address.as_str(), |now| {
        progress.try_set(Some(now));
    });
    match packed.await {
        Ok((blob, missing)) => {
            download::blob(NAME, &blob);
            match missing.message(NAME) {
                None => all.notices.say(format!("{NAME} saved.")),
                Some(note) => all.notices.problem(note),
            }
        }
        Err(sentence) => all.notices.problem(sentence),
    }
    progress.try_set(None);
}
