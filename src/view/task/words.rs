//! Texts about the state of a task: what happened, whether anything was lost or may have been billed, and what to do next.

use atelier_contract::ApiError;
use atelier_contract::output::OutputKind;
use atelier_engine::{Task, TaskState};
use atelier_studio::form::{refused_input, seed};
use leptos::prelude::*;

use crate::browser::location;
use crate::view::parts::settings_link::with_settings_link;

/// Returns the accessible name of a task among others: model and prompt, and the seed of a variation.
pub fn name(task: &Task) -> String {
    match seed::variation_label(task) {
        Some(seed) => format!("{}, {seed}", start(task)),
        None => start(task),
    }
}

/// Returns the accessible name of an output: its kind, its prompt or else its model, and the seed of a variation.
pub fn output(task: &Task, kind: OutputKind) -> String {
    let title = match task.input.title() {
        "" => &task.model_name,
        title => title,
    };
    let kind = kind.label();
    match seed::variation_label(task) {
        Some(seed) => format!("{kind}: {title}, {seed}"),
        None => format!("{kind}: {title}"),
    }
}

/// Returns the model and the start of the prompt.
pub fn start(task: &Task) -> String {
    const MAX: usize = 60;
    let title = task.input.title();
    if title.is_empty() {
        return task.model_name.clone();
    }
    let start: String = title.chars().take(MAX).collect();
    let more = if title.chars().count() > MAX {
        "…"
    } else {
        ""
    };
    format!("{}: {start}{more}", task.model_name)
}

/// The explanation of a state: what happened, and what it means.
pub struct Explanation {
    pub what: String,
    pub meaning: &'static str,
}

/// Explains a state other than under way or completed.
pub fn explain(task: &Task) -> Option<Explanation> {
    Some(match &task.state {
        TaskState::Unconfirmed { error } => Explanation {
            what: why_unconfirmed(task)?,
            meaning: meaning_of_unconfirmed(error),
        },
        TaskState::Failed { message, .. } if task.state.is_output_refused() => Explanation {
            what: message.clone(),
            meaning: "Ask again requests the output again at no cost. A retry is billed as a new run. Your \
                      input is kept.",
        },
        TaskState::Failed {
            id: Some(_),
            message,
        } => Explanation {
            what: or_no_reason(message),
            meaning: "Failed runs may still be billed. Your input is kept: retry it as it is, or edit it \
                      first.",
        },
        TaskState::Failed { id: None, message } if refused_input::is_refused(task) => Explanation {
            what: or_no_reason(message),
            meaning: "Nothing was generated or billed. Your input is kept: edit it first, or it will be refused again.",
        },
        TaskState::Failed { id: None, message } if ApiError::is_about_credentials(message) => {
            Explanation {
                what: or_no_reason(message),
                meaning: "Nothing was generated or billed. Your input is kept: correct the credentials, then retry it.",
            }
        }
        TaskState::Failed { id: None, message } if ApiError::is_about_credits(message) => {
            Explanation {
                what: or_no_reason(message),
                meaning: "Nothing was generated or billed: your account has too few credits. Add some at the service, \
                      then retry. Your input is kept as it is.",
            }
        }
        TaskState::Failed { id: None, message } if task.is_unsent() => Explanation {
            what: message.clone(),
            meaning: "Nothing was generated or billed. Your other inputs are kept: Retry asks for it again.",
        },
        TaskState::Failed { id: None, message } => Explanation {
            what: or_no_reason(message),
            meaning: "The service did not accept the request, so nothing was generated or billed. Your input is \
                      kept: retry it as it is, or edit it first.",
        },
        TaskState::Canceled { .. } => Explanation {
            what: "The task was canceled before it was completed.".into(),
            meaning: "The service may still bill it, for example for the time until then. Your input is kept: retry it as \
                      it is, or edit it first.",
        },
        TaskState::Gone { .. } => Explanation {
            what: "The service no longer knows this task.".into(),
            meaning: "Its outputs can't be fetched. If this may be a mistake, ask again. Your input \
                      is kept; a retry is billed as a new run.",
        },
        TaskState::Queued
        | TaskState::Submitting
        | TaskState::Running { .. }
        | TaskState::Fetching { .. }
        | TaskState::Ready { .. } => return None,
    })
}

/// Shows what happened, with a link to Settings where Atelier's own text mentions them. The text of a service gets no link.
pub fn linked(task: &Task, what: String) -> AnyView {
    let is_own_text = match &task.state {
        TaskState::Failed { message, .. } => ApiError::is_about_credentials(message),
        _ => true,
    };
    match is_own_text {
        true => with_settings_link(Signal::stored(what)),
        false => view! { <span prop:textContent=what></span> }.into_any(),
    }
}

/// Returns why the outcome of a submission is unknown: the reply of the service, or that it did not reply.
pub fn why_unconfirmed(task: &Task) -> Option<String> {
    let TaskState::Unconfirmed { error } = &task.state else {
        return None;
    };
    Some(task.account.user_message(error, &location::origin()))
}

/// Returns what an unknown outcome means for the user.
fn meaning_of_unconfirmed(error: &ApiError) -> &'static str {
    if error.was_certainly_not_accepted() {
        "This is its answer to the repeated request. It may have accepted and billed the first one; no task id came back. Check \
         your usage in the service's dashboard. Resubmit sends it again, Dismiss removes it here."
    } else if matches!(error, ApiError::Network { detail } if detail == ApiError::PAGE_CLOSED) {
        "If Atelier is open in another tab, look there first: that tab may be asleep and have the answer. Otherwise the service \
         may have accepted and billed the request; no task id came back. Check your usage in the service's dashboard. Resubmit \
         sends it again, Dismiss removes it here."
    } else if error.is_conflict() {
        "It answers a repeated request like this, so it may have accepted and billed this one before; no task id came back. \
         Check your usage in the service's dashboard. Resubmit sends it again, Dismiss removes it here."
    } else {
        "The request may have reached the service, and may have been billed; no task id of its own came back. Check your usage \
         in the service's dashboard. Resubmit sends it again, Dismiss removes it here."
    }
}

fn or_no_reason(message: &str) -> String {
    match message.trim() {
        "" => "The service gave no reason.".into(),
        message => message.into(),
    }
}
