//! How the table is filled.

use crate::studio::{TIMEOUT, play, visit};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// As a spreadsheet writes it: a mark at its beginning, a slip in a column, quotes, a line break within quotes, a
/// column of its own, and a row that is wrong.
const TABLE: &str = "\u{feff}Promt,Panes,Mood\r\n\
    \"a window, \"\"blue\"\"\",40,calm\r\n\
    \"over\ntwo lines\",50,\r\n\
    too many panes,99999,bold\r\n\
    short row\r\n";

/// Guards against rows that are dropped or changed without a word, and against sending bad ones.
#[tokio::test(flavor = "multi_thread")]
async fn an_imported_table_says_what_is_wrong_and_sends_only_good_rows() {
    let name = "an_imported_table";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("table.csv");
        std::fs::write(&file, TABLE)?;
        studio.choose("Import").await?;
        let choose = starting("button", "Choose a file");
        browser.choose_file(&choose, &file).await?;
        studio.press("Did you mean prompt?").await?;
        let wrong = "CSV: 4 items can be added; 1 of them can't be sent until this is corrected:";
        browser.see_text(wrong, TIMEOUT).await?;
        browser.see_text("Row 3: panes must be", TIMEOUT).await?;
        browser
            .see_text(
                "Not sent, as the model has no such parameter: Mood.",
                TIMEOUT,
            )
            .await?;
        browser
            .see_text("Row 4: The row has 1 field for 3 columns", TIMEOUT)
            .await?;
        studio.press("Add 4 items").await?;
        // What needs a look is led to, now and later.
        let focused = "return document.activeElement.ariaLabel";
        let led_to = "panes, row 3";
        becomes(browser, "what has the focus", focused, led_to).await?;
        browser.find(&by("radio", "Import")).await?.click().await?;
        let row = starting("button", "Row 3: panes must be");
        browser.press(&row).await?;
        becomes(browser, "what has the focus", focused, led_to).await?;
        let prompts = [
            "a window, \"blue\"",
            "over\ntwo lines",
            "too many panes",
            "short row",
        ];
        assert_eq!(studio.rows().await?, prompts);
        browser.see_text("3 items in 1 call", TIMEOUT).await?;
        browser
            .see_text("Fix 1 row before sending it.", TIMEOUT)
            .await?;
        let wrong = browser.find(&by("textbox", "panes, row 3")).await?;
        assert_eq!(wrong.attr("aria-invalid").await?.as_deref(), Some("true"));

        let good = [prompts[0], prompts[1], prompts[3]].map(str::to_owned);
        // In one pane what is to be mended does not make way for what was sent.
        browser.set_size(900, 900).await?;
        studio.generate(&good).await?;
        studio.see_counts("3 completed").await?;
        assert_eq!(studio.prompts_sent(), good);
        assert_eq!(studio.rows().await?, ["too many panes"]);
        // One numbering: that of the file.
        browser
            .find(&starting("button", "Item 4: short row"))
            .await?;

        // Another batch is empty, and what was left is not lost.
        studio.press("New batch").await?;
        browser.see_text("1 row is put aside.", TIMEOUT).await?;
        browser.find_gone(&by("region", "Items")).await?;
        studio.reload().await?;
        let show = "
            const buttons = [...document.querySelectorAll('button')];
            buttons.find(it => it.innerText.trim() === 'Bring back')?.scrollIntoView({ block: 'center' })";
        browser.find(&by("button", "Bring back")).await?;
        browser.run(show, vec![]).await?;
        studio.press("Bring back").await?;
        // Mended in place, it is as good as the others.
        browser.fill(&by("textbox", "panes, row 3"), "60").await?;
        browser.find(&by("button", "Generate 1")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a new row that is told off, in red and to a screen reader, before it could be written in.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_row_is_quiet_until_something_stands_in_it() {
    visit("an_empty_row", &[], async |studio| {
        let browser = studio.browser;
        studio.press("Add a row").await?;
        browser.see_text("1 empty row stays.", TIMEOUT).await?;
        let prompt = browser.find(&by("textbox", "prompt, row 1")).await?;
        assert_eq!(prompt.attr("aria-invalid").await?, None);
        let wrong = "return document.querySelectorAll('tr.wrong, .batch .summary').length";
        assert_eq!(browser.run(wrong, vec![]).await?, 0);

        let column = browser.find(&by("combobox", "Add a column")).await?;
        column.select_by_value("panes").await?;
        browser.fill(&by("textbox", "panes, row 1"), "40").await?;
        browser
            .see_text("Fix 1 row before sending it.", TIMEOUT)
            .await?;
        let prompt = browser.find(&by("textbox", "prompt, row 1")).await?;
        assert_eq!(prompt.attr("aria-invalid").await?.as_deref(), Some("true"));
        browser
            .fill(&by("textbox", "prompt, row 1"), "dusk")
            .await?;
        browser.see_text("1 item in 1 call", TIMEOUT).await?;
        Ok(())
    })
    .await;
}

/// Guards against a sweep that has to be put into a table before it can be sent, against one that a second press
/// pays for again, against a part of it being sent where the rest is wrong, and against a seed that is wrong without
/// a word.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_sent_by_one_press() {
    visit("a_sweep_is_sent", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("panes").await?;
        let values = by("textbox", "Values");
        // Guards against values that are sent and paid twice, and against a tick that rewrites what was typed.
        browser.paste(&values, "20, 20").await?;
        browser
            .see_text("Equal values are taken once.", TIMEOUT)
            .await?;
        let left_out = browser.find(&by("checkbox", "Left out")).await?;
        browser.fill(&values, "1,234").await?;
        left_out.click().await?;
        browser
            .see_text("may be 1234, or 1 and 234", TIMEOUT)
            .await?;
        left_out.click().await?;
        let written = browser.find(&values).await?.prop("value").await?;
        assert_eq!(written.as_deref(), Some("1,234"));
        browser.fill(&values, "20, 40").await?;
        let seed = by("textbox", "Seed for every item");
        let drawn = browser.find(&seed).await?.prop("value").await?;
        browser.fill(&seed, "20, 40").await?;
        let wrong = "seed must be a number, not “20, 40”";
        browser.see_text(wrong, TIMEOUT).await?;
        browser.fill(&seed, &drawn.unwrap_or_default()).await?;
        // Rows that can't be sent are not made.
        browser
            .see_text("prompt is missing: fill it in under One", TIMEOUT)
            .await?;
        for name in ["Generate", "Add to the table"] {
            let button = browser.find(&by("button", name)).await?;
            assert!(!button.is_enabled().await?, "{name}");
        }
        axis.select_by_value("prompt").await?;
        browser.paste(&values, "dusk\ndawn").await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        assert_eq!(studio.prompts_sent(), ["dusk", "dawn"]);
        // All of it is sent: the button offers none of it once more.
        browser.find(&by("button", "Generate")).await?;
        browser
            .see_text(
                "All rows are in a batch. Change values to start a new batch.",
                TIMEOUT,
            )
            .await?;
        browser.find(&by("button", "New batch")).await?;
        // With another seed they are others.
        studio.press("Another seed").await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        studio.sees_calls(2).await?;
        assert_eq!(studio.prompts_sent(), ["dusk", "dawn", "dusk", "dawn"]);
        // The next one begins without its axes.
        browser.set_size(900, 900).await?;
        studio.press("New batch").await?;
        browser.find_gone(&values).await
    })
    .await;
}

