//! A batch in several tabs: one sends it, all can hold it up.

use crate::studio::{BATCH, PATIENCE, numbered, play};
use atelier_end_to_end::fault::{Fault, Rule};

/// Guards against a batch that both tabs send, or none, and against a Pause that only the tab in
/// which it is pressed knows of.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_follower_is_sent_once_and_can_be_paused_there() {
    let name = "a_batch_of_a_follower";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let follower = studio.open_tab().await?;
        studio.proxy.add(Rule::next(1, BATCH, Fault::Hold));
        let prompts = numbered("followed", 25);
        studio.send(&prompts).await?;
        studio.sees_calls(1).await?;
        studio.press("Pause").await?;
        browser
            .see_text("Paused: 15 items not sent yet.", PATIENCE)
            .await?;
        studio.proxy.clear();
        studio.see_counts("10 completed, 15 queued").await?;
        assert_eq!(studio.sizes(), [10], "sent while paused");

        // The other tab shows the same, though it has not sent it.
        browser.switch_to(&leader).await?;
        studio.see_counts("10 completed, 15 queued").await?;
        assert!(studio.calls_of_tab().await? > 0, "the leader made no calls");
        browser.switch_to(&follower).await?;
        studio.press("Resume").await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.sizes(), [10, 10, 5]);
        assert_eq!(studio.sent(), prompts);
        assert_eq!(studio.calls_of_tab().await?, 0, "the follower made calls");
        Ok(())
    })
    .await;
}
