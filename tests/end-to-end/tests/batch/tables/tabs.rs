//! The table in several tabs.

use super::{
    STORAGE_TIMEOUT, STORAGE_WARNING, paste, refuse_table_writes, wait_for_no_text,
    wait_for_stored_rows, wait_for_table_rows,
};
use crate::studio::{numbered_prompts, run_steps};
use atelier_end_to_end::find::by;

/// Guards against a tab that writes its older copy of the table although the user has not changed it there.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_appears_in_the_other_tab_which_overwrites_nothing() {
    let name = "a_change_appears_in_the_other_tab_which_overwrites_nothing";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let before = numbered_prompts("before", 2);
        paste(studio, &before).await?;
        let second = studio.open_batch_tab().await?;
        wait_for_table_rows(studio, &before).await?;
        let after = numbered_prompts("after", 4);
        paste(studio, &after).await?;
        browser.switch_to(&first).await?;
        wait_for_table_rows(studio, &after).await?;
        let prompts = browser.find(&by("textbox", "Prompts")).await?;
        let text = prompts.prop("value").await?.unwrap_or_default();
        assert_eq!(text, after.join("\n"));
        // The user leaves the page without a change.
        studio.choose("One").await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.switch_to(&second).await?;
        studio.reload().await?;
        wait_for_table_rows(studio, &after).await?;
        browser.switch_to(&first).await?;
        studio.reload().await?;
        wait_for_table_rows(studio, &after).await
    })
    .await;
}

/// Guards against rows that are lost without a message when two tabs change the table at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_concurrent_changes_the_earlier_is_set_aside() {
    let name = "of_two_concurrent_changes_the_earlier_is_set_aside";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let second = studio.open_batch_tab().await?;
        browser.switch_to(&first).await?;
        let (earlier, later) = (numbered_prompts("earlier", 2), numbered_prompts("later", 3));

        // The earlier edit could not be stored when it was made.
        refuse_table_writes(studio, true).await?;
        paste(studio, &earlier).await?;
        browser
            .wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT)
            .await?;
        browser.switch_to(&second).await?;
        paste(studio, &later).await?;
        wait_for_stored_rows(studio, 3).await?;
        browser.switch_to(&first).await?;
        wait_for_table_rows(studio, &earlier).await?;
        refuse_table_writes(studio, false).await?;
        wait_for_table_rows(studio, &later).await?;
        browser
            .wait_for_text("Put aside from this tab: 2 rows.", STORAGE_TIMEOUT)
            .await?;
        wait_for_no_text(studio, STORAGE_WARNING).await?;
        studio.press("Show them instead").await?;
        wait_for_table_rows(studio, &earlier).await?;
        browser.switch_to(&second).await?;
        wait_for_table_rows(studio, &earlier).await?;

        // The later edit could not be stored immediately.
        refuse_table_writes(studio, true).await?;
        paste(studio, &numbered_prompts("on the way", 1)).await?;
        browser
            .wait_for_text(STORAGE_WARNING, STORAGE_TIMEOUT)
            .await?;
        let last = numbered_prompts("last", 4);
        browser.switch_to(&first).await?;
        studio.press("Discard them").await?;
        paste(studio, &later).await?;
        wait_for_stored_rows(studio, 3).await?;
        browser.switch_to(&second).await?;
        paste(studio, &last).await?;
        refuse_table_writes(studio, false).await?;
        wait_for_stored_rows(studio, 4).await?;
        wait_for_table_rows(studio, &last).await?;
        browser
            .wait_for_text("Put aside from that tab: 3 rows.", STORAGE_TIMEOUT)
            .await?;
        browser.switch_to(&first).await?;
        wait_for_table_rows(studio, &last).await?;
        browser
            .wait_for_text("Put aside from this tab: 3 rows.", STORAGE_TIMEOUT)
            .await
    })
    .await;
}
