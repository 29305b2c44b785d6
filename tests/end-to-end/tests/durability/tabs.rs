//! Several tabs of one person: one makes the calls, all show what is so.

use crate::studio::{PATIENCE, Studio, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::wait::{Seen, until};

/// The calls that the present tab has made since it was loaded, by the browser's own record.
async fn calls_of_tab(studio: &Studio<'_>) -> Result<u64> {
    let script = "
        return performance.getEntriesByType('resource')
            .filter(entry => new URL(entry.name).pathname.startsWith('/v2/')).length";
    let count = studio.browser.run(script, vec![]).await?;
    count.as_u64().ok_or_else(|| "not a number".into())
}

async fn makes_calls(studio: &Studio<'_>) -> Result<()> {
    until("this tab to make calls", PATIENCE, async || {
        Ok(match calls_of_tab(studio).await? {
            0 => Seen::NotYet("it makes none".into()),
            _ => Seen::Yes(()),
        })
    })
    .await
}

/// Guards against a task that is polled or submitted by two tabs.
#[tokio::test(flavor = "multi_thread")]
async fn one_tab_makes_the_calls_and_the_others_follow() {
    let name = "one_tab_makes_the_calls";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let form = studio.form().await?;
        studio.generate(&form, "of the leader").await?;

        let follower = studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        let form = studio.form().await?;
        studio.generate(&form, "of the follower").await?;
        studio.open_tasks().await?;
        studio
            .see(&[
                ("of the leader", "Completed"),
                ("of the follower", "Completed"),
            ])
            .await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");

        // What comes while it looks on.
        browser.switch_to(&leader).await?;
        let form = studio.form().await?;
        studio.generate(&form, "shown live").await?;
        browser.switch_to(&follower).await?;
        studio.see(&[("shown live", "Completed")]).await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");
        browser.switch_to(&leader).await?;
        makes_calls(studio).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await
    })
    .await;
}

/// Guards against tasks that nobody asks about any more because the tab that did is closed.
#[tokio::test(flavor = "multi_thread")]
async fn another_tab_goes_on_when_the_leader_is_closed() {
    let name = "another_tab_goes_on";
    play(name, &["--speed", "4"], async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        let follower = studio.open_tab("/tasks").await?;
        browser.set_size(1280, 4000).await?;
        browser.switch_to(&leader).await?;
        let form = studio.form().await?;
        studio.generate(&form, "left behind").await?;
        studio.generate(&form, "left behind too").await?;
        studio.accepted(2).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        makes_calls(studio).await?;
        studio
            .see(&[
                ("left behind", "Completed"),
                ("left behind too", "Completed"),
            ])
            .await
    })
    .await;
}
