//! A service that is down: the models and forms that were seen are there all the same and say since when, nothing
//! is sent half-knowing, and once it answers everything goes on by itself.

mod refused;
mod waiting;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::hearing;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, MODEL_NAME, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, becomes, until};
use serde_json::Value;
use std::time::Duration;

use waiting::probes_again;

/// What stands above every page meanwhile.
const SILENT: &str = "The service can't be reached.";

const TOKEN: &str = "right-token";

/// What services said of their models, by the paths that were asked. A database that is not there is not made.
const KEPT: &str = "
    return indexedDB.databases().then(all => all.some(it => it.name === 'atelier-models') && new Promise(done => {
        indexedDB.open('atelier-models').onsuccess = ({ target: { result } }) => {
            result.transaction('replies').objectStore('replies').getAllKeys().onsuccess = ({ target }) => {
                result.close();
                done(target.result);
            };
        };
    }))";

/// Whether the worker is at work, so that the page itself is there without its host.
const IS_OFFLINE_READY: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        it?.active?.state === 'activated' && !it.installing && !it.waiting)";

/// Waits until the list and the schema of the model are kept.
async fn is_kept(browser: &Browser) -> Result<()> {
    let wanted = ["/api/models", "/api/schema/image/tessera"];
    becomes(browser, "what is kept", KEPT, wanted.to_vec()).await
}

/// Why there is nothing newer stands above the page, and not next to what it is about once more.
async fn is_said_once(browser: &Browser) -> Result<()> {
    let count = "return document.body.innerText.split(arguments[0]).length - 1";
    let count = browser.run(count, vec![SILENT.into()]).await?;
    assert_eq!(count, 1, "how often it is said");
    Ok(())
}

async fn says_no_more(browser: &Browser, text: &str) -> Result<()> {
    until(format!("no more “{text}”"), TIMEOUT, async || {
        let shown = browser
            .run("return document.body.innerText", vec![])
            .await?;
        Ok(match shown.as_str().unwrap_or_default().contains(text) {
            true => Seen::NotYet("it is still said".into()),
            false => Seen::Yes(()),
        })
    })
    .await
}

/// Guards against an error in place of the list of models, and against a page of a model without its form, though
/// both were seen before; against a guest's submission that is refused, as none is on a page that was open before; and
/// against a form that is made anew under the hands of a person when the service answers again.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_seen_is_there_while_the_service_is_down() {
    let name = "what_was_seen_is_there_while_the_service_is_down";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let mut service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        let model = format!("{address}{MODEL}");
        browser.open(&address).await?;
        becomes(browser, "a worker", IS_OFFLINE_READY, true).await?;
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        is_kept(browser).await?;

        service.stop().await?;
        browser.open(&address).await?;
        browser.see_text("These models are from", TIMEOUT).await?;
        browser.find(&starting("link", MODEL_NAME)).await?;
        let alerts = browser.find_all(&any("alert")).await?;
        assert!(alerts.is_empty(), "an error beside the list");
        browser.press(&by("button", "Try now")).await?;
        // It has been asked in vain.
        browser.find(&by("button", "Try now")).await?;
        is_said_once(browser).await?;

        browser.press(&starting("link", MODEL_NAME)).await?;
        browser.see_text("This form is from", TIMEOUT).await?;
        browser.open(&model).await?;
        let line = "This form is from";
        browser.see_text(line, TIMEOUT).await?;
        is_said_once(browser).await?;
        for page in ["/tasks", "/gallery", "/settings"] {
            browser.open(&format!("{address}{page}")).await?;
            browser.see_text(SILENT, TIMEOUT).await?;
            browser.find(&by("button", "Try now")).await?;
        }
        browser.open(&model).await?;
        browser.see_text(line, TIMEOUT).await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "without a line").await?;
        browser.press(&by("button", "Generate")).await?;
        let waits = "Nothing has left this browser";
        browser.see_text(waits, TIMEOUT).await?;
        browser
            .run("document.querySelector('form').dataset.same = 'yes'", vec![])
            .await?;

        service.start_again().await?;
        says_no_more(browser, line).await?;
        says_no_more(browser, SILENT).await?;
        let same = "
            return [document.querySelector('form').dataset.same, document.querySelector('textarea').value]";
        let same = browser.run(same, vec![]).await?;
        assert_eq!(same, Value::from(vec!["yes", "without a line"]));
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        service.stop().await?;
        let taken = service.taken()?;
        assert_eq!(taken, [("without a line".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that becomes Unconfirmed because it was sent to a service of which the page knew that
/// the service is gone; also where the page's own host says so for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_meanwhile_waits_and_is_sent_once() {
    let name = "what_is_made_meanwhile_waits_and_is_sent_once";
    let gateway = Fault::Status {
        status: 502,
        retry_after: None,
    };
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        is_kept(browser).await?;
        // The last goes down under an open page that has the list, and not yet the schema.
        let outages = [
            ("nobody there", Fault::Down, false),
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
            browser.see_text("This form is from", TIMEOUT).await?;
            generate(browser, prompt).await?;
            browser
                .see_text("Nothing has left this browser", TIMEOUT)
                .await?;
            // Longer than the page waits to learn of keys.
            probes_again(&studio, Duration::from_secs(7)).await?;
            browser
                .see_text("What waits is sent as soon as it answers", TIMEOUT)
                .await?;
            let sent = studio.prompts_sent();
            assert!(!sent.iter().any(|sent| sent == prompt), "it was sent");

            studio.proxy.clear();
            browser
                .find_for(&by("button", "Run again"), TIMEOUT)
                .await?;
            says_no_more(browser, "This form is from").await?;
        }
        let prompts = ["nobody there", "behind a gateway", "open before"];
        assert_eq!(studio.prompts_sent(), prompts);
        studio.service.stop().await?;
        let once = prompts.map(|prompt| (prompt.to_owned(), 1));
        assert_eq!(studio.service.taken()?, once.into());
        Ok(())
    })
    .await;
}

