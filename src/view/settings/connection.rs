use atelier_contract::ServiceAddress;
use leptos::prelude::*;

use super::account::AccountHint;
use super::connection_test::{self, Test};
use super::fields::SettingsFields;
use super::tick::Tick;
use crate::reactive::boxed::{derived, dynamic, effect, handler, memo, spawn, text, when};
use crate::state::contexts::contexts;

/// The fields of the connection: service address, User ID and access token.
pub fn connection(fields: SettingsFields) -> AnyView {
    let session = contexts().session;
    // Whether the service accepts guests is known only for the saved address, not for one that is being typed.
    let is_guest = when(move || {
        let typed = ServiceAddress::parse(&fields.address.read());
        session.is_guest() && typed.is_ok_and(|typed| typed == session.settings().address)
    });
    view! {
        <section class="form" aria-labelledby="connection-heading">
            <h2 id="connection-heading">"Connection"</h2>
            <p class="muted" hidden=when(move || !is_guest.get())>
                "No account needed. User ID and Access token may stay empty."
            </p>
            {address(fields)} {user_id(fields)} {token(fields)}
            <Tick
                id="remember"
                label="Remember on this device"
                checked=fields.remember
                on_change=move |()| fields.mark_changed()
            />
        </section>
    }
    .into_any()
}

fn address(fields: SettingsFields) -> AnyView {
    let SettingsFields {
        address,
        is_visited,
        ..
    } = fields;
    let problem = memo(move || {
        ServiceAddress::parse(&address.read())
            .err()
            .filter(|_| is_visited.get())
    });
    view! {
        <div class="field" class:wrong=when(move || problem.read().is_some())>
            <label class="label" for="address">
                "Service address"
            </label>
            <input
                id="address"
                type="text"
                inputmode="url"
                autocomplete="url"
                spellcheck="false"
                placeholder="this page's address"
                aria-describedby="address-hint address-problem"
                aria-invalid=derived(move || problem.read().is_some().then(|| "true".to_owned()))
                prop:value=address
                on:input=handler(move |event| {
                    address.set(event_target_value(&event));
                    fields.mark_changed();
                })
                on:blur=handler(move |_| is_visited.set(true))
            />
            <p class="hint" id="address-hint">
                "Leave it empty if the service and this page have the same address."
            </p>
            <p class="problem" id="address-problem" prop:textContent=text(move || problem.get().unwrap_or_default())></p>
        </div>
    }
    .into_any()
}

fn user_id(fields: SettingsFields) -> AnyView {
    view! {
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
                prop:value=fields.uid
                on:input=handler(move |event| {
                    fields.uid.set(event_target_value(&event));
                    fields.mark_changed();
                })
            />
            <AccountHint />
        </div>
    }
    .into_any()
}

fn token(fields: SettingsFields) -> AnyView {
    view! {
        <div class="field">
            <label class="label" for="token">
                "Access token"
            </label>
            <input
                id="token"
                type="password"
                autocomplete="off"
                aria-describedby="token-hint"
                prop:value=fields.token
                on:input=handler(move |event| {
                    fields.token.set(event_target_value(&event));
                    fields.is_token_typed.set(true);
                    fields.mark_changed();
                })
            />
            <p class="hint" id="token-hint">
                "Sent only to the service address. Kept until this tab is closed, unless you tick the box below."
            </p>
        </div>
    }
    .into_any()
}

/// The button that tests the connection with the values in the fields, saved or not, and the result.
pub fn test(fields: SettingsFields) -> AnyView {
    let (session, runner) = (contexts().session, contexts().runner);
    let test = RwSignal::new(None::<Test>);
    // The result is shown only as long as the fields have the values that were tested.
    let now = move || [fields.address, fields.uid, fields.token].map(|field| field.get());
    let tested = StoredValue::new(None);
    let runs = StoredValue::new(0);
    // False if the fields have changed or another test of the same values was started.
    let is_tested = move |run: usize| {
        let tested = tested.try_get_value().flatten();
        tested.is_some_and(|tested| tested == untrack(now) && runs.get_value() == run)
    };
    effect(move || {
        if tested.get_value() != Some(now()) {
            test.set(None);
        }
    });
    let run = move |_| {
        let Some((settings, token)) = fields.settings() else {
            return;
        };
        tested.set_value(Some(untrack(now)));
        runs.update_value(|runs| *runs += 1);
        let run = runs.get_value();
        test.set(Some(Test::Running));
        let is_saved =
            settings == session.settings_untracked() && token == session.token_untracked();
        spawn(async move {
            let on_account = move |account| {
                if is_tested(run) {
                    fields.fill_user_id(account);
                    tested.set_value(Some(untrack(now)));
                }
            };
            let result = connection_test::run(session, settings, token, on_account).await;
            if is_saved && result.is_ok() {
                runner.credentials_accepted();
            }
            if is_tested(run) {
                test.set(Some(Test::Done(result)));
            }
        });
    };
    view! {
        <button class="button" type="button" on:click=handler(run)>
            "Test connection"
        </button>
        <div role="status" class="test-result">
            {dynamic(move || test.get().map(Test::into_view).into_any())}
        </div>
    }
    .into_any()
}
