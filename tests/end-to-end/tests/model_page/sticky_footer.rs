//! Tests of the sticky footer of a form, which covers scrolled content.

use crate::studio::{MODEL, run_steps};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// Guards against a focused cell that the footer covers, with or without messages in the footer.
#[tokio::test(flavor = "multi_thread")]
async fn focused_field_is_not_covered_by_sticky_footer() {
    run_steps("focused_field_is_not_covered_by_sticky_footer", &[], async |studio| {
        let browser = studio.browser;
        // 320 comes last, because it leaves an invalid row.
        for width in [768, 320] {
            browser.set_size(width, 700).await?;
            studio.open(&format!("{MODEL}?mode=batch")).await?;
            browser
                .fill(&by("textbox", "Prompts"), "a\nb\nc\nd\ne\nf\ng\nh")
                .await?;
            browser.find(&by("button", "Generate 8")).await?;
            browser.wait_until_settled().await?;
            let place = "
                scrollTo(0, 0);
                const fields = [...document.querySelectorAll('.composer-body :is(button, textarea, input, select)')];
                const foot = document.querySelector('.composer > .form-foot');
                const low = fields.filter(it => it.checkVisibility()).filter(it => {
                    it.focus();
                    const { top, bottom } = it.getBoundingClientRect();
                    // For a text field, the browser scrolls only the caret's line into view.
                    const end = it.matches('textarea') ? top + 24 : bottom;
                    return document.activeElement === it && end > foot.getBoundingClientRect().top + 1;
                });
                return low.map(it => it.ariaLabel ?? it.innerText).join()";
            wait_for_value(browser, &format!("fields below the footer at {width}"), place, "").await?;
            if width > 320 {
                continue;
            }
            // The invalid row is fully visible.
            let make_invalid = "
                const choice = document.querySelector('[aria-label=\"Add a column\"]');
                choice.value = 'num_outputs';
                choice.dispatchEvent(new Event('change', { bubbles: true }));";
            browser.run(make_invalid, vec![]).await?;
            let cell = by("textbox|spinbutton", "num_outputs, row 5");
            browser.fill(&cell, "99").await?;
            let row = starting("button", "Row 5: ");
            browser.find(&row).await?;
            let show = "document.querySelector('.show-row').scrollIntoView({ block: 'center' })";
            browser.run(show, vec![]).await?;
            browser.press(&row).await?;
            let seen = "
                const foot = document.querySelector('.composer > .form-foot').getBoundingClientRect();
                const cell = document.activeElement.getBoundingClientRect();
                return `${document.activeElement.ariaLabel} ${cell.bottom <= foot.top + 1 ? 'above' : 'below'}`";
            wait_for_value(browser, "the cell", seen, "num_outputs, row 5 above").await?;
        }
        Ok(())
    })
    .await;
}
