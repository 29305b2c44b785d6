//! Several outputs are varied at once.

use atelier_end_to_end::find::by;

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
        browser.find(&count).await?.select_by_value("2").await?;
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
