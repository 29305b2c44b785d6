//! Tests of an outage of the service: cached models and forms are shown with their date, tasks are queued, and
//! everything resumes by itself when the service answers.

mod refused;
mod waiting;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::received_refusals;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, MODEL_NAME, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::Value;
use std::time::Duration;

use waiting::advance_past_probe;

/// The message on every page during an outage.
const OUTAGE: &str = "The service can't be reached.";

const TOKEN: &str = "right-token";

/// Returns the paths of the cached responses about models. Does not create the database.
const CACHED: &str = "
    return indexedDB.databases().then(all => all.some(it => it.name === 'atelier-models') && new Promise(done => {
        indexedDB.open('atelier-models').onsuccess = ({ target: { result } }) => {
            result.transaction('replies').objectStore('replies').getAllKeys().onsuccess = ({ target }) => {
                result.close();
                done(target.result);
            };
        };
    }))";

/// Returns whether the service worker is active, so that the page opens without its host.
const IS_OFFLINE_READY: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        it?.active?.state === 'activated' && !it.installing && !it.waiting)";

/// Waits until the list and the schema of the model are cached.
async fn wait_until_cached(browser: &Browser) -> Result<()> {
    let expected = ["/api/models", "/api/schema/image/tessera"];
    wait_for_value(browser, "the cached responses", CACHED, expected.to_vec()).await
}

/// Checks that the outage message is shown only once.
async fn check_shown_once(browser: &Browser) -> Result<()> {
    let count = "return document.body.innerText.split(arguments[0]).length - 1";
    let count = browser.run(count, vec![OUTAGE.into()]).await?;
    assert_eq!(count, 1, "number of messages");
    Ok(())
}

/// Waits until the page does not show this text.
async fn wait_until_text_gone(browser: &Browser, text: &str) -> Result<()> {
    until(
        format!("the text “{text}” to disappear"),
        TIMEOUT,
        async || {
            let shown = browser
                .run("return document.body.innerText", vec![])
                .await?;
            Ok(match shown.as_str().unwrap_or_default().contains(text) {
                true => Seen::NotYet("the page still shows it".into()),
                false => Seen::Yes(()),
            })
        },
    )
    .await
}

