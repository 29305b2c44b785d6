mod account;
mod history;
mod offline;
mod output_cache;

use crate::contexts::contexts;
use atelier_contract::{ApiError, ServiceAddress, TaskId, TaskRequest, path};
use atelier_engine::account_status::user_message;
use leptos::prelude::*;

use crate::boxed::{derived, dynamic, effect, handler, memo, spawn, text, when};
use crate::browser::{http, notify};
use crate::session::{Session, Settings};

/// `/settings`: where the service is and who asks.
#[component]
pub fn SettingsPage() -> impl IntoView {
    let session = contexts().session;
    let notices = contexts().notices;
    let runner = contexts().runner;
    let now = session.settings_untracked();
    let address = RwSignal::new(now.address.to_string());
    let uid = RwSignal::new(now.uid.clone());
    let token = RwSignal::new(session.token_untracked());
    let is_token_typed = RwSignal::new(false);
    let remember = RwSignal::new(now.remember);
    let send_defaults = RwSignal::new(now.send_defaults);
    let wants_notices = RwSignal::new(now.notify);
    let keep = RwSignal::new(now.keep);
    let keep_limit = RwSignal::new(now.keep_limit);
    let visited = RwSignal::new(false);
    // What another tab saves shows here, but for what is being changed here.
    let mut before = now;
    effect(move || {
        let saved = session.settings();
        // A token that is being typed is for what stands above it.
        if !is_token_typed.get_untracked() {
            let (from, to) = (before.address.to_string(), saved.address.to_string());
            follow(address, from, to);
            follow(uid, before.uid.clone(), saved.uid.clone());
        }
        follow(remember, before.remember, saved.remember);
        follow(send_defaults, before.send_defaults, saved.send_defaults);
        follow(wants_notices, before.notify, saved.notify);
        follow(keep, before.keep, saved.keep);
        follow(keep_limit, before.keep_limit, saved.keep_limit);
        before = saved;
    });
    // A token is for one service and one User ID: with others named, it is not theirs.
    effect(move || {
        let uid = uid.read().trim().to_owned();
        let known = ServiceAddress::parse(&address.read())
            .ok()
            .and_then(|address| {
                session.token_of(&Settings {
                    address,
                    uid,
                    ..session.settings()
                })
            });
        let known = known.unwrap_or_default();
        if !is_token_typed.get_untracked() && token.get_untracked() != known {
            token.set(known);
        }
    });
    let address_problem = memo(move || {
        ServiceAddress::parse(&address.read())
            .err()
            .filter(|_| visited.get())
    });
    let saved = RwSignal::new(false);
    let entered = move || {
        visited.set(true);
        let settings = Settings {
            address: ServiceAddress::parse(&address.read_untracked()).ok()?,
            uid: uid.read_untracked().trim().to_owned(),
            remember: remember.get_untracked(),
            send_defaults: send_defaults.get_untracked(),
            notify: wants_notices.get_untracked(),
            keep: keep.get_untracked(),
            keep_limit: keep_limit.get_untracked(),
            ..session.settings_untracked()
        };
        Some((settings, token.read_untracked().trim().to_owned()))
    };
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some((settings, token)) = entered() else {
            return;
        };
        address.set(settings.address.to_string());
        let is_entered = is_token_typed.get_untracked();
        is_token_typed.set(false);
        if session.save(settings, token, is_entered) {
            saved.set(true);
        } else {
            notices.problem(
                "This browser refuses to keep settings; they hold until this tab is closed.",
            );
        }
        runner.shown(String::new());
    };
    let unsave = move |()| saved.set(false);
    // Who pastes a token alone need not know by which name the service knows them.
    let name = move |account: String| {
        if uid.read_untracked().trim().is_empty() {
            is_token_typed.set(true);
            uid.try_set(account);
            unsave(());
        }
    };
    let test = RwSignal::new(None::<Test>);
    let run_test = move |_| {
        let Some((settings, token)) = entered() else {
            return;
        };
        test.set(Some(Test::Running));
        let is_saved =
            settings == session.settings_untracked() && token == session.token_untracked();
        spawn(async move {
            let result = test_connection(session, settings, token, name).await;
            if is_saved && result.is_ok() {
                runner.credentials_accepted();
            }
            test.try_set(Some(Test::Done(result)));
        });
    };
    let ask = move |event| {
        let wanted = event_target_checked(&event);
        wants_notices.set(wanted);
        unsave(());
        if wanted {
            spawn(async move {
                if !notify::ask().await {
                    wants_notices.try_set(false);
                    notices.problem("The browser does not allow notifications for this page.");
                }
            });
        }
    };
    view! {
        <div class="page narrow">
            <h1>"Settings"</h1>
            <form class="panel form" aria-label="Settings" novalidate on:submit=handler(save)>
                <p class="muted" hidden=when(move || !session.is_guest())>
                    "No account needed. User ID and Access token may stay empty."
                </p>
                <div class="field" class:wrong=when(move || address_problem.read().is_some())>
                    <label class="label" for="address">
                        "Service address"
                    </label>
                    <input
                        id="address"
                        type="text"
                        inputmode="url"
                        autocomplete="url"
                        spellcheck="false"
                        placeholder="the address that served this page"
                        aria-describedby="address-hint address-problem"
                        aria-invalid=derived(move || {
                            address_problem.read().is_some().then(|| "true".to_owned())
                        })
                        prop:value=address
                        on:input=handler(move |event| {
                            address.set(event_target_value(&event));
                            unsave(());
                        })
                        on:blur=handler(move |_| visited.set(true))
                    />
                    <p class="hint" id="address-hint">
                        "Empty: the service is behind the same address as this page."
                    </p>
                    <p class="problem" id="address-problem">
                        {text(move || address_problem.get().unwrap_or_default())}
                    </p>
                </div>
                <div class="field">
                    <label class="label" for="uid">
                        "User ID"
                    </label>
                    <input
                        id="uid"
                        type="text"
                        autocomplete="username"
                        spellcheck="false"
                        aria-describedby="uid-hint"
                        prop:value=uid
                        on:input=handler(move |event| {
                            uid.set(event_target_value(&event));
                            unsave(());
                        })
                    />
                    <account::AccountHint />
                </div>
                <div class="field">
                    <label class="label" for="token">
                        "Access token"
                    </label>
                    <input
                        id="token"
                        type="password"
                        autocomplete="off"
                        aria-describedby="token-hint"
                        prop:value=token
                        on:input=handler(move |event| {
                            token.set(event_target_value(&event));
                            is_token_typed.set(true);
                            unsave(());
                        })
                    />
                    <p class="hint" id="token-hint">
                        "Sent to the service address alone. Kept until this tab is closed, unless you tick the box below."
                    </p>
                </div>
                <Tick id="remember" label="Remember on this device" checked=remember on_change=unsave />
                <hr />
                <div class="field">
                    <Tick
                        id="send-defaults"
                        label="Always send every setting"
                        checked=send_defaults
                        on_change=unsave
                    />
                    <p class="hint">
                        "Otherwise settings that you leave alone are left to the service's defaults."
                    </p>
                </div>
                <div class="tick">
                    <input
                        id="notify"
                        type="checkbox"
                        prop:checked=wants_notices
                        on:change=handler(ask)
                    />
                    <label for="notify">"Notify me when a task ends while this page is hidden"</label>
                </div>
                <hr />
                <output_cache::OutputCacheSettings keep keep_limit on_change=unsave />
                <div class="form-foot">
                    <button class="button primary" type="submit">
                        "Save"
                    </button>
                    <button class="button" type="button" on:click=handler(run_test)>
                        "Test connection"
                    </button>
                    <span role="status">
                        {text(move || if saved.get() { "Saved.".into() } else { String::new() })}
                    </span>
                </div>
                <div role="status" class="test-result">
                    {dynamic(move || test.get().map(Test::into_view).into_any())}
                </div>
            </form>
            <history::HistoryFile />
            <offline::Offline />
        </div>
    }
}

