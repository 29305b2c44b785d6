//! The table in several tabs.

use super::{AWHILE, UNKEPT, is_stored, paste, refuse, sees_no_text, sees_rows};
use crate::studio::{numbered, visit};
use atelier_end_to_end::find::by;

/// Guards against a tab that has not touched the table and still writes its own, older one.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_seen_in_the_other_tab_which_overwrites_nothing() {
    let name = "a_change_is_seen_in_the_other_tab";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let before = numbered("before", 2);
        paste(studio, &before).await?;
        let second = studio.open_batch_tab().await?;
        sees_rows(studio, &before).await?;
        let after = numbered("after", 4);
        paste(studio, &after).await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &after).await?;
        let prompts = browser.find(&by("textbox", "Prompts")).await?;
        let text = prompts.prop("value").await?.unwrap_or_default();
        assert_eq!(text, after.join("\n"));
        // Left without a touch.
        studio.choose("One").await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.switch_to(&second).await?;
        studio.reload().await?;
        sees_rows(studio, &after).await?;
        browser.switch_to(&first).await?;
        studio.reload().await?;
        sees_rows(studio, &after).await
    })
    .await;
}

/// Guards against rows that are lost without a word when two tabs change the table without having
/// seen each other's.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_unseen_changes_the_later_stays_and_the_other_is_put_aside() {
    let name = "of_two_unseen_changes_the_later_stays";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        let second = studio.open_batch_tab().await?;
        browser.switch_to(&first).await?;
        let (earlier, later) = (numbered("earlier", 2), numbered("later", 3));

        // The earlier edit could not be stored when it was made.
        refuse(studio, true).await?;
        paste(studio, &earlier).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        browser.switch_to(&second).await?;
        paste(studio, &later).await?;
        is_stored(studio, 3).await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &earlier).await?;
        refuse(studio, false).await?;
        sees_rows(studio, &later).await?;
        browser
            .see_text("Put aside from this tab: 2 rows.", AWHILE)
            .await?;
        sees_no_text(studio, UNKEPT).await?;
        studio.press("Show them instead").await?;
        sees_rows(studio, &earlier).await?;
        browser.switch_to(&second).await?;
        sees_rows(studio, &earlier).await?;

        // The later edit could not be stored at once.
        refuse(studio, true).await?;
        paste(studio, &numbered("on the way", 1)).await?;
        browser.see_text(UNKEPT, AWHILE).await?;
        let last = numbered("last", 4);
        browser.switch_to(&first).await?;
        studio.press("Let them go").await?;
        paste(studio, &later).await?;
        is_stored(studio, 3).await?;
        browser.switch_to(&second).await?;
        paste(studio, &last).await?;
        refuse(studio, false).await?;
        is_stored(studio, 4).await?;
        sees_rows(studio, &last).await?;
        browser
            .see_text("Put aside from that tab: 3 rows.", AWHILE)
            .await?;
        browser.switch_to(&first).await?;
        sees_rows(studio, &last).await?;
        browser
            .see_text("Put aside from this tab: 3 rows.", AWHILE)
            .await
    })
    .await;
}
