//! What waits while something else than the service answers, or not all of it, or another tab alone knows.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::hearing;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

use crate::{are_sent_once, generate, is_kept, says_no_more, sign_in};

/// Signs in, takes the service down, and opens a model's page from what this browser keeps of it.
async fn open_while_the_service_is_down(browser: &Browser) -> Result<Studio<'_>> {
    let studio = sign_in(browser, true).await?;
    is_kept(browser).await?;
    studio.proxy.take_down("/api/*");
    studio.proxy.take_down("/v2/*");
    studio.open(MODEL).await?;
    browser.see_text("This form is from", TIMEOUT).await?;
    Ok(studio)
}

/// Lets so much time pass for the page, in which it has to ask at least once whether the service is back.
pub async fn probes_again(studio: &Studio<'_>, by: Duration) -> Result<()> {
    let asked = || studio.proxy.calls_to("/api/models").len();
    let before = asked();
    studio.proxy.advance_clock(studio.browser, by).await?;
    until("the page to ask for the list again", TIMEOUT, async || {
        Ok(match asked() > before {
            true => Seen::Yes(()),
            false => Seen::NotYet("it has not".into()),
        })
    })
    .await
}

/// Guards against a task that waits for ever at a service that would take it: its list of models alone can't be had,
/// and no task runs whose polls would say that the service is there.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_sent_where_the_list_alone_cannot_be_had() {
    let name = "what_waits_is_sent_where_the_list_alone_cannot_be_had";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        studio.proxy.add(Rule::every("/api/models", Fault::Down));
        studio.open(MODEL).await?;
        generate(browser, "no list").await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        are_sent_once(&studio, &["no list"]).await?;
        studio.service.stop().await?;
        assert_eq!(studio.service.taken()?, [("no list".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that waits for as long as a list of models takes that does not come, at a service that would
/// take the task.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_sent_while_the_list_alone_is_slow() {
    let name = "what_waits_is_sent_while_the_list_alone_is_slow";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        let gateway = Fault::Status {
            status: 504,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(1, "/api/models", gateway));
        studio.proxy.add(Rule::every("/api/models", Fault::Hold));
        studio.open(MODEL).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        browser.stop_clock().await?;
        generate(browser, "slow list").await?;
        // Half of the time that the list may take.
        let time = Duration::from_secs(15);
        studio.proxy.advance_clock(browser, time).await?;
        are_sent_once(&studio, &["slow list"]).await?;
        studio.proxy.clear();
        Ok(())
    })
    .await;
}

/// Guards against a double click of which it is said that something was sent, while nothing has left the browser.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_not_said_to_be_sent() {
    let name = "what_waits_is_not_said_to_be_sent";
    drive(name, async |browser| {
        let studio = open_while_the_service_is_down(browser).await?;
        generate(browser, "pressed twice").await?;
        let again = "document.querySelector('form .primary').click()";
        browser.run(again, vec![]).await?;
        let said = "Waiting to be sent once. Press again for another one.";
        browser.see_text(said, TIMEOUT).await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        are_sent_once(&studio, &["pressed twice"]).await
    })
    .await;
}

/// Guards against a task that waits in one tab, which asks for the list less and less often, though another tab has it
/// already.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_finds_the_service_back_wakes_the_one_that_makes_the_calls() {
    let name = "a_tab_that_finds_the_service_back_wakes_the_one_that_makes_the_calls";
    drive(name, async |browser| {
        let studio = open_while_the_service_is_down(browser).await?;
        generate(browser, "from the first tab").await?;
        browser
            .see_text("What waits is sent as soon as it answers", TIMEOUT)
            .await?;
        // The first tab asks after 5 s, 15 s, 35 s and 75 s. It does not come to the last by itself.
        probes_again(&studio, Duration::from_secs(37)).await?;
        browser.stop_clock().await?;
        browser.open_tab("about:blank").await?;
        hearing::listen(browser, &studio.proxy).await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        studio.open(MODEL).await?;
        are_sent_once(&studio, &["from the first tab"]).await?;
        says_no_more(browser, "The service can't be reached").await
    })
    .await;
}

/// Guards against `Two at a time wait for their answers.`, and no word of the service, where a guest has opened the
/// page again meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_guest_has_made_says_what_it_waits_for() {
    let name = "what_a_guest_has_made_says_what_it_waits_for";
    drive(name, async |browser| {
        let mut studio = Studio::new(browser, &["--speed", "0"], false).await?;
        studio.open(MODEL).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        is_kept(browser).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        generate(browser, "the first").await?;
        browser.see_text("Unconfirmed", TIMEOUT).await?;
        generate(browser, "the second").await?;
        studio.open(MODEL).await?;
        for line in [
            "The service can't be reached. What waits is sent as soon as it answers.",
            "Nothing has left this browser.",
        ] {
            browser.see_text(line, TIMEOUT).await?;
        }
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        says_no_more(browser, "The service can't be reached").await?;
        studio.service.stop().await?;
        let taken = studio.service.taken()?;
        assert_eq!(taken, [("the second".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent to the page on which a café asks its guests to sign in, and becomes
/// Unconfirmed, and against a form that is not there meanwhile though it was kept, nor after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_place_of_the_service_is_no_service() {
    let name = "a_page_in_place_of_the_service_is_no_service";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        is_kept(browser).await?;
        for path in ["/api/*", "/v2/*"] {
            studio.proxy.add(Rule::every(path, Fault::NotJson));
        }
        studio.open(MODEL).await?;
        browser.see_text("This form is from", TIMEOUT).await?;
        generate(browser, "in a café").await?;
        browser
            .see_text("What waits is sent as soon as it answers", TIMEOUT)
            .await?;
        // Longer than the page waits to learn of keys.
        probes_again(&studio, Duration::from_secs(7)).await?;
        assert_eq!(studio.prompts_sent(), [""; 0]);
        studio.proxy.clear();
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        says_no_more(browser, "This form is from").await?;
        studio.service.stop().await?;
        let taken = studio.service.taken()?;
        assert_eq!(taken, [("in a café".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}
