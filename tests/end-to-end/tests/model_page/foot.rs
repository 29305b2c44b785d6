//! The foot of a form, which lies over what is scrolled.

use crate::studio::{MODEL, play};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// Guards against a cell that has the focus below the foot of the form, whatever the foot says.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_the_focus_stands_above_the_foot() {
    play("what_has_the_focus_stands_above", &[], async |studio| {
        let browser = studio.browser;
        // The last has a row that is wrong, which stays so.
        for width in [768, 320] {
            browser.set_size(width, 700).await?;
            studio.open(&format!("{MODEL}?mode=batch")).await?;
            browser
                .fill(&by("textbox", "Prompts"), "a\nb\nc\nd\ne\nf\ng\nh")
                .await?;
            browser.find(&by("button", "Generate 8")).await?;
            browser.settled().await?;
            let place = "
                scrollTo(0, 0);
                const fields = [...document.querySelectorAll('.composer-body :is(button, textarea, input, select)')];
                const foot = document.querySelector('.composer > .form-foot');
                const low = fields.filter(it => it.checkVisibility()).filter(it => {
                    it.focus();
                    const { top, bottom } = it.getBoundingClientRect();
                    // Of a text the line of the caret is brought into sight.
                    const end = it.matches('textarea') ? top + 24 : bottom;
                    return document.activeElement === it && end > foot.getBoundingClientRect().top + 1;
                });
                return low.map(it => it.ariaLabel ?? it.innerText).join()";
            becomes(browser, &format!("below the foot at {width}"), place, "").await?;
            if width > 320 {
                continue;
            }
            // What is wrong is shown whole.
            let spoil = "
                const choice = document.querySelector('[aria-label=\"Add a column\"]');
                choice.value = 'num_outputs';
                choice.dispatchEvent(new Event('change', { bubbles: true }));";
            browser.run(spoil, vec![]).await?;
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
            becomes(browser, "the cell", seen, "num_outputs, row 5 above").await?;
        }
        Ok(())
    })
    .await;
}
