//! A list of models that is refused, be it by what stands in the service's place while that is restarted.

use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

use crate::{are_sent_once, generate, is_kept, sign_in};

const REFUSED: Fault = Fault::Status {
    status: 404,
    retry_after: None,
};

/// Waits until the list was refused so often.
async fn sees_refusals(studio: &Studio<'_>, wanted: usize) -> atelier_end_to_end::Result<()> {
    let what = format!("{wanted} refusals of the list");
    studio
        .sees(&what, |calls| {
            let refused = calls
                .iter()
                .filter(|call| call.path == "/api/models" && call.status == Some(404));
            refused.count() >= wanted
        })
        .await
}

/// Guards against a submission in doubt that is left to a person, though the service honours keys: its list was refused
/// as the page was opened again, and that was taken for a word about keys.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_list_leaves_what_is_in_doubt_to_its_key() {
    let name = "a_refused_list_leaves_what_is_in_doubt_to_its_key";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        studio
            .proxy
            .add(Rule::every("/v2/generate", Fault::DropAfter));
        generate(browser, "in doubt").await?;
        studio
            .sees("the lost answer", |calls| calls.iter().any(is_generate))
            .await?;
        studio.proxy.add(Rule::every("/api/models", REFUSED));
        studio.open(MODEL).await?;
        sees_refusals(&studio, 2).await?;
        studio.proxy.clear();
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        studio.service.stop().await?;
        assert_eq!(studio.service.taken()?, [("in doubt".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that waits for a service that is back: there was no answer, and what answers now refuses the
/// list.
#[tokio::test(flavor = "multi_thread")]
async fn who_refuses_the_list_is_there() {
    let name = "who_refuses_the_list_is_there";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        is_kept(browser).await?;
        studio.proxy.add(Rule::every("/api/models", REFUSED));
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        studio.open(MODEL).await?;
        browser.see_text("This form is from", TIMEOUT).await?;
        generate(browser, "waits").await?;
        browser
            .see_text("What waits is sent as soon as it answers", TIMEOUT)
            .await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        are_sent_once(&studio, &["waits"]).await
    })
    .await;
}

/// Guards against a paid output that only a second, paid run could give once the service had refused it for a while.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_was_refused_is_asked_for_again_at_a_press() {
    let name = "an_output_that_was_refused_is_asked_for_again";
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let refused = Fault::Status {
            status: 422,
            retry_after: None,
        };
        proxy.add(Rule::every("/v2/response", refused));
        proxy.control_clock(browser).await?;
        browser.open(&format!("{}{MODEL}", proxy.address())).await?;
        browser
            .fill(&starting("textbox", "prompt"), "refused")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        until("a refused output", TIMEOUT, async || {
            proxy
                .advance_clock(browser, Duration::from_secs(20))
                .await?;
            let text = browser
                .run("return document.body.innerText", vec![])
                .await?;
            let text = text.as_str().unwrap_or_default();
            Ok(match text.contains("refuses its output") {
                true => Seen::Yes(()),
                false => Seen::NotYet(text.to_owned()),
            })
        })
        .await?;
        let sent = proxy.calls_to("/v2/generate").len();
        browser.press(&by("button", "Ask again")).await?;
        browser
            .see_text("The service still gives no output.", TIMEOUT)
            .await?;
        proxy.clear();
        // The second half of a double click comes to nothing.
        proxy.advance_clock(browser, Duration::from_secs(5)).await?;
        browser.press(&by("button", "Ask again")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        assert_eq!(
            proxy.calls_to("/v2/generate").len(),
            sent,
            "it was paid again"
        );
        Ok(())
    })
    .await;
}
