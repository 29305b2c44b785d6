//! Tests of a rejected model list, for instance by a gateway while the service restarts.

use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

use crate::{generate, sign_in, wait_until_cached, wait_until_sent_once};

const REJECTED: Fault = Fault::Status {
    status: 404,
    retry_after: None,
};

/// Waits until the list was rejected `count` times.
async fn wait_for_rejections(studio: &Studio<'_>, count: usize) -> atelier_end_to_end::Result<()> {
    let what = format!("{count} rejections of the list");
    studio
        .sees(&what, |calls| {
            let rejected = calls
                .iter()
                .filter(|call| call.path == "/api/models" && call.status == Some(404));
            rejected.count() >= count
        })
        .await
}

/// Guards against an unconfirmed submission that is not resent although the service supports keys: the page took the
/// rejected list for a service without keys.
#[tokio::test(flavor = "multi_thread")]
async fn rejected_model_list_does_not_stop_resend_with_key() {
    let name = "rejected_model_list_does_not_stop_resend_with_key";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        studio
            .proxy
            .add(Rule::every("/v2/generate", Fault::DropAfter));
        generate(browser, "in doubt").await?;
        studio
            .sees("the lost response", |calls| calls.iter().any(is_generate))
            .await?;
        studio.proxy.add(Rule::every("/api/models", REJECTED));
        studio.open(MODEL).await?;
        wait_for_rejections(&studio, 2).await?;
        studio.proxy.clear();
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        studio.service.stop().await?;
        assert_eq!(
            studio.service.accepted_tasks()?,
            [("in doubt".to_owned(), 1)].into()
        );
        Ok(())
    })
    .await;
}

/// Guards against a task that keeps waiting after the outage because the service now rejects the list.
#[tokio::test(flavor = "multi_thread")]
async fn rejected_model_list_ends_outage() {
    let name = "rejected_model_list_ends_outage";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        wait_until_cached(browser).await?;
        studio.proxy.add(Rule::every("/api/models", REJECTED));
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        studio.open(MODEL).await?;
        browser.wait_for_text("This form is from", TIMEOUT).await?;
        generate(browser, "waits").await?;
        browser
            .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
            .await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        wait_until_sent_once(&studio, &["waits"]).await
    })
    .await;
}

/// Guards against an output that can't be requested again after the service has rejected it for a while.
#[tokio::test(flavor = "multi_thread")]
async fn rejected_output_is_requested_again_on_button_press() {
    let name = "rejected_output_is_requested_again_on_button_press";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
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
        until("a rejected output", TIMEOUT, async || {
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
            .wait_for_text("The service still returns no output.", TIMEOUT)
            .await?;
        proxy.clear();
        // An immediate second press would be ignored as a double click.
        proxy.advance_clock(browser, Duration::from_secs(5)).await?;
        browser.press(&by("button", "Ask again")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        assert_eq!(
            proxy.calls_to("/v2/generate").len(),
            sent,
            "the task was sent again"
        );
        Ok(())
    })
    .await;
}
