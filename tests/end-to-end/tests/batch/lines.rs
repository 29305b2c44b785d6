//! The Lines panel, which shows unsent prompts as lines of a text.

use crate::studio::{Studio, TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};

/// Waits until the Prompts field has this text.
async fn wait_for_lines(studio: &Studio<'_>, wanted: &str) -> Result<()> {
    let field = studio.browser.find(&by("textbox", "Prompts")).await?;
    until(format!("the lines “{wanted}”"), TIMEOUT, async || {
        let lines = field.prop("value").await?.unwrap_or_default();
        Ok(if lines == wanted {
            Seen::Yes(())
        } else {
            Seen::NotYet(lines)
        })
    })
    .await
}

/// Guards against a sweep that is paid for twice: its rows became lines after they were sent, and typing there changed a
/// sent row.
#[tokio::test(flavor = "multi_thread")]
async fn sent_rows_are_not_lines_and_are_not_changed_by_lines() {
    let name = "sent_rows_are_not_lines_and_are_not_changed_by_lines";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser
            .paste(&by("textbox", "Values"), "dusk\ndawn\nnoon")
            .await?;
        studio.press("Add to the table").await?;
        studio.choose("Lines").await?;
        wait_for_lines(studio, "").await?;
        let other_rows = "Rows 1 to 3 were not added here and stay unchanged.";
        browser.wait_for_text(other_rows, TIMEOUT).await?;
        studio
            .generate(&["dusk", "dawn", "noon"].map(str::to_owned))
            .await?;
        studio.wait_for_counts("3 completed").await?;
        wait_for_lines(studio, "").await?;

        let field = browser.find(&by("textbox", "Prompts")).await?;
        field.send_keys("pines").await?;
        assert_eq!(studio.rows().await?, ["pines"]);
        studio.generate(&["pines".to_owned()]).await?;
        studio.wait_for_counts("1 completed").await?;
        assert_eq!(studio.sent_prompts(), ["dusk", "dawn", "noon", "pines"]);
        browser.wait_for_text("4 rows sent", TIMEOUT).await?;
        wait_for_lines(studio, "").await?;

        // A sent row becomes a line again only when the user puts it back.
        studio.press("Put 4 rows back").await?;
        wait_for_lines(studio, "pines").await?;
        assert_eq!(studio.rows().await?, ["dusk", "dawn", "noon", "pines"]);
        studio.press("Remove row 4").await?;
        wait_for_lines(studio, "").await?;

        // The rows are not lines after a reload either.
        studio.reload().await?;
        wait_for_lines(studio, "").await?;
        browser.wait_for_text(other_rows, TIMEOUT).await
    })
    .await;
}

/// Guards against typed prompts that are sent with the parameters of imported rows.
#[tokio::test(flavor = "multi_thread")]
async fn new_lines_are_sent_with_the_parameters_of_the_form() {
    let name = "new_lines_are_sent_with_the_parameters_of_the_form";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Import").await?;
        let table = by("textbox", "Table");
        let imported = "prompt,panes,seed\nfine,40,7\nleft over,99999,7\nas well,99999,7\n";
        browser.paste(&table, imported).await?;
        studio.press("Add 3 items").await?;
        studio.press("Generate 1").await?;
        studio.wait_for_counts("1 completed").await?;
        studio.reload().await?;

        studio.choose("Lines").await?;
        wait_for_lines(studio, "").await?;
        let other_rows = "Rows 2 and 3 were not added here and stay unchanged.";
        browser.wait_for_text(other_rows, TIMEOUT).await?;
        browser
            .paste(&by("textbox", "Prompts"), "dusk\ndawn")
            .await?;
        let rows = ["left over", "as well", "dusk", "dawn"];
        assert_eq!(studio.rows().await?, rows);
        studio.press("Put aside").await?;
        assert_eq!(studio.rows().await?, ["dusk", "dawn"]);
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        let seeds = studio.seeds();
        assert_eq!((seeds.len(), seeds[0].as_str()), (3, "7"));
        assert!(seeds[1..].iter().all(|seed| seed != "7"), "{seeds:?}");
        browser
            .wait_for_text("2 rows are put aside.", TIMEOUT)
            .await?;
        studio.press("Bring back").await?;
        assert_eq!(studio.rows().await?, ["left over", "as well"]);
        Ok(())
    })
    .await;
}

/// Guards against lines that are parsed with a delay: typing during that delay would turn the sent lines into rows again.
#[tokio::test(flavor = "multi_thread")]
async fn typing_right_after_sending_many_lines_adds_one_row() {
    let name = "typing_right_after_sending_many_lines_adds_one_row";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every("/v2/generate*", Fault::Hold));
        let field = by("textbox", "Prompts");
        browser
            .paste(&field, &numbered_prompts("many", 80).join("\n"))
            .await?;
        browser.find(&by("button", "Generate 80")).await?;
        let script = "
            const [field] = arguments;
            field.focus();
            const button = [...document.querySelectorAll('button')]
                .find(it => it.textContent.trim() === 'Generate 80');
            button.click();
            return (async () => {
                await new Promise(requestAnimationFrame);
                document.execCommand('insertText', false, 'x');
            })()";
        let field = browser.find(&field).await?;
        let argument = vec![browser.argument(&field)];
        browser.run(script, argument).await?;
        browser.find(&by("button", "Generate 1")).await?;
        assert_eq!(studio.rows().await?, ["x"]);
        Ok(())
    })
    .await;
}
