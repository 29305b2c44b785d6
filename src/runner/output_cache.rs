//! Copies of outputs, for the day when their addresses are dead.
//!
//! The leading tab makes them, one after the other, so that no two tabs make the same and together
//! they stay within the limit. What storage says counts; nothing of it is held here.

use atelier_contract::json;
use atelier_engine::output::SafeUrl;
use atelier_engine::output_cache::{self, CachedOutput};
use atelier_engine::{TaskKey, TaskState};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use super::Runner;
use crate::boxed::spawn;
use crate::browser::storage::{StorageError, Store};
use crate::browser::{clock, http};

/// Makes all copies that are wanted.
pub(super) fn make(runner: Runner) {
    spawn(async move {
        while let Some(wanted) = runner.next_wanted() {
            let names = match wanted.strip_suffix('/') {
                Some(task) => {
                    let task = TaskKey(task.to_owned());
                    let count = outputs(runner, &task).len();
                    (0..count).map(|at| task.output(at)).collect()
                }
                None => vec![wanted],
            };
            for name in names {
                if let Err(error) = keep(runner, &name).await {
                    refused(runner, &error);
                }
            }
        }
    });
}

async fn keep(runner: Runner, name: &str) -> Result<(), StorageError> {
    let Some(storage) = runner.inner.with_value(|inner| inner.storage.clone()) else {
        return Ok(());
    };
    let now = clock::now();
    let (mut going, mut coming) = (Vec::new(), Vec::new());
    if let Some(known) = storage.get(Store::OutputFacts, name).await? {
        if let Some(mut copy) = known.as_string().and_then(|text| read(&text)) {
            copy.shown = now;
            coming.push(facts(&copy));
        }
    } else {
        let favorites = runner.with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()));
        let is_favorite = favorites.iter().any(|favorite| favorite == name);
        let limit = match runner.session.keep_limit() {
            _ if is_favorite => output_cache::LIMITS[2],
            Some(limit) => limit,
            None => return Ok(()),
        };
        let mut bytes = 0;
        if !name.is_empty() {
            let Some((url, safe)) = worth_keeping(runner, name) else {
                return Ok(());
            };
            let Ok(blob) = http::get_blob(safe.as_str(), limit).await else {
                runner
                    .inner
                    .update_value(|inner| inner.cache_queue.in_vain.push(url));
                return Ok(());
            };
            bytes = blob.size() as u64;
            coming.push((Store::Outputs, name.to_owned(), blob.into()));
            coming.push(facts(&CachedOutput {
                key: name.to_owned(),
                url,
                bytes,
                kept: now,
                shown: now,
            }));
        }
        let others = copies(runner).await?;
        // Either may have become one while the output came.
        let favorites = runner.with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()));
        let is_favorite = favorites.iter().any(|favorite| favorite == name);
        let others = output_cache::without(others, &favorites);
        let names = match is_favorite {
            true => Some(Vec::new()),
            false => output_cache::make_room(&others, bytes, limit),
        };
        let Some(names) = names else {
            return Ok(());
        };
        for name in names {
            going.push((Store::Outputs, name.clone()));
            going.push((Store::OutputFacts, name));
        }
    }
    // The task may have been removed meanwhile: nothing of it must come back.
    if name.is_empty() || output(runner, name).is_some() {
        storage.change(&going, &coming).await?;
        runner.tell_of_copies();
    }
    Ok(())
}

/// The address of an output that a copy is to be made of, as it is and made safe. What carries its
/// bytes in its address needs no copy.
fn worth_keeping(runner: Runner, name: &str) -> Option<(String, SafeUrl)> {
    let url = output(runner, name)?;
    let is_in_vain = runner
        .inner
        .with_value(|inner| inner.cache_queue.in_vain.contains(&url));
    let address = runner.session.settings_untracked().address;
    let safe = SafeUrl::link(&url, address.as_str()).filter(|_| !is_in_vain)?;
    Some((url, safe))
}

/// The address of an output, by its name.
fn output(runner: Runner, name: &str) -> Option<String> {
    let (task, position) = output_cache::place(name)?;
    outputs(runner, &task).into_iter().nth(position)
}

fn outputs(runner: Runner, key: &TaskKey) -> Vec<String> {
    match runner.task(key).map(|task| task.get_untracked().state) {
        Some(TaskState::Ready { outputs, .. }) => outputs,
        _ => Vec::new(),
    }
}

/// Said once: the next would meet the same, and nothing but copies is lost.
fn refused(runner: Runner, error: &StorageError) {
    let was_refused = runner
        .inner
        .try_update_value(|inner| std::mem::replace(&mut inner.cache_queue.is_refused, true));
    if was_refused == Some(false) {
        runner.notices.problem(format!(
            "An output could not be kept: this browser {}. Tasks and their outputs at the service \
             are not touched.",
            error.reason()
        ));
    }
}

/// The copy of an output, if there is one.
pub async fn copy(runner: Runner, name: &str) -> Option<Blob> {
    let storage = runner.inner.with_value(|inner| inner.storage.clone())?;
    let blob = storage.get(Store::Outputs, name).await.ok()??;
    blob.dyn_into().ok()
}

/// What is known of all copies.
pub async fn copies(runner: Runner) -> Result<Vec<CachedOutput>, StorageError> {
    let Some(storage) = runner.inner.with_value(|inner| inner.storage.clone()) else {
        return Ok(Vec::new());
    };
    let texts = storage.all_texts(Store::OutputFacts).await?;
    Ok(texts.iter().filter_map(|text| read(text)).collect())
}

fn read(text: &str) -> Option<CachedOutput> {
    CachedOutput::from_value(json::read(text)?)
}

fn facts(copy: &CachedOutput) -> (Store, String, JsValue) {
    let text = copy.to_value().to_string();
    (
        Store::OutputFacts,
        copy.key.clone(),
        JsValue::from_str(&text),
    )
}
