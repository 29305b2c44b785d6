//! A list of models that is refused, be it by what stands in the service's place while that is restarted.

use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};

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

/// Guards against a task that waits for a service that is back: nobody was there, and what answers now refuses the list.
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
