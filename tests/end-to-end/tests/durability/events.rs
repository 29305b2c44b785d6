//! The stream of events: tasks are polled rarely while it lives, and as before without it.

use crate::studio::{Studio, run_until_settled};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Call, EVENTS, Fault, Rule};
use std::collections::BTreeSet;

/// A generation takes about ten seconds.
const SLOW: [&str; 2] = ["--speed", "4"];

fn count(calls: &[Call], path: &str) -> usize {
    calls
        .iter()
        .filter(|call| call.path.starts_with(path))
        .count()
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

/// Waits until a stream is open.
async fn wait_for_stream(studio: &Studio<'_>) -> Result<()> {
    let is_open = |call: &Call| call.path == EVENTS && call.status == Some(200);
    studio
        .sees("a stream", |calls| calls.iter().any(is_open))
        .await
}

/// Waits until the running task has been polled this many more times.
async fn wait_for_polls(studio: &Studio<'_>, more: usize) -> Result<()> {
    let before = count(&studio.proxy.calls(), "/v2/status");
    studio
        .sees("polls", |calls| count(calls, "/v2/status") >= before + more)
        .await
}

/// Guards against a page that asks for the status every second although the service reports each change.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_rarely_polled_while_events_report_them() {
    let name = "tasks_are_rarely_polled_while_events_report_them";
    run_until_settled(name, &SLOW, async |studio| {
        let form = studio.find_form().await?;
        studio.generate(&form, "followed").await?;
        wait_for_stream(studio).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("followed", "Completed")]).await?;
        let calls = studio.proxy.calls();
        let at = |path: &str| calls.iter().find(|call| call.path == path).map(|it| it.at);
        let (Some(sent), Some(ended)) = (at("/v2/generate"), at("/v2/response")) else {
            return Err(format!("{calls:#?}").into());
        };
        // One after the task is accepted, one after the stream is opened, and one after each event that arrives during a poll.
        // Without a stream, there would be one a second.
        let seconds = usize::try_from((ended - sent).as_secs())?;
        let polls = count(&calls, "/v2/status");
        assert!(polls <= 3 + seconds / 3, "{polls} polls: {calls:#?}");
        Ok(())
    })
    .await;
}

/// Guards against a task that waits for a stream which has ended.
#[tokio::test(flavor = "multi_thread")]
async fn polls_resume_when_the_stream_is_cut() {
    let name = "polls_resume_when_the_stream_is_cut";
    run_until_settled(name, &SLOW, async |studio| {
        let form = studio.find_form().await?;
        studio.generate(&form, "cut off").await?;
        wait_for_stream(studio).await?;
        studio.proxy.add(Rule::every(EVENTS, Fault::DropBefore));
        studio.proxy.cut_streams();
        wait_for_polls(studio, 3).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("cut off", "Completed")]).await
    })
    .await;
}

/// Guards against a service whose stream does not work, for instance behind a proxy that collects the events.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_polled_if_the_stream_can_not_be_opened() {
    let name = "tasks_are_polled_if_the_stream_can_not_be_opened";
    run_until_settled(name, &SLOW, async |studio| {
        for (prompt, fault) in [
            ("unknown", status(404)),
            ("a page", Fault::NotJson),
            ("silent", Fault::Hold),
        ] {
            studio.proxy.add(Rule::every(EVENTS, fault));
            let form = studio.open_model().await?;
            let before = count(&studio.proxy.calls(), EVENTS);
            studio.generate(&form, prompt).await?;
            studio
                .sees("a stream", |calls| count(calls, EVENTS) > before)
                .await?;
            wait_for_polls(studio, 3).await?;
            studio.show_tasks().await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
            let opened = count(&studio.proxy.calls(), EVENTS) - before;
            // A silent one may be opened again after a while.
            assert!(opened == 1 || prompt == "silent", "{prompt}: {opened}");
            studio.proxy.clear();
        }
        Ok(())
    })
    .await;
}

/// Guards against a stream in each tab: browsers open six connections to a host.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_leading_tab_opens_a_stream() {
    let name = "only_the_leading_tab_opens_a_stream";
    run_until_settled(name, &SLOW, async |studio| {
        let form = studio.find_form().await?;
        studio.generate(&form, "of the leader").await?;
        wait_for_stream(studio).await?;
        studio.open_model_tab().await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "of the follower").await?;
        studio.show_tasks().await?;
        let completed = [
            ("of the leader", "Completed"),
            ("of the follower", "Completed"),
        ];
        studio.wait_for_states(&completed).await?;
        // A mark begins with the name of the page that has made the call.
        let calls = studio.proxy.calls();
        let marks = calls.iter().filter_map(|call| call.mark.as_deref());
        let pages: BTreeSet<_> = marks.filter_map(|mark| mark.split('.').next()).collect();
        assert_eq!(pages.len(), 1, "{calls:#?}");
        Ok(())
    })
    .await;
}