/// Guards against an error instead of the cached model list, against a model page without its cached form, against a
/// guest's submission that is rejected after a reload, and against a form that is replaced while the user types when
/// the service answers again.
#[tokio::test(flavor = "multi_thread")]
async fn cached_models_and_forms_are_shown_while_service_is_down() {
    let name = "cached_models_and_forms_are_shown_while_service_is_down";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let mut service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        let model = format!("{address}{MODEL}");
        browser.open(&address).await?;
        wait_for_value(browser, "the service worker", IS_OFFLINE_READY, true).await?;
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        wait_until_cached(browser).await?;

        service.stop().await?;
        browser.open(&address).await?;
        browser.wait_for_text("These models are from", TIMEOUT).await?;
        browser.find(&starting("link", MODEL_NAME)).await?;
        let alerts = browser.find_all(&any("alert")).await?;
        assert!(alerts.is_empty(), "an error next to the list");
        browser.press(&by("button", "Try now")).await?;
        // The button appears again after the failed try.
        browser.find(&by("button", "Try now")).await?;
        check_shown_once(browser).await?;

        browser.press(&starting("link", MODEL_NAME)).await?;
        browser.wait_for_text("This form is from", TIMEOUT).await?;
        browser.open(&model).await?;
        let line = "This form is from";
        browser.wait_for_text(line, TIMEOUT).await?;
        check_shown_once(browser).await?;
        for page in ["/tasks", "/gallery", "/settings"] {
            browser.open(&format!("{address}{page}")).await?;
            browser.wait_for_text(OUTAGE, TIMEOUT).await?;
            browser.find(&by("button", "Try now")).await?;
        }
        browser.open(&model).await?;
        browser.wait_for_text(line, TIMEOUT).await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "without a line").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Nothing has left this browser", TIMEOUT).await?;
        browser
            .run("document.querySelector('form').dataset.same = 'yes'", vec![])
            .await?;

        service.start_again().await?;
        wait_until_text_gone(browser, line).await?;
        wait_until_text_gone(browser, OUTAGE).await?;
        let same = "
            return [document.querySelector('form').dataset.same, document.querySelector('textarea').value]";
        let same = browser.run(same, vec![]).await?;
        assert_eq!(same, Value::from(vec!["yes", "without a line"]));
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        service.stop().await?;
        let accepted = service.accepted_tasks()?;
        assert_eq!(accepted, [("without a line".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that becomes Unconfirmed because it was sent although the page had detected the outage, also
/// if a gateway reports the outage.
#[tokio::test(flavor = "multi_thread")]
async fn task_generated_during_outage_waits_and_is_sent_once() {
    let name = "task_generated_during_outage_waits_and_is_sent_once";
    let gateway = Fault::Status {
        status: 502,
        retry_after: None,
    };
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        wait_until_cached(browser).await?;
        // The last outage begins while a page with the list, but not the schema, is open.
        let outages = [
            ("connection closed", Fault::Down, false),
            ("behind a gateway", gateway, false),
            ("open before", Fault::Down, true),
        ];
        for (prompt, fault, is_open) in outages {
            if is_open {
                studio.open("/").await?;
                browser.find(&starting("link", MODEL_NAME)).await?;
            }
            studio.proxy.add(Rule::every("/api/*", fault.clone()));
            studio.proxy.add(Rule::every("/v2/*", fault));
            match is_open {
                true => browser.press(&starting("link", MODEL_NAME)).await?,
                false => studio.open(MODEL).await?,
            }
            browser.wait_for_text("This form is from", TIMEOUT).await?;
            generate(browser, prompt).await?;
            browser
                .wait_for_text("Nothing has left this browser", TIMEOUT)
                .await?;
            // Longer than the page waits to learn whether the service supports keys.
            advance_past_probe(&studio, Duration::from_secs(7)).await?;
            browser
                .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
                .await?;
            let sent = studio.sent_prompts();
            assert!(!sent.iter().any(|sent| sent == prompt), "the task was sent");

            studio.proxy.clear();
            browser
                .find_with_limit(&by("button", "Run again"), TIMEOUT)
                .await?;
            wait_until_text_gone(browser, "This form is from").await?;
        }
        let prompts = ["connection closed", "behind a gateway", "open before"];
        assert_eq!(studio.sent_prompts(), prompts);
        studio.service.stop().await?;
        let once = prompts.map(|prompt| (prompt.to_owned(), 1));
        assert_eq!(studio.service.accepted_tasks()?, once.into());
        Ok(())
    })
    .await;
}

/// Guards against cached models that remain after the user turns the offline copy off.
#[tokio::test(flavor = "multi_thread")]
async fn cached_models_are_deleted_with_offline_copy() {
    let name = "cached_models_are_deleted_with_offline_copy";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&[]).await?;
        let model = format!("{}{MODEL}", service.address());
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        wait_until_cached(browser).await?;
        browser
            .open(&format!("{}/settings", service.address()))
            .await?;
        browser
            .press(&by("checkbox", "Open without network"))
            .await?;
        browser
            .wait_for_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let none: Vec<Value> = Vec::new();
        wait_for_value(browser, "no cached responses", CACHED, none.clone()).await?;
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        tokio::time::sleep(Duration::from_secs(4)).await;
        wait_for_value(browser, "no cached responses", CACHED, none).await
    })
    .await;
}

/// Signs in and opens a model's form. Unless `has_keys`, the proxy hides the service's support for idempotency keys.
async fn sign_in<'a>(browser: &'a Browser, has_keys: bool) -> Result<Studio<'a>> {
    let service = ["--speed", "0", "--token", TOKEN];
    let studio = Studio::new(browser, &service, has_keys).await?;
    studio.proxy.control_clock(browser).await?;
    studio.open("/settings").await?;
    for (field, text) in [("User ID", "me"), ("Access token", TOKEN)] {
        browser.fill(&by("textbox", field), text).await?;
    }
    browser.press(&by("button", "Save")).await?;
    browser.wait_for_text("Saved.", TIMEOUT).await?;
    studio.open(MODEL).await?;
    browser.find(&starting("textbox", "prompt")).await?;
    Ok(studio)
}

async fn generate(browser: &Browser, prompt: &str) -> Result<()> {
    browser.fill(&starting("textbox", "prompt"), prompt).await?;
    browser.press(&by("button", "Generate")).await?;
    browser.find(&containing("article", prompt)).await?;
    Ok(())
}

/// Waits until exactly these prompts have been sent, each once.
async fn wait_until_sent_once(studio: &Studio<'_>, prompts: &[&str]) -> Result<()> {
    let mut expected = prompts.to_vec();
    expected.sort_unstable();
    until("the sent prompts", TIMEOUT, async || {
        let mut sent = studio.sent_prompts();
        sent.sort_unstable();
        Ok(match sent == expected {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("sent: {sent:?}")),
        })
    })
    .await
}

