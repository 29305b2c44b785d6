//! Settings and credentials are shared by all tabs: the tab that makes the calls uses what any tab saves.

use crate::studio::{Studio, TIMEOUT, run_until_settled};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Call, Fault, FaultProxy, RetryAfter, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use std::time::Duration;

const TOKEN: &str = "right-token";

/// Fills in these fields of Settings and saves them.
async fn save(browser: &Browser, fields: &[(&str, &str)]) -> Result<()> {
    show_settings(browser).await?;
    for (field, text) in fields {
        browser.fill(&by("textbox", field), text).await?;
    }
    browser.press(&by("button", "Save")).await?;
    browser.wait_for_text("Saved.", TIMEOUT).await
}

/// Opens Settings with the link in the page's navigation, since a message may contain a link of the same name.
async fn show_settings(browser: &Browser) -> Result<()> {
    browser.wait_until_started().await?;
    let navigation = browser.find(&by("navigation", "Main")).await?;
    browser
        .press(&by("link", "Settings").within(&navigation))
        .await?;
    browser.find(&by("heading", "Settings")).await?;
    Ok(())
}

async fn open_model(browser: &Browser) -> Result<()> {
    browser.press(&by("link", "Models")).await?;
    browser.press(&starting("link", "Tessera")).await?;
    browser.find(&by("button", "Generate")).await?;
    Ok(())
}

/// Guards against tasks that wait forever because the credentials stay in the tab where they were entered, while another
/// tab makes the calls.
#[tokio::test(flavor = "multi_thread")]
async fn credentials_entered_in_a_second_tab_reach_the_leader() {
    let name = "credentials_entered_in_a_second_tab_reach_the_leader";
    run_until_settled(name, &["--speed", "1", "--token", TOKEN], async |studio| {
        let browser = studio.browser;
        studio.open_model_tab().await?;
        save(browser, &[("User ID", "me"), ("Access token", TOKEN)]).await?;
        open_model(browser).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "from the second tab").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("from the second tab", "Completed")])
            .await
    })
    .await;
}

/// Guards against a corrected token that stays in the tab where it was entered.
#[tokio::test(flavor = "multi_thread")]
async fn the_leader_uses_a_token_corrected_in_a_second_tab() {
    let name = "the_leader_uses_a_token_corrected_in_a_second_tab";
    run_until_settled(name, &["--speed", "1", "--token", TOKEN], async |studio| {
        let browser = studio.browser;
        save(browser, &[("User ID", "me"), ("Access token", "wrong")]).await?;
        open_model(browser).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "refused").await?;
        studio.ledger.exempt_prompts.insert("refused".into());
        browser
            .wait_for_text("does not accept the credentials", TIMEOUT)
            .await?;

        studio.open_model_tab().await?;
        // Every tab shows why the leader sends nothing.
        browser
            .wait_for_text("does not accept the credentials", TIMEOUT)
            .await?;
        save(browser, &[("Access token", TOKEN)]).await?;
        open_model(browser).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "accepted").await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("accepted", "Completed")]).await
    })
    .await;
}

/// Guards against a following tab that does not show why nothing is sent, and whose `Try now` does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_shows_why_nothing_is_sent_and_can_retry() {
    let name = "a_follower_shows_why_nothing_is_sent_and_can_retry";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        studio.proxy.hide_idempotency_keys();
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        let follower = studio.open_model_tab().await?;
        studio.find_form().await?;
        browser.switch_to(&leader).await?;
        let garbage = Rule::every("/v2/generate*", Fault::NotJson);
        studio.proxy.add(garbage);
        // Each unusable response in a row makes the next wait longer, so the last wait is long.
        for prompt in ["unclear 1", "unclear 2", "unclear 3"] {
            studio.generate(&form, prompt).await?;
            studio.ledger.exempt_prompts.insert(prompt.into());
        }
        studio.generate(&form, "of the leader").await?;
        studio
            .sees("three submissions", |calls| {
                calls.iter().filter(|call| is_generate(call)).count() == 3
            })
            .await?;

        browser.switch_to(&follower).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "held back").await?;
        browser
            .wait_for_text("No usable answer from the service.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        browser.press(&by("button", "Try now")).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("of the leader", "Completed"), ("held back", "Completed")])
            .await
    })
    .await;
}

/// Guards against a queue that stays blocked after one 401 if no task runs whose status could be requested. Neither
/// `Try now` nor Generate made a call, although the service accepted the credentials again.
#[tokio::test(flavor = "multi_thread")]
async fn try_now_and_generate_retry_after_refused_credentials() {
    let name = "try_now_and_generate_retry_after_refused_credentials";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let refused = |path| {
            let fault = Fault::Status {
                status: 401,
                retry_after: None,
            };
            Rule::next(1, path, fault)
        };
        let count_polls =
            |calls: &[Call]| calls.iter().filter(|it| it.path == "/v2/status").count();
        let check = by("link", "Check them in Settings");

        // The refused poll is not made if the stream reports the end of the task before.
        studio.proxy.hide_events();
        let form = studio.open_model().await?;
        studio.proxy.add(refused("/v2/generate*"));
        studio.generate(&form, "refused").await?;
        studio.ledger.exempt_prompts.insert("refused".into());
        browser.find(&check).await?;
        studio.generate(&form, "by Generate").await?;
        browser.wait_until_gone(&check).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("by Generate", "Completed")])
            .await?;

        let form = studio.open_model().await?;
        studio.proxy.add(refused("/v2/generate*"));
        studio.generate(&form, "refused too").await?;
        studio.ledger.exempt_prompts.insert("refused too".into());
        browser.find(&check).await?;
        studio.proxy.add(refused("/v2/status"));
        let before = count_polls(&studio.proxy.calls());
        studio.generate(&form, "by Try now").await?;
        studio
            .sees("a poll", |calls| count_polls(calls) > before)
            .await?;
        browser.press(&by("button", "Try now")).await?;
        browser.wait_until_gone(&check).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("by Try now", "Completed")]).await
    })
    .await;
}