/// Guards against a prompt that a comma made two of, at twice the price, and against a sweep that is
/// doubled without a word.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_one_value_a_line_and_the_same_sweep_twice_is_asked_about() {
    let name = "a_text_is_one_value_a_line";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser
            .paste(&values, "alpine lake, teal\nred dune")
            .await?;
        browser.see_text("2 values", TIMEOUT).await?;
        studio.press("Add to the table").await?;
        assert_eq!(studio.rows().await?, ["alpine lake, teal", "red dune"]);
        // Nor does a button invite to it.
        let added = browser.find(&by("button", "In the table")).await?;
        assert!(!added.is_enabled().await?);
        browser
            .paste(&values, "alpine lake, teal\nred dune")
            .await?;
        studio.press("Add to the table").await?;
        browser
            .see_text("All 2 items are in the table already.", TIMEOUT)
            .await?;
        assert_eq!(studio.rows().await?.len(), 2);
        browser
            .paste(&values, "alpine lake, teal\nblue bay")
            .await?;
        studio.press("Add to the table").await?;
        studio.press("Add the other 1").await?;
        let rows = ["alpine lake, teal", "red dune", "blue bay"];
        assert_eq!(studio.rows().await?, rows);

        // What is sent stays in the table, and is not sent again by itself.
        studio.press("Generate 3").await?;
        studio.see_counts("3 completed").await?;
        browser.find(&by("button", "Generate")).await?;
        browser.find_gone(&by("region", "Items")).await?;
        browser.see_text("3 rows sent", TIMEOUT).await?;
        studio.reload().await?;
        browser.find(&by("button", "Generate")).await?;
        studio.press("Put 3 rows back").await?;
        assert_eq!(studio.row_count().await?, 3);
        studio.press("Remove row 3").await?;
        studio.press("Remove row 1").await?;
        studio.press("Generate 1").await?;
        studio.sees_calls(2).await?;
        assert_eq!(studio.prompts_sent()[3], "red dune");
        studio.press("Remove 1 sent row").await?;
        browser.find_gone(&by("region", "Items")).await
    })
    .await;
}