/// Guards against what is kept though a person wants nothing to be kept for a time without network.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_goes_with_the_offline_copy() {
    let name = "what_is_kept_goes_with_the_offline_copy";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::with_site(&[]).await?;
        let model = format!("{}{MODEL}", service.address());
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        is_kept(browser).await?;
        browser
            .open(&format!("{}/settings", service.address()))
            .await?;
        browser
            .press(&by("checkbox", "Open without network"))
            .await?;
        browser
            .see_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let none: Vec<Value> = Vec::new();
        becomes(browser, "nothing kept", KEPT, none.clone()).await?;
        browser.open(&model).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        tokio::time::sleep(Duration::from_secs(4)).await;
        becomes(browser, "nothing kept", KEPT, none).await
    })
    .await;
}

/// Signs in, with keys or without, and opens a model's form.
async fn sign_in<'a>(browser: &'a Browser, has_keys: bool) -> Result<Studio<'a>> {
    let service = ["--speed", "0", "--token", TOKEN];
    let studio = Studio::new(browser, &service, has_keys).await?;
    studio.proxy.control_clock(browser).await?;
    studio.open("/settings").await?;
    for (field, text) in [("User ID", "me"), ("Access token", TOKEN)] {
        browser.fill(&by("textbox", field), text).await?;
    }
    browser.press(&by("button", "Save")).await?;
    browser.see_text("Saved.", TIMEOUT).await?;
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

/// Waits until as many tasks as there are prompts have been sent, each once.
async fn are_sent_once(studio: &Studio<'_>, prompts: &[&str]) -> Result<()> {
    let mut wanted = prompts.to_vec();
    wanted.sort_unstable();
    until("what was sent", TIMEOUT, async || {
        let mut sent = studio.prompts_sent();
        sent.sort_unstable();
        Ok(match sent == wanted {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("it is {sent:?}")),
        })
    })
    .await
}

