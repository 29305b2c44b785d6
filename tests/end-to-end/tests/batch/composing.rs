//! Filling the table: import, rows and sweeps.

use crate::studio::{TIMEOUT, run_steps, run_until_settled};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// A CSV file as a spreadsheet writes it: with a byte order mark, a misspelled column, quotes, a line break within quotes,
/// an unknown column, and an invalid row.
const TABLE: &str = "\u{feff}Promt,Panes,Mood\r\n\
    \"a window, \"\"blue\"\"\",40,calm\r\n\
    \"over\ntwo lines\",50,\r\n\
    too many panes,99999,bold\r\n\
    short row\r\n";

/// Guards against rows that are dropped or changed without a message, and against invalid rows that are sent.
#[tokio::test(flavor = "multi_thread")]
async fn an_imported_table_lists_errors_and_sends_only_valid_rows() {
    let name = "an_imported_table_lists_errors_and_sends_only_valid_rows";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("table.csv");
        std::fs::write(&file, TABLE)?;
        studio.choose("Import").await?;
        let choose = starting("button", "Choose a file");
        browser.choose_file(&choose, &file).await?;
        studio.press("Did you mean prompt?").await?;
        let wrong = "CSV: 4 items can be added; 1 of them can't be sent until this is corrected:";
        browser.wait_for_text(wrong, TIMEOUT).await?;
        browser.wait_for_text("Row 3: panes must be", TIMEOUT).await?;
        browser
            .wait_for_text(
                "Not sent, as the model has no such parameter: Mood.",
                TIMEOUT,
            )
            .await?;
        browser
            .wait_for_text("Row 4: The row has 1 field for 3 columns", TIMEOUT)
            .await?;
        studio.press("Add 4 items").await?;
        // The invalid cell is focused after the import, and again by a press on its message.
        let focused = "return document.activeElement.ariaLabel";
        let invalid_cell = "panes, row 3";
        wait_for_value(browser, "what has the focus", focused, invalid_cell).await?;
        browser.find(&by("radio", "Import")).await?.click().await?;
        let row = starting("button", "Row 3: panes must be");
        browser.press(&row).await?;
        wait_for_value(browser, "what has the focus", focused, invalid_cell).await?;
        let prompts = [
            "a window, \"blue\"",
            "over\ntwo lines",
            "too many panes",
            "short row",
        ];
        assert_eq!(studio.rows().await?, prompts);
        browser.wait_for_text("3 items in 1 call", TIMEOUT).await?;
        browser
            .wait_for_text("Fix 1 row before sending it.", TIMEOUT)
            .await?;
        let wrong = browser.find(&by("textbox", "panes, row 3")).await?;
        assert_eq!(wrong.attr("aria-invalid").await?.as_deref(), Some("true"));

        let valid = [prompts[0], prompts[1], prompts[3]].map(str::to_owned);
        // In a window with one pane, the invalid row stays visible after the valid ones were sent.
        browser.set_size(900, 900).await?;
        studio.generate(&valid).await?;
        studio.wait_for_counts("3 completed").await?;
        assert_eq!(studio.sent_prompts(), valid);
        assert_eq!(studio.rows().await?, ["too many panes"]);
        // Items are numbered as in the file.
        browser
            .find(&starting("button", "Item 4: short row"))
            .await?;

        // A new batch is empty, and the remaining row is set aside.
        studio.press("New batch").await?;
        browser.wait_for_text("1 row is put aside.", TIMEOUT).await?;
        browser.wait_until_gone(&by("region", "Items")).await?;
        studio.reload().await?;
        let show = "
            const buttons = [...document.querySelectorAll('button')];
            buttons.find(it => it.innerText.trim() === 'Bring back')?.scrollIntoView({ block: 'center' })";
        browser.find(&by("button", "Bring back")).await?;
        browser.run(show, vec![]).await?;
        studio.press("Bring back").await?;
        // Once the cell is corrected, the row can be sent.
        browser.fill(&by("textbox", "panes, row 3"), "60").await?;
        browser.find(&by("button", "Generate 1")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a new row that is marked as invalid, in red and for screen readers, before the user has typed in it.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_row_is_not_invalid_until_something_is_typed() {
    let name = "an_empty_row_is_not_invalid_until_something_is_typed";
    run_steps(name, &[], async |studio| {
        let browser = studio.browser;
        studio.press("Add a row").await?;
        browser
            .wait_for_text("1 empty row is not sent.", TIMEOUT)
            .await?;
        let prompt = browser.find(&by("textbox", "prompt, row 1")).await?;
        assert_eq!(prompt.attr("aria-invalid").await?, None);
        let wrong = "return document.querySelectorAll('tr.wrong, .batch .summary').length";
        assert_eq!(browser.run(wrong, vec![]).await?, 0);

        let column = browser.find(&by("combobox", "Add a column")).await?;
        column.select_by_value("panes").await?;
        browser.fill(&by("textbox", "panes, row 1"), "40").await?;
        browser
            .wait_for_text("Fix 1 row before sending it.", TIMEOUT)
            .await?;
        let prompt = browser.find(&by("textbox", "prompt, row 1")).await?;
        assert_eq!(prompt.attr("aria-invalid").await?.as_deref(), Some("true"));
        browser
            .fill(&by("textbox", "prompt, row 1"), "dusk")
            .await?;
        browser.wait_for_text("1 item in 1 call", TIMEOUT).await?;
        Ok(())
    })
    .await;
}

/// Guards against a sweep that has to be added to the table before it can be sent, that a second press sends again, that is
/// sent in part while the rest is invalid, or whose invalid seed gives no message.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_sent_with_one_press() {
    let name = "a_sweep_is_sent_with_one_press";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("panes").await?;
        let values = by("textbox", "Values");
        // Guards against equal values that are sent and paid for twice, and against a checkbox that changes the typed text.
        browser.paste(&values, "20, 20").await?;
        browser
            .wait_for_text("Duplicate values are used once.", TIMEOUT)
            .await?;
        let left_out = browser.find(&by("checkbox", "Left out")).await?;
        browser.fill(&values, "1,234").await?;
        left_out.click().await?;
        browser
            .wait_for_text("may be 1234, or 1 and 234", TIMEOUT)
            .await?;
        left_out.click().await?;
        let written = browser.find(&values).await?.prop("value").await?;
        assert_eq!(written.as_deref(), Some("1,234"));
        browser.fill(&values, "20, 40").await?;
        let seed = by("textbox", "Seed for every item");
        let random_seed = browser.find(&seed).await?.prop("value").await?;
        browser.fill(&seed, "20, 40").await?;
        let wrong = "seed must be a number, not “20, 40”";
        browser.wait_for_text(wrong, TIMEOUT).await?;
        browser
            .fill(&seed, &random_seed.unwrap_or_default())
            .await?;
        // Rows that can't be sent are not created.
        browser
            .wait_for_text("prompt is missing: fill it in under One", TIMEOUT)
            .await?;
        for name in ["Generate", "Add to the table"] {
            let button = browser.find(&by("button", name)).await?;
            assert!(!button.is_enabled().await?, "{name}");
        }
        axis.select_by_value("prompt").await?;
        browser.paste(&values, "dusk\ndawn").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(studio.sent_prompts(), ["dusk", "dawn"]);
        // All rows are sent, so the button does not offer them again.
        browser.find(&by("button", "Generate")).await?;
        browser
            .wait_for_text(
                "All rows are in a batch. Change values to start a new batch.",
                TIMEOUT,
            )
            .await?;
        browser.find(&by("button", "New batch")).await?;
        // With another seed, the rows are different.
        studio.press("Another seed").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        studio.wait_for_generate_calls(2).await?;
        assert_eq!(studio.sent_prompts(), ["dusk", "dawn", "dusk", "dawn"]);
        // A new batch starts without axes.
        browser.set_size(900, 900).await?;
        studio.press("New batch").await?;
        browser.wait_until_gone(&values).await
    })
    .await;
}