/// Guards against a new tab that takes over the token of another tab for another service.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_not_used_for_another_address() {
    let name = "a_token_is_not_used_for_another_address";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--token", TOKEN]).await?;
        let (x, y) = (
            FaultProxy::start(&service.address()).await?,
            FaultProxy::start(&service.address()).await?,
        );
        browser.open(&service.address()).await?;
        browser.find(&by("heading", "Models")).await?;
        let first = browser.client.window().await?;
        let fields = [
            ("Service address", x.address()),
            ("User ID", "me".to_owned()),
            ("Access token", TOKEN.to_owned()),
        ];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, t)| (*n, t.as_str())).collect();
        save(browser, &fields).await?;

        browser.open_tab(&service.address()).await?;
        save(browser, &[("Service address", &y.address())]).await?;

        browser.open_tab(&service.address()).await?;
        open_model(browser).await?;
        browser
            .fill(&starting("textbox", "prompt"), "whose token?")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Access token is not set yet.", TIMEOUT)
            .await?;
        show_settings(browser).await?;
        let token = browser.find(&by("textbox", "Access token")).await?;
        assert_eq!(token.prop("value").await?.as_deref(), Some(""));

        // The tab that has the token does not send it to the other address either.
        browser.switch_to(&first).await?;
        open_model(browser).await?;
        browser
            .fill(&starting("textbox", "prompt"), "nor here")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Access token is not set yet.", TIMEOUT)
            .await?;
        for call in y.calls() {
            assert!(
                call.authorization.is_none(),
                "a token was sent to the other address: {call:?}"
            );
        }
        Ok(())
    })
    .await;
}

/// Guards against tabs with different themes.
#[tokio::test(flavor = "multi_thread")]
async fn a_theme_chosen_in_one_tab_applies_to_all_tabs() {
    let name = "a_theme_chosen_in_one_tab_applies_to_all_tabs";
    drive(name, async |browser| {
        let service = Service::start_with_site(&[]).await?;
        browser.open(&service.address()).await?;
        browser.find(&by("heading", "Models")).await?;
        let first = browser.client.window().await?;
        browser.open_tab(&service.address()).await?;
        browser.press(&starting("button", "Theme: system")).await?;
        browser.find(&starting("button", "Theme: light")).await?;
        browser.switch_to(&first).await?;
        let soon = Duration::from_secs(20);
        browser
            .find_with_limit(&starting("button", "Theme: light"), soon)
            .await?;
        let theme = "return document.documentElement.dataset.theme";
        assert_eq!(browser.run(theme, vec![]).await?, "light");
        Ok(())
    })
    .await;
}

/// Guards against a task that waits without showing why.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_service_shows_that_it_waits_for_that_service() {
    let name = "a_task_of_another_service_shows_that_it_waits_for_that_service";
    run_until_settled(name, &["--speed", "1"], async |studio: &mut Studio<'_>| {
        let browser = studio.browser;
        studio.proxy.hide_idempotency_keys();
        let form = studio.open_model().await?;
        studio.proxy.add(Rule::every("/v2/generate*", Fault::Down));
        studio.generate(&form, "meets nobody").await?;
        studio.ledger.exempt_prompts.insert("meets nobody".into());
        // The next task is held back only once the first has received no response.
        browser.wait_for_text("Unconfirmed", TIMEOUT).await?;
        studio.generate(&form, "left behind").await?;
        browser
            .wait_for_text("No usable answer from the service.", TIMEOUT)
            .await?;
        let elsewhere = FaultProxy::start(&studio.service.address()).await?;
        save(browser, &[("Service address", &elsewhere.address())]).await?;
        studio.show_tasks().await?;
        browser.press(&by("link", "left behind")).await?;
        browser
            .wait_for_text("Waits until its service", TIMEOUT)
            .await?;
        studio.proxy.clear();
        // A space, since clearing the field without a key press fires no input event.
        save(browser, &[("Service address", " ")]).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("left behind", "Completed")])
            .await
    })
    .await;
}

/// Guards against an account that waits an hour for the rate limit of a token that it no longer uses, before and after a
/// reload.
#[tokio::test(flavor = "multi_thread")]
async fn the_rate_limit_of_a_replaced_token_does_not_apply() {
    let name = "the_rate_limit_of_a_replaced_token_does_not_apply";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        browser.open(&proxy.address()).await?;
        save(
            browser,
            &[("User ID", "me"), ("Access token", "of one plan")],
        )
        .await?;
        open_model(browser).await?;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(3_600)),
        };
        proxy.add(Rule::next(1, "/v2/generate", refusal));
        browser
            .fill(&starting("textbox", "prompt"), "patient")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;

        save(browser, &[("Access token", "of a larger plan")]).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&by("link", "patient")).await?;
        browser.find(&by("button", "Run again")).await?;
        assert_eq!(proxy.calls_to("/v2/generate").len(), 2);
        browser.reload().await?;
        browser.find(&by("button", "Run again")).await?;
        let waiting = "return document.body.innerText.includes('Rate-limited')";
        assert_eq!(browser.run(waiting, vec![]).await?, false);
        Ok(())
    })
    .await;
}
