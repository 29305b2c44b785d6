//! Settings and credentials, which all tabs share: what one saves, the one that makes the calls has.

use crate::studio::{Studio, TIMEOUT, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Call, Fault, FaultProxy, RetryAfter, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use std::time::Duration;

const TOKEN: &str = "right-token";

/// Fills in what is given and saves it.
async fn save(browser: &Browser, fields: &[(&str, &str)]) -> Result<()> {
    show_settings(browser).await?;
    for (field, text) in fields {
        browser.fill(&by("textbox", field), text).await?;
    }
    browser.press(&by("button", "Save")).await?;
    browser.see_text("Saved.", TIMEOUT).await
}

/// By the page's navigation: a message may have a link of the same name.
async fn show_settings(browser: &Browser) -> Result<()> {
    browser.is_at_work().await?;
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

/// Guards against credentials that stay in the tab where they were entered, while another one makes
/// the calls: tasks waited for ever.
#[tokio::test(flavor = "multi_thread")]
async fn credentials_entered_in_a_second_tab_reach_the_one_that_leads() {
    let name = "credentials_entered_in_a_second_tab";
    play(name, &["--speed", "1", "--token", TOKEN], async |studio| {
        let browser = studio.browser;
        studio.open_model_tab().await?;
        save(browser, &[("User ID", "me"), ("Access token", TOKEN)]).await?;
        open_model(browser).await?;
        let form = studio.form().await?;
        studio.generate(&form, "from the second tab").await?;
        studio.show_tasks().await?;
        studio.see(&[("from the second tab", "Completed")]).await
    })
    .await;
}

/// The same with a token that was wrong at first and is corrected in the second tab.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_corrected_in_a_second_tab_is_used_by_the_one_that_leads() {
    let name = "a_token_corrected_in_a_second_tab";
    play(name, &["--speed", "1", "--token", TOKEN], async |studio| {
        let browser = studio.browser;
        save(browser, &[("User ID", "me"), ("Access token", "wrong")]).await?;
        open_model(browser).await?;
        let form = studio.form().await?;
        studio.generate(&form, "refused").await?;
        studio.ledger.given_up.insert("refused".into());
        browser
            .see_text("does not accept the credentials", TIMEOUT)
            .await?;

        studio.open_model_tab().await?;
        // What holds the leader back is said in every tab.
        browser
            .see_text("does not accept the credentials", TIMEOUT)
            .await?;
        save(browser, &[("Access token", TOKEN)]).await?;
        open_model(browser).await?;
        let form = studio.form().await?;
        studio.generate(&form, "accepted").await?;
        studio.show_tasks().await?;
        studio.see(&[("accepted", "Completed")]).await
    })
    .await;
}

/// Guards against a follower that does not know why nothing is sent, and whose `Try now` does
/// nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_says_what_holds_sending_back_and_can_try_again() {
    let name = "a_follower_says_what_holds_sending_back";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        studio.proxy.hide_keys();
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        let follower = studio.open_model_tab().await?;
        studio.form().await?;
        browser.switch_to(&leader).await?;
        let garbage = Rule::every("/v2/generate*", Fault::NotJson);
        studio.proxy.add(garbage);
        // Each of them is one more answer in a row that says nothing: the last wait is a long one.
        for prompt in ["unclear 1", "unclear 2", "unclear 3"] {
            studio.generate(&form, prompt).await?;
            studio.ledger.given_up.insert(prompt.into());
        }
        studio.generate(&form, "of the leader").await?;
        studio
            .sees("three submissions", |calls| {
                calls.iter().filter(|call| is_generate(call)).count() == 3
            })
            .await?;

        browser.switch_to(&follower).await?;
        let form = studio.form().await?;
        studio.generate(&form, "held back").await?;
        browser
            .see_text("No usable answer from the service.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        browser.press(&by("button", "Try now")).await?;
        studio.show_tasks().await?;
        studio
            .see(&[("of the leader", "Completed"), ("held back", "Completed")])
            .await
    })
    .await;
}

