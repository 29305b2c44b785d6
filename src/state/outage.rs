//! Uses cached replies while the service is unavailable, and requests everything again once it responds.

use atelier_contract::{ApiError, ModelId, path};
use atelier_engine::outage::notice;
use atelier_engine::{BlockReason, Idempotency};
use atelier_studio::navigation::route::Route;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::browser::lifecycle;
use crate::reactive::boxed::{after, effect, memo, spawn};
use crate::state::cached_models;
use crate::state::catalog::{FIRST_RETRY_MS, LONGEST_RETRY_MS, Load};
use crate::state::contexts::Contexts;

/// Returns the message above every page while the service does not respond; tracked.
pub fn message(contexts: Contexts) -> Option<String> {
    let (catalog, session, runner) = (contexts.catalog, contexts.session, contexts.runner);
    let block_reason = runner.block_reason();
    if block_reason.is_none() && session.idempotency() != Idempotency::Unreachable {
        return None;
    }
    let error = match catalog.models() {
        Load::Failed(error) => Some(error),
        _ => catalog.models_as_of().and_then(|as_of| as_of.outage),
    };
    notice(block_reason.as_ref(), error.as_ref())
}

/// Returns whether the open page shows the outage itself, because its content could not be loaded; tracked.
pub fn is_shown_by_page(contexts: Contexts) -> bool {
    let catalog = contexts.catalog;
    match contexts.navigation.route() {
        Route::Models => catalog.models().loaded().is_none(),
        Route::Model(model) => catalog.schema(&model).loaded().is_none(),
        _ => false,
    }
}

/// Follows the state of the service, as long as the page is open.
pub fn follow(contexts: Contexts) {
    let (catalog, session, runner) = (contexts.catalog, contexts.session, contexts.runner);
    let was_missing = StoredValue::new(false);
    effect(move || {
        let as_of = catalog.models_as_of();
        let models = catalog.models();
        let error = match &models {
            Load::Failed(error) => Some(error),
            _ => as_of.as_ref().and_then(|as_of| as_of.outage.as_ref()),
        };
        if error.is_some_and(ApiError::is_unreachable) {
            // The leader may not have noticed the outage yet, and would continue to send tasks.
            runner.report_unreachable();
        }
        match &models {
            Load::Loaded(_) if as_of.is_none() => {
                if let Some(body) = catalog.take_body() {
                    let address = session.settings_untracked().address;
                    cached_models::store(address.url(path::MODELS), body);
                }
                if was_missing.get_value() {
                    was_missing.set_value(false);
                    catalog.reload_missing_schemas();
                    // Other calls that wait for the service, such as the next poll, are made now.
                    runner.wake();
                }
            }
            Load::Loaded(_) => was_missing.set_value(true),
            Load::Failed(error) => {
                was_missing.set_value(true);
                if error.is_outage() && !untrack(|| catalog.has_looked()) {
                    let address = session.settings_untracked().address;
                    spawn(async move {
                        let cached = cached_models::models(&address.url(path::MODELS)).await;
                        catalog.use_cached_models(&address, cached);
                    });
                }
            }
            Load::Loading => {}
        }
    });
    // The leader may be another tab, whose retries have become less frequent.
    let block_reason = memo(move || runner.block_reason());
    effect(move || {
        let is_available = catalog.models_as_of().is_none() && catalog.models().loaded().is_some();
        if is_available && *block_reason.read() == Some(BlockReason::Unreachable) {
            runner.wake();
        }
    });
    let mut is_first = true;
    effect(move || {
        if session.track_checks() {
            catalog.suspect_outage();
        }
        if !std::mem::take(&mut is_first) {
            catalog.ask_again();
        }
    });
    lifecycle::on_change(move || {
        // While the list is unavailable, schemas are unavailable too.
        if untrack(|| catalog.models_as_of()).is_none() {
            catalog.reload_missing_schemas();
        }
    });
}

/// Requests the schema of a model again, at increasing intervals, until the current schema is loaded or the owner is
/// cleaned up. If the service was unreachable, tasks are sent once the schema arrives, before the list of models does.
pub fn retry_schema(contexts: Contexts, model: ModelId) {
    let (catalog, runner) = (contexts.catalog, contexts.runner);
    let timer = StoredValue::new_local(None::<Timeout>);
    let failures = StoredValue::new(0);
    effect(move || {
        let is_missing = match catalog.schema(&model) {
            Load::Failed(error) => error.is_retryable(),
            _ => catalog.schema_as_of(&model).is_some(),
        };
        let is_back = !is_missing && failures.get_value() > 0;
        if is_back && untrack(|| runner.block_reason()) == Some(BlockReason::Unreachable) {
            runner.wake();
        }
        let retry = is_missing.then(|| {
            let wait = (FIRST_RETRY_MS << failures.get_value()).min(LONGEST_RETRY_MS);
            let model = model.clone();
            after(wait, move || catalog.reload_schema(&model))
        });
        failures.update_value(|failures| {
            *failures = if is_missing {
                (*failures + 1).min(4)
            } else {
                0
            }
        });
        timer.set_value(retry);
    });
}