/// Sets a field to what is saved now, unless it was changed since it showed what was saved before.
fn follow<T: PartialEq + Send + Sync + 'static>(field: RwSignal<T>, before: T, saved: T) {
    if before != saved && *field.read_untracked() == before {
        field.set(saved);
    }
}

#[component]
fn Tick(
    id: &'static str,
    label: &'static str,
    checked: RwSignal<bool>,
    #[prop(into)] on_change: Callback<()>,
) -> AnyView {
    view! {
        <div class="tick">
            <input
                id=id
                type="checkbox"
                prop:checked=checked
                on:change=handler(move |event| {
                    checked.set(event_target_checked(&event));
                    on_change.run(());
                })
            />
            <label for=id>{label}</label>
        </div>
    }
    .into_any()
}

#[derive(Clone)]
enum Test {
    Running,
    Done(Result<String, String>),
}

impl Test {
    fn into_view(self) -> AnyView {
        match self {
            Test::Running => view! { <p class="muted">"Asking the service…"</p> }.into_any(),
            Test::Done(Ok(text)) => view! { <p class="good">{text}</p> }.into_any(),
            Test::Done(Err(text)) => view! { <p class="problem">{text}</p> }.into_any(),
        }
    }
}

/// Asks for the models, then whose the token is. A service without accounts is asked for the status
/// of a task that cannot exist: one that knows the credentials says that it does not know the task.
/// Nothing is generated. `name` is told the account.
async fn test_connection(
    session: Session,
    settings: Settings,
    token: String,
    name: impl Fn(String),
) -> Result<String, String> {
    let address = &settings.address;
    let list = http::get_models(&address.url(path::MODELS))
        .await
        .map_err(|error| error.user_message())?;
    let found = format!("The service answers and lists {} models", list.models.len());
    let credentials = if settings.uid.is_empty() && token.is_empty() && list.guest.is_some() {
        session.set_guest(address.clone(), list.guest.clone());
        return Ok(format!("{found}; you are its guest."));
    } else if list.has_accounts && !token.is_empty() {
        return test_account(&settings, token, &found, name).await;
    } else if settings.uid.is_empty() || token.is_empty() {
        return Err(format!(
            "{found}, but User ID and Access token are needed to generate."
        ));
    } else {
        atelier_contract::Credentials::new(settings.uid.clone(), token)
    };
    let Some(model) = list.models.first() else {
        return Ok(format!("{found}."));
    };
    let request = TaskRequest {
        id: &TaskId("connection-test".into()),
        uid: &credentials.uid,
        model: &model.id,
    };
    match http::post_json(
        &address.url(path::STATUS),
        &request.to_body(),
        &credentials,
        None,
    )
    .await
    {
        Err(error @ (ApiError::Unauthorized { .. } | ApiError::Network { .. })) => {
            Err(format!("{found}, but: {}", error.user_message()))
        }
        Ok(_)
        | Err(ApiError::NotFound { .. } | ApiError::Invalid { .. } | ApiError::Refused { .. }) => {
            Ok(format!("{found}. The credentials were accepted."))
        }
        Err(error) => Ok(format!(
            "{found}. The credentials could not be checked: {}",
            error.user_message()
        )),
    }
}

/// Whether the token is of the account that the User ID names.
async fn test_account(
    settings: &Settings,
    token: String,
    found: &str,
    name: impl Fn(String),
) -> Result<String, String> {
    let credentials = atelier_contract::Credentials::new(settings.uid.clone(), token);
    let status = account::ask(&settings.address, &credentials)
        .await
        .map_err(|error| format!("{found}, but: {}", error.user_message()))?;
    let (uid, account) = (&settings.uid, &status.uid);
    if !uid.is_empty() && uid != account {
        return Err(format!(
            "{found}, but the token is of the account {account}, not of {uid}. User ID is to be {account}."
        ));
    }
    name(account.clone());
    Ok(format!("{found}. {}", user_message(&status)))
}