/// Guards against a prompt that is split at a comma, at twice the price, and against a sweep that is added twice without a
/// message.
#[tokio::test(flavor = "multi_thread")]
async fn each_line_is_one_text_value_and_adding_a_sweep_twice_asks_first() {
    let name = "each_line_is_one_text_value_and_adding_a_sweep_twice_asks_first";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser
            .paste(&values, "alpine lake, teal\nred dune")
            .await?;
        browser.wait_for_text("2 values", TIMEOUT).await?;
        studio.press("Add to the table").await?;
        assert_eq!(studio.rows().await?, ["alpine lake, teal", "red dune"]);
        // The button to add the sweep again is disabled.
        let added = browser.find(&by("button", "In the table")).await?;
        assert!(!added.is_enabled().await?);
        browser
            .paste(&values, "alpine lake, teal\nred dune")
            .await?;
        studio.press("Add to the table").await?;
        browser
            .wait_for_text("All 2 items are in the table already.", TIMEOUT)
            .await?;
        assert_eq!(studio.rows().await?.len(), 2);
        browser
            .paste(&values, "alpine lake, teal\nblue bay")
            .await?;
        studio.press("Add to the table").await?;
        studio.press("Add the other 1").await?;
        let rows = ["alpine lake, teal", "red dune", "blue bay"];
        assert_eq!(studio.rows().await?, rows);

        // Sent rows stay in the table and are not sent again without the user.
        studio.press("Generate 3").await?;
        studio.wait_for_counts("3 completed").await?;
        browser.find(&by("button", "Generate")).await?;
        browser.wait_until_gone(&by("region", "Items")).await?;
        browser.wait_for_text("3 rows sent", TIMEOUT).await?;
        studio.reload().await?;
        browser.find(&by("button", "Generate")).await?;
        studio.press("Put 3 rows back").await?;
        assert_eq!(studio.row_count().await?, 3);
        studio.press("Remove row 3").await?;
        studio.press("Remove row 1").await?;
        studio.press("Generate 1").await?;
        studio.wait_for_generate_calls(2).await?;
        assert_eq!(studio.sent_prompts()[3], "red dune");
        studio.press("Remove 1 sent row").await?;
        browser.wait_until_gone(&by("region", "Items")).await
    })
    .await;
}