/// Guards against a queue that waits for good after one 401, where no task runs that could be asked about: neither
/// `Try now` nor Generate made a call, and the service had let all clients in again long before.
#[tokio::test(flavor = "multi_thread")]
async fn one_refusal_ends_with_a_press() {
    let name = "one_refusal_ends_with_a_press";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let refused = |path| {
            let fault = Fault::Status {
                status: 401,
                retry_after: None,
            };
            Rule::next(1, path, fault)
        };
        let questions = |calls: &[Call]| calls.iter().filter(|it| it.path == "/v2/status").count();
        let check = by("link", "Check them in Settings");

        let form = studio.open_model().await?;
        studio.proxy.add(refused("/v2/generate*"));
        studio.generate(&form, "refused").await?;
        studio.ledger.given_up.insert("refused".into());
        browser.find(&check).await?;
        studio.generate(&form, "by Generate").await?;
        browser.find_gone(&check).await?;
        studio.show_tasks().await?;
        studio.see(&[("by Generate", "Completed")]).await?;

        let form = studio.open_model().await?;
        studio.proxy.add(refused("/v2/generate*"));
        studio.generate(&form, "refused too").await?;
        studio.ledger.given_up.insert("refused too".into());
        browser.find(&check).await?;
        studio.proxy.add(refused("/v2/status"));
        let before = questions(&studio.proxy.calls());
        studio.generate(&form, "by Try now").await?;
        studio
            .sees("a question", |calls| questions(calls) > before)
            .await?;
        browser.press(&by("button", "Try now")).await?;
        browser.find_gone(&check).await?;
        studio.show_tasks().await?;
        studio.see(&[("by Try now", "Completed")]).await
    })
    .await;
}

/// Guards against a token that a new tab takes from one that has it for another service.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_not_borrowed_for_another_address() {
    let name = "a_token_is_not_borrowed_for_another_address";
    drive(name, async |browser| {
        let service = Service::with_site(&["--token", TOKEN]).await?;
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
            .see_text("Access token is not set yet.", TIMEOUT)
            .await?;
        show_settings(browser).await?;
        let token = browser.find(&by("textbox", "Access token")).await?;
        assert_eq!(token.prop("value").await?.as_deref(), Some(""));

        // Nor does the tab that has it send it there.
        browser.switch_to(&first).await?;
        open_model(browser).await?;
        browser
            .fill(&starting("textbox", "prompt"), "nor here")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .see_text("Access token is not set yet.", TIMEOUT)
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

/// Guards against tabs of one person that look different.
#[tokio::test(flavor = "multi_thread")]
async fn the_theme_is_that_of_all_tabs() {
    drive("the_theme_is_that_of_all_tabs", async |browser| {
        let service = Service::with_site(&[]).await?;
        browser.open(&service.address()).await?;
        browser.find(&by("heading", "Models")).await?;
        let first = browser.client.window().await?;
        browser.open_tab(&service.address()).await?;
        browser.press(&starting("button", "Theme: system")).await?;
        browser.find(&starting("button", "Theme: light")).await?;
        browser.switch_to(&first).await?;
        let soon = Duration::from_secs(20);
        browser
            .find_for(&starting("button", "Theme: light"), soon)
            .await?;
        let theme = "return document.documentElement.dataset.theme";
        assert_eq!(browser.run(theme, vec![]).await?, "light");
        Ok(())
    })
    .await;
}

/// Guards against a task that waits and does not say for what.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_service_says_that_it_waits_for_it() {
    let name = "a_task_of_another_service_says_that_it_waits_for_it";
    play(name, &["--speed", "1"], async |studio: &mut Studio<'_>| {
        let browser = studio.browser;
        studio.proxy.hide_keys();
        let form = studio.open_model().await?;
        studio.proxy.add(Rule::every("/v2/generate*", Fault::Down));
        studio.generate(&form, "meets nobody").await?;
        studio.ledger.given_up.insert("meets nobody".into());
        // The next one waits only once it is known that there is no answer.
        browser.see_text("Unconfirmed", TIMEOUT).await?;
        studio.generate(&form, "left behind").await?;
        browser
            .see_text("No usable answer from the service.", TIMEOUT)
            .await?;
        let elsewhere = FaultProxy::start(&studio.service.address()).await?;
        save(browser, &[("Service address", &elsewhere.address())]).await?;
        studio.show_tasks().await?;
        browser.press(&by("link", "left behind")).await?;
        browser
            .see_text("Waits until Settings name its service again", TIMEOUT)
            .await?;
        studio.proxy.clear();
        // A space: an empty field without a key pressed is no input.
        save(browser, &[("Service address", " ")]).await?;
        studio.show_tasks().await?;
        studio.see(&[("left behind", "Completed")]).await
    })
    .await;
}

/// Guards against an account that waits for an hour because of the limit of a token that it no longer uses, here and
/// after a reload.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_the_token_before_holds_nothing_up() {
    drive("a_limit_of_the_token_before", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
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
            .see_text("Rate-limited, next try in ", TIMEOUT)
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
