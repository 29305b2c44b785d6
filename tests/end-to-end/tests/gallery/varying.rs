//! Several outputs are varied at once.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;

use crate::{TIMEOUT, visit};

/// Guards against a word that means one thing at a result and another one in the selection.
#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_varied_as_a_result_is() {
    visit("a_selection_is_varied", 2, async |studio| {
        let browser = studio.browser;
        // Each has two outputs.
        for output in ["made-00000/0", "made-00001/0"] {
            let focus = format!("document.querySelector(`[data-output='{output}']`).focus()");
            browser.run(&focus, vec![]).await?;
            studio.keys("x").await?;
        }
        let bar = browser.find(&by("region", "Selection")).await?;
        let count = by("combobox", "How many variations").within(&bar);
        let count = browser.find(&count).await?;
        count.select_by_value("2").await?;
        // What a press sends stands next to it.
        let label = "return arguments[0].selectedOptions[0].label";
        let label = browser.run(label, vec![browser.argument(&count)]).await?;
        assert_eq!(label, "× 2 = 4 tasks, 8 outputs");
        browser.press(&by("button", "Vary").within(&bar)).await?;
        browser
            .see_text("Sent 4, each with another seed.", TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        browser
            .see_text("6 tasks (4 grouped in batches)", TIMEOUT)
            .await?;
        for name in ["amber harbour 0", "cobalt harbour 1"] {
            let row = by("link", &format!("2 variations of {name}"));
            browser.find(&row).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against rows that are paid for with others that were meant: they waited in the table.
#[tokio::test(flavor = "multi_thread")]
async fn added_rows_are_sent_without_those_that_were_there() {
    visit("added_rows_are_sent_without", 3, async |studio| {
        let browser = studio.browser;
        let add = async |output: &str| -> Result<()> {
            studio.open("/gallery").await?;
            studio.sees_outputs(6).await?;
            let focus = format!("document.querySelector(`[data-output='{output}']`).focus()");
            browser.run(&focus, vec![]).await?;
            studio.keys("x").await?;
            browser.press(&by("button", "Add to batch")).await
        };
        add("made-00000/0").await?;
        browser.find(&by("button", "Generate 1")).await?;
        add("made-00002/0").await?;
        browser.find(&by("button", "Generate 2")).await?;
        let said = "Added 1 row to the one that was here.";
        browser.sees_notice(said, TIMEOUT).await?;
        browser.press(&by("button", "Only the added one")).await?;
        browser.see_text("1 completed", TIMEOUT).await?;
        browser.find(&by("button", "Generate 1")).await?;
        let waits = "return [...document.querySelectorAll('.sheet-scroll textarea')]
            .map(it => it.value).filter(it => it.includes('harbour')).join()";
        becomes(browser, "the row that waits", waits, "amber harbour 0").await
    })
    .await;
}