/// Guards against axes and pasted tables that are lost when the user visits another page, against axes that are lost when
/// they are sent, and against a sent sweep that is offered again.
#[tokio::test(flavor = "multi_thread")]
async fn sweeps_and_pasted_tables_are_kept_and_offered_until_sent() {
    let name = "sweeps_and_pasted_tables_are_kept_and_offered_until_sent";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        wait_for_value(browser, "the sweep", written, wanted).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.client.back().await?;
        wait_for_value(browser, "the sweep", written, wanted).await?;
        studio.reload().await?;
        wait_for_value(browser, "the sweep", written, wanted).await?;
        studio.choose("Import").await?;
        let text = "return document.querySelector('#import')?.value ?? ''";
        wait_for_value(browser, "the pasted table", text, "prompt\npasted").await?;
        studio.choose("Sweep").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        studio.reload().await?;
        browser.find(&by("radio", "Sweep")).await?;
        browser.wait_until_gone(&by("button", "Generate 2")).await?;
        studio.choose("Sweep").await?;
        wait_for_value(browser, "the sweep", written, wanted).await
    })
    .await;
}

/// Guards against an unfinished sweep that is lost because other rows were sent, and against a sweep that is offered again
/// because its rows were sent from another panel.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_kept_until_its_own_rows_are_sent() {
    let name = "a_sweep_is_kept_until_its_own_rows_are_sent";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio.wait_for_counts("1 completed").await?;
        studio.reload().await?;
        wait_for_value(browser, "the sweep", written, "dusk\ndawn,").await?;

        let removals = browser.find_all(&by("button", "Remove this axis")).await?;
        removals.last().ok_or("no axis")?.click().await?;
        let focused = "return document.activeElement.ariaLabel";
        wait_for_value(browser, "what has the focus", focused, "Axis").await?;
        studio.press("Add to the table").await?;
        studio.choose("Import").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        // Typing while the rows are being sent does not restore them.
        let pasted = by("textbox", "Table");
        browser.fill(&pasted, "prompt\nnight").await?;
        studio.reload().await?;
        let text = "return document.querySelector('#import')?.value ?? ''";
        wait_for_value(browser, "the pasted table", text, "prompt\nnight").await?;
        // A sent sweep can still be changed, and is not offered again.
        studio.choose("Sweep").await?;
        wait_for_value(browser, "the sweep", written, "dusk\ndawn").await?;
        browser.find(&by("button", "Generate")).await?;
        studio.press("Remove 3 sent rows").await?;
        browser
            .wait_for_text("This sweep has been sent.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Generate")).await?;
        browser.fill(&values, "dusk\ndawn\nnight").await?;
        browser.find(&by("button", "Generate 3")).await?;
        Ok(())
    })
    .await;
}

/// Guards against copied cells that become one prompt, which would be generated and charged.
#[tokio::test(flavor = "multi_thread")]
async fn cells_pasted_from_a_spreadsheet_fill_rows_and_can_be_undone() {
    let name = "cells_pasted_from_a_spreadsheet_fill_rows_and_can_be_undone";
    run_steps(name, &[], async |studio| {
        let browser = studio.browser;
        let paste = "
            const data = new DataTransfer();
            data.setData('text/plain', arguments[0]);
            const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
            return document.activeElement.dispatchEvent(event)";
        studio
            .type_prompts(&["first".to_owned(), "second".to_owned()])
            .await?;
        browser.press(&by("textbox", "prompt, row 2")).await?;
        let copied = "a \"red\" fox\r\n\"an owl\nat night\"\r\na hare\r\n".replace("\r\n", "\t\r\n");
        // A range must not be wider than the table.
        let is_default = browser.run(paste, vec![copied.clone().into()]).await?;
        assert_eq!(is_default, false, "the browser inserted the text");
        browser
            .wait_for_text("The copied cells have 2 columns", TIMEOUT)
            .await?;
        assert_eq!(studio.rows().await?, ["first", "second"]);
        browser
            .run(
                "const select = document.querySelector('[aria-label=\"Add a column\"]');
                select.value = 'panes';
                select.dispatchEvent(new Event('change', { bubbles: true }))",
                vec![],
            )
            .await?;
        browser.press(&by("textbox", "prompt, row 2")).await?;
        let copied = copied.replacen("\t", "\t40", 1);
        browser.run(paste, vec![copied.into()]).await?;
        browser
            .wait_for_text("Pasted 3 rows of 2 cells.", TIMEOUT)
            .await?;
        let rows = ["first", "a \"red\" fox", "an owl\nat night", "a hare"];
        assert_eq!(studio.rows().await?, rows);
        browser.wait_for_text("4 items in 1 call", TIMEOUT).await?;
        studio.press("Undo").await?;
        wait_for_value(
            browser,
            "the rows after Undo",
            "return [...document.querySelectorAll('.sheet textarea')].map(it => it.value).join()",
            "first,second",
        )
        .await
    })
    .await;
}
