//! Prompts as the lines of a text: those that are to be sent, and no others.

use crate::studio::{Studio, TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};

async fn sees_lines(studio: &Studio<'_>, wanted: &str) -> Result<()> {
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

/// Guards against a sweep that is paid twice: its rows stood there as lines after they were sent, and what was
/// written there became one of them.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_no_line_and_is_not_changed_by_one() {
    let name = "what_was_sent_is_no_line";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser
            .paste(&by("textbox", "Values"), "dusk\ndawn\nnoon")
            .await?;
        studio.press("Add to the table").await?;
        studio.choose("Lines").await?;
        sees_lines(studio, "").await?;
        let left_alone = "Rows 1 to 3 came from elsewhere and stay as they are.";
        browser.see_text(left_alone, TIMEOUT).await?;
        studio
            .generate(&["dusk", "dawn", "noon"].map(str::to_owned))
            .await?;
        studio.see_counts("3 completed").await?;
        sees_lines(studio, "").await?;

        let field = browser.find(&by("textbox", "Prompts")).await?;
        field.send_keys("pines").await?;
        assert_eq!(studio.rows().await?, ["pines"]);
        studio.generate(&["pines".to_owned()]).await?;
        studio.see_counts("1 completed").await?;
        assert_eq!(studio.prompts_sent(), ["dusk", "dawn", "noon", "pines"]);
        browser.see_text("4 rows sent", TIMEOUT).await?;
        sees_lines(studio, "").await?;

        // Only a person's own word makes a line of it again.
        studio.press("Put 4 rows back").await?;
        sees_lines(studio, "pines").await?;
        assert_eq!(studio.rows().await?, ["dusk", "dawn", "noon", "pines"]);
        studio.press("Remove row 4").await?;
        sees_lines(studio, "").await?;

        // Nor is it one after a reload.
        studio.reload().await?;
        sees_lines(studio, "").await?;
        browser.see_text(left_alone, TIMEOUT).await
    })
    .await;
}

/// Guards against prompts that are sent with the settings of rows that a file has left.
#[tokio::test(flavor = "multi_thread")]
async fn new_lines_are_sent_with_the_settings_of_the_form() {
    let name = "new_lines_have_the_forms_settings";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Import").await?;
        let table = by("textbox", "Table");
        let left = "prompt,panes,seed\nfine,40,7\nleft over,99999,7\nas well,99999,7\n";
        browser.paste(&table, left).await?;
        studio.press("Add 3 items").await?;
        studio.press("Generate 1").await?;
        studio.see_counts("1 completed").await?;
        studio.reload().await?;

        studio.choose("Lines").await?;
        sees_lines(studio, "").await?;
        let left_alone = "Rows 2 and 3 came from elsewhere and stay as they are.";
        browser.see_text(left_alone, TIMEOUT).await?;
        browser
            .paste(&by("textbox", "Prompts"), "dusk\ndawn")
            .await?;
        let rows = ["left over", "as well", "dusk", "dawn"];
        assert_eq!(studio.rows().await?, rows);
        studio.press("Put aside").await?;
        assert_eq!(studio.rows().await?, ["dusk", "dawn"]);
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        let seeds = studio.seeds();
        assert_eq!((seeds.len(), seeds[0].as_str()), (3, "7"));
        assert!(seeds[1..].iter().all(|seed| seed != "7"), "{seeds:?}");
        browser.see_text("2 rows are put aside.", TIMEOUT).await?;
        studio.press("Bring back").await?;
        assert_eq!(studio.rows().await?, ["left over", "as well"]);
        Ok(())
    })
    .await;
}

/// Guards against a text that is followed a moment later: what is typed in that moment would make rows of what
/// was just sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_right_after_many_lines_were_sent_makes_one_row() {
    let name = "a_key_right_after_many_lines";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every("/v2/generate*", Fault::Hold));
        let field = by("textbox", "Prompts");
        browser
            .paste(&field, &numbered("many", 80).join("\n"))
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