/// Guards against a task that becomes Unconfirmed because only the follower tab had detected the outage, and the
/// leader tab sent it.
#[tokio::test(flavor = "multi_thread")]
async fn follower_tab_reports_outage_to_leader_tab() {
    let name = "follower_tab_reports_outage_to_leader_tab";
    drive(name, async |browser| {
        let studio = sign_in(browser, false).await?;
        wait_until_cached(browser).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        browser.open_tab("about:blank").await?;
        received_refusals::report(browser, &studio.proxy).await?;
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        browser.wait_for_text("This form is from", TIMEOUT).await?;
        generate(browser, "from a second tab").await?;
        browser
            .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
            .await?;
        advance_past_probe(&studio, Duration::from_secs(7)).await?;
        assert_eq!(studio.sent_prompts(), [""; 0]);
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        wait_until_sent_once(&studio, &["from a second tab"]).await
    })
    .await;
}

/// Guards against an outage during a batch: each item was sent to find out whether the service is back, and became
/// Unconfirmed.
#[tokio::test(flavor = "multi_thread")]
async fn queued_tasks_are_not_sent_during_outage_after_unconfirmed_task() {
    let name = "queued_tasks_are_not_sent_during_outage_after_unconfirmed_task";
    drive(name, async |browser| {
        let studio = sign_in(browser, false).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        generate(browser, "the first").await?;
        browser.wait_for_text("Unconfirmed", TIMEOUT).await?;
        for prompt in ["the second", "the third"] {
            generate(browser, prompt).await?;
        }
        browser
            .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
            .await?;
        // Longer than the first two pauses after a submission without a response.
        advance_past_probe(&studio, Duration::from_secs(17)).await?;
        assert_eq!(studio.sent_prompts(), ["the first"]);
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        wait_until_sent_once(&studio, &["the first", "the second", "the third"]).await
    })
    .await;
}

/// Makes the service's schema have one more parameter from now on.
const ADD_PARAMETER: &str = "localStorage.setItem('test.changed', 'yes')";
/// Adds the parameter to schema responses after [`ADD_PARAMETER`] has run.
const CHANGE_SCHEMA: &str = "
    (() => {
        const send = window.fetch;
        window.fetch = async (...call) => {
            const reply = await send(...call);
            const { url } = new Request(...call);
            if (!reply.ok || !url.includes('/api/schema/') || !localStorage.getItem('test.changed')) return reply;
            const body = await reply.json();
            const more = { name: 'later', type: 'string', description: 'A new parameter.', default: '' };
            body.data.parameters.optional.push(more);
            return new Response(JSON.stringify(body));
        };
    })()";

/// Guards against a form that is replaced while the user types, which lost the batch input, and against a layout
/// shift when the service is back.
#[tokio::test(flavor = "multi_thread")]
async fn changed_form_is_shown_only_after_button_press() {
    let name = "changed_form_is_shown_only_after_button_press";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        wait_until_cached(browser).await?;
        studio
            .proxy
            .before_each_page(browser, CHANGE_SCHEMA)
            .await?;
        studio.proxy.take_down("/api/*");
        studio.open(&format!("{MODEL}?mode=batch")).await?;
        browser.wait_for_text("This form is from", TIMEOUT).await?;
        browser.press(&by("radio", "Sweep")).await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser.fill(&values, "dusk, dawn").await?;
        let top = "return document.querySelector('.composer').getBoundingClientRect().top";
        // Waits for the web font.
        browser.wait_until_settled().await?;
        let before = browser.run(top, vec![]).await?;
        browser.run(ADD_PARAMETER, vec![]).await?;
        studio.proxy.bring_up("/api/*");
        let changed = "The service has changed this form.";
        browser.wait_for_text(changed, TIMEOUT).await?;
        let typed = browser.find(&values).await?.prop("value").await?;
        assert_eq!(typed.as_deref(), Some("dusk, dawn"));
        assert_eq!(
            browser.run(top, vec![]).await?,
            before,
            "the page has moved"
        );
        browser.press(&by("button", "Show the new one")).await?;
        wait_until_text_gone(browser, changed).await?;
        browser.press(&by("radio", "One")).await?;
        browser.find(&starting("textbox", "later")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a schema that is requested again only after a user action.
#[tokio::test(flavor = "multi_thread")]
async fn failed_schema_request_is_repeated_without_user_action() {
    let name = "failed_schema_request_is_repeated_without_user_action";
    drive(name, async |browser| {
        let studio = Studio::new(browser, &["--speed", "0"], true).await?;
        let broken = Fault::Status {
            status: 500,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(2, "/api/schema/*", broken));
        studio.open(MODEL).await?;
        browser
            .find_with_limit(&starting("textbox", "prompt"), TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}