/// Guards against a task that becomes Unconfirmed though the page in which it was made knew that the service is gone:
/// the tab that makes the calls did not, and sent it.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_finds_nobody_tells_the_one_that_makes_the_calls() {
    let name = "a_tab_that_finds_nobody_tells_the_one_that_makes_the_calls";
    drive(name, async |browser| {
        let studio = sign_in(browser, false).await?;
        is_kept(browser).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        browser.open_tab("about:blank").await?;
        hearing::listen(browser, &studio.proxy).await?;
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        browser.see_text("This form is from", TIMEOUT).await?;
        generate(browser, "from a second tab").await?;
        browser
            .see_text("What waits is sent as soon as it answers", TIMEOUT)
            .await?;
        probes_again(&studio, Duration::from_secs(7)).await?;
        assert_eq!(studio.prompts_sent(), [""; 0]);
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        are_sent_once(&studio, &["from a second tab"]).await
    })
    .await;
}

/// Guards against a service that goes down under a batch: each item in turn was sent to find out whether it is back,
/// and may have been billed for all that was known.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_behind_a_submission_without_answer_is_not_sent_to_nobody() {
    let name = "what_waits_behind_a_submission_without_answer_is_not_sent_to_nobody";
    drive(name, async |browser| {
        let studio = sign_in(browser, false).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        generate(browser, "the first").await?;
        browser.see_text("Unconfirmed", TIMEOUT).await?;
        for prompt in ["the second", "the third"] {
            generate(browser, prompt).await?;
        }
        browser
            .see_text("What waits is sent as soon as it answers", TIMEOUT)
            .await?;
        // Longer than the first two pauses after a submission without an answer.
        probes_again(&studio, Duration::from_secs(17)).await?;
        assert_eq!(studio.prompts_sent(), ["the first"]);
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        are_sent_once(&studio, &["the first", "the second", "the third"]).await
    })
    .await;
}

/// The service has one parameter more from now on.
const IS_CHANGED: &str = "localStorage.setItem('test.changed', 'yes')";
const CHANGING: &str = "
    (() => {
        const ask = window.fetch;
        window.fetch = async (...call) => {
            const reply = await ask(...call);
            const { url } = new Request(...call);
            if (!reply.ok || !url.includes('/api/schema/') || !localStorage.getItem('test.changed')) return reply;
            const body = await reply.json();
            const more = { name: 'later', type: 'string', description: 'What is new.', default: '' };
            body.data.parameters.optional.push(more);
            return new Response(JSON.stringify(body));
        };
    })()";

/// Guards against a form that is made anew under the hands of a person, and what they typed for a batch gone with it,
/// and against a page that moves when the service is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_has_changed_meanwhile_is_shown_when_a_person_wants_it() {
    let name = "a_form_that_has_changed_meanwhile_is_shown_when_a_person_wants_it";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        is_kept(browser).await?;
        studio.proxy.before_each_page(browser, CHANGING).await?;
        studio.proxy.take_down("/api/*");
        studio.open(&format!("{MODEL}?mode=batch")).await?;
        browser.see_text("This form is from", TIMEOUT).await?;
        browser.press(&by("radio", "Sweep")).await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser.fill(&values, "dusk, dawn").await?;
        let top = "return document.querySelector('.composer').getBoundingClientRect().top";
        // With the typeface that comes late.
        browser.settled().await?;
        let before = browser.run(top, vec![]).await?;
        browser.run(IS_CHANGED, vec![]).await?;
        studio.proxy.bring_up("/api/*");
        let changed = "The service has changed this form.";
        browser.see_text(changed, TIMEOUT).await?;
        let typed = browser.find(&values).await?.prop("value").await?;
        assert_eq!(typed.as_deref(), Some("dusk, dawn"));
        assert_eq!(
            browser.run(top, vec![]).await?,
            before,
            "the page has moved"
        );
        browser.press(&by("button", "Show the new one")).await?;
        says_no_more(browser, changed).await?;
        browser.press(&by("radio", "One")).await?;
        browser.find(&starting("textbox", "later")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a form that can't be had once, and is asked for again only when a person looks or presses.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_alone_cannot_be_had_comes_by_itself() {
    let name = "a_form_that_alone_cannot_be_had_comes_by_itself";
    drive(name, async |browser| {
        let studio = Studio::new(browser, &["--speed", "0"], true).await?;
        let broken = Fault::Status {
            status: 500,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(2, "/api/schema/*", broken));
        studio.open(MODEL).await?;
        browser
            .find_for(&starting("textbox", "prompt"), TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}
