use std::sync::Arc;

use atelier_engine::Task;
use atelier_studio::batch::differences::item_captions;
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::batch::{Batch, Part};
use atelier_studio::output::file_name;
use atelier_studio::share::recipe;
use atelier_studio::text::plural::listed;
use futures::future::{AbortHandle, Abortable};
use icondata_lu::LuDownload;
use leptos::prelude::*;

use super::grid::GridLayout;
use super::item::Shapes;
use super::save_grid::save_grid;
use crate::browser::download;
use crate::files::batch_archive;
use crate::reactive::boxed::{handler, memo, spawn, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// Buttons that save a batch as files: an archive, a picture of the grid, and manifests.
pub fn export(
    batch: Arc<Batch>,
    summary: Memo<BatchSummary>,
    layout: GridLayout,
    shapes: Shapes,
) -> AnyView {
    let all = contexts();
    // Read again, because the batch may have been renamed.
    let batch = move || {
        let now = untrack(|| Batches::new(all).find(&batch.key));
        now.map_or_else(|| batch.clone(), Arc::new)
    };
    let progress = RwSignal::new(None::<batch_archive::Progress>);
    let abort = StoredValue::new_local(None::<AbortHandle>);
    let suspects = memo({
        let batch = batch.clone();
        move || {
            summary.track();
            let batch = batch();
            all.runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                recipe::suspects_of(items.latest().flatten())
            })
        }
    });
    let leaves_out = RwSignal::new(true);
    let manifest = {
        let batch = batch.clone();
        move || {
            let build = |tasks: &[&Task]| batch_archive::manifest(&batch(), tasks);
            let mut manifest = all.runner.with_tasks(build);
            if leaves_out.get_untracked() {
                let suspects = suspects.read_untracked();
                for item in &mut manifest.items {
                    item.input.retain(|name, _| !suspects.contains(name));
                }
            }
            manifest
        }
    };
    let zip = {
        let (batch, manifest) = (batch.clone(), manifest.clone());
        move |_| {
            let batch = batch();
            let tasks: Vec<Option<Task>> = all.runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                items.latest().map(Option::<&Task>::cloned).collect()
            });
            let address = all.session.settings_untracked().address;
            let name = file_name::archive(&batch.name, "zip");
            let manifest = manifest();
            let names = match leaves_out.get_untracked() && !suspects.read_untracked().is_empty() {
                // File names must not contain the omitted values either.
                true => Vec::new(),
                false => item_captions(tasks.iter().map(Option::as_ref)),
            };
            let (handle, registration) = AbortHandle::new_pair();
            abort.set_value(Some(handle));
            progress.set(Some((0, 0)));
            let work = async move {
                let address = address.as_str();
                let made =
                    batch_archive::make(all.runner, manifest, tasks, &names, address, |now| {
                        progress.try_set(Some(now));
                    });
                match made.await {
                    Ok((blob, missing)) => {
                        download::blob(&name, &blob);
                        match missing.message(&name) {
                            None => all.notices.say(format!("{name} saved.")),
                            Some(note) => {
                                let note = format!("{note} Its manifest has the addresses.");
                                all.notices.problem(note);
                            }
                        }
                    }
                    Err(sentence) => all.notices.problem(sentence),
                }
            };
            spawn(async move {
                let _ = Abortable::new(work, registration).await;
                progress.try_set(None);
            });
        }
    };
    let cancel = move |_| {
        abort.with_value(|abort| {
            if let Some(abort) = abort {
                abort.abort();
            }
        });
    };
    let has_any = when(move || summary.read().counts.of(Part::Completed) > 0);
    let save_grid = save_grid(batch.clone(), layout, shapes, has_any);
    let save = move |extension: &'static str| {
        let name = file_name::archive(&format!("{} manifest", batch().name), extension);
        match extension {
            "csv" => download::text(&name, "text/csv", &manifest().to_csv()),
            _ => download::text(&name, "application/json", &manifest().to_json()),
        };
    };
    let save_csv = save.clone();
    let is_busy = when(move || progress.read().is_some());
    let share = text(move || {
        let (done, total) = progress.get().unwrap_or_default();
        format!("{}", done * 1000 / total.max(1))
    });
    view! {
        <div class="row take-away">
            <button
                class="button"
                type="button"
                prop:disabled=when(move || is_busy.get() || !has_any.get())
                on:click=handler(zip)
            >
                <Glyph icon=LuDownload />
                "Download all"
            </button>
            {save_grid}
            <button class="button quiet" type="button" on:click=handler(move |_| save("json"))>
                "Manifest JSON"
            </button>
            <button class="button quiet" type="button" on:click=handler(move |_| save_csv("csv"))>
                "Manifest CSV"
            </button>
        </div>
        <div class="tick" hidden=when(move || suspects.read().is_empty())>
            <input
                id="leave-out-suspects"
                type="checkbox"
                prop:checked=leaves_out
                on:change=handler(move |event| leaves_out.set(event_target_checked(&event)))
            />
            <label for="leave-out-suspects" prop:textContent=text(move || {
                    let names = suspects.get();
                    format!("Leave out of the manifest what looks like a secret: {}", listed(&names))
                })></label>
        </div>
        <div class="row packing" hidden=when(move || !is_busy.get())>
            <progress max="1000" prop:value=share aria-label="Packing"></progress>
            <span role="status" prop:textContent=text(move || {
                    let (done, total) = progress.get().unwrap_or_default();
                    format!("Packing {done} of {total}")
                })></span>
            <button class="button quiet" type="button" on:click=handler(cancel)>
                "Cancel"
            </button>
        </div>
    }
    .into_any()
}