/// Guards against axes and pasted tables that are gone after a look at another page, or axes after they were sent; and
/// against a sweep that is offered once more then.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_composed_is_kept_and_offered_until_it_is_sent() {
    visit("what_is_begun_is_kept", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Import").await?;
        let pasted = by("textbox", "Table");
        browser.fill(&pasted, "prompt\npasted").await?;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser.fill(&values, "dusk\ndawn").await?;
        let seed = by("textbox", "Seed for every item");
        browser.fill(&seed, "7").await?;
        let written = "return [...document.querySelectorAll('.sweep :is(textarea, #held-seed)')]
            .map(it => it.value).join()";
        let wanted = "dusk\ndawn,7";
        studio.choose("One").await?;
        browser.find(&starting("textbox", "prompt")).await?;
        studio.choose("Batch").await?;
        becomes(browser, "the sweep", written, wanted).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.client.back().await?;
        becomes(browser, "the sweep", written, wanted).await?;
        studio.reload().await?;
        becomes(browser, "the sweep", written, wanted).await?;
        studio.choose("Import").await?;
        let text = "return document.querySelector('#import')?.value ?? ''";
        becomes(browser, "the pasted table", text, "prompt\npasted").await?;
        studio.choose("Sweep").await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        studio.reload().await?;
        browser.find(&by("radio", "Sweep")).await?;
        browser.find_gone(&by("button", "Generate 2")).await?;
        studio.choose("Sweep").await?;
        becomes(browser, "the sweep", written, wanted).await
    })
    .await;
}

/// Guards against a sweep that is lost half-written because other rows were sent, and against one that is offered once
/// more because its rows were sent from another panel.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_kept_until_its_own_rows_are_sent() {
    visit("a_sweep_is_kept_until", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let values = by("textbox", "Values");
        let written =
            "return [...document.querySelectorAll('.sweep textarea')].map(it => it.value).join()";
        browser.fill(&by("textbox", "Prompts"), "noon").await?;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser.fill(&values, "dusk\ndawn").await?;
        studio.press("Another axis").await?;
        studio.press("Generate 1").await?;
        studio.see_counts("1 completed").await?;
        studio.reload().await?;
        becomes(browser, "the sweep", written, "dusk\ndawn,").await?;

        let removals = browser.find_all(&by("button", "Remove this axis")).await?;
        removals.last().ok_or("no axis")?.click().await?;
        let focused = "return document.activeElement.ariaLabel";
        becomes(browser, "what has the focus", focused, "Axis").await?;
        studio.press("Add to the table").await?;
        studio.choose("Import").await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        // What is written while they are on their way brings nothing of it back.
        let pasted = by("textbox", "Table");
        browser.fill(&pasted, "prompt\nnight").await?;
        studio.reload().await?;
        let text = "return document.querySelector('#import')?.value ?? ''";
        becomes(browser, "the pasted table", text, "prompt\nnight").await?;
        // What was sent stays to be changed, and is not offered once more.
        studio.choose("Sweep").await?;
        becomes(browser, "the sweep", written, "dusk\ndawn").await?;
        browser.find(&by("button", "Generate")).await?;
        studio.press("Remove 3 sent rows").await?;
        browser
            .see_text("This sweep has been sent.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Generate")).await?;
        browser.fill(&values, "dusk\ndawn\nnight").await?;
        browser.find(&by("button", "Generate 3")).await?;
        Ok(())
    })
    .await;
}
