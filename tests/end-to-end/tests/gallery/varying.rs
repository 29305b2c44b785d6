//! Vary and Add to batch for several selected outputs.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

use crate::{TIMEOUT, run_steps};

/// Guards against a Vary button that does something else for a selection than for a single result.
#[tokio::test(flavor = "multi_thread")]
async fn each_output_of_a_selection_is_varied() {
    run_steps("each_output_of_a_selection_is_varied", 2, async |studio| {
        let browser = studio.browser;
        // Each task has two outputs.
        for output in ["made-00000/0", "made-00001/0"] {
            let focus = format!("document.querySelector(`[data-output='{output}']`).focus()");
            browser.run(&focus, vec![]).await?;
            studio.press_keys("x").await?;
        }
        let bar = browser.find(&by("region", "Selection")).await?;
        let count = by("combobox", "How many variations").within(&bar);
        let count = browser.find(&count).await?;
        count.select_by_value("2").await?;
        // The label next to the button says how many tasks a press sends.
        let label = "return arguments[0].selectedOptions[0].label";
        let label = browser.run(label, vec![browser.argument(&count)]).await?;
        assert_eq!(label, "× 2 = 4 tasks, 8 outputs");
        browser.press(&by("button", "Vary").within(&bar)).await?;
        browser
            .wait_for_text("Sent 4, each with a new seed.", TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        browser
            .wait_for_text("6 tasks (4 grouped in batches)", TIMEOUT)
            .await?;
        for name in ["amber harbour 0", "cobalt harbour 1"] {
            let row = by("link", &format!("2 variations of {name}"));
            browser.find(&row).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against rows that were already in the table and are sent, and paid for, together with the added ones.
#[tokio::test(flavor = "multi_thread")]
async fn added_rows_can_be_sent_without_earlier_rows() {
    let name = "added_rows_can_be_sent_without_earlier_rows";
    run_steps(name, 3, async |studio| {
        let browser = studio.browser;
        let add = async |output: &str| -> Result<()> {
            studio.open("/gallery").await?;
            studio.wait_for_outputs(6).await?;
            let focus = format!("document.querySelector(`[data-output='{output}']`).focus()");
            browser.run(&focus, vec![]).await?;
            studio.press_keys("x").await?;
            browser.press(&by("button", "Add to batch")).await
        };
        add("made-00000/0").await?;
        browser.find(&by("button", "Generate 1")).await?;
        add("made-00002/0").await?;
        browser.find(&by("button", "Generate 2")).await?;
        let notice = "Added 1 row to the existing row.";
        browser.wait_for_notice(notice, TIMEOUT).await?;
        browser.press(&by("button", "Only the added one")).await?;
        browser.wait_for_text("1 completed", TIMEOUT).await?;
        browser.find(&by("button", "Generate 1")).await?;
        let waits = "return [...document.querySelectorAll('.sheet-scroll textarea')]
            .map(it => it.value).filter(it => it.includes('harbour')).join()";
        wait_for_value(browser, "the unsent row", waits, "amber harbour 0").await
    })
    .await;
}
