//! What a page answers to a press, where the person who presses looks.

use crate::Result;
use crate::browser::Browser;
use crate::wait::{Seen, until};
use serde_json::json;
use std::time::Duration;

/// Gives nothing once words stand in a live region that assistive technology reaches, and in sight: on the screen, with
/// nothing over them. Else what is wrong.
const NOTICE: &str = "
    const [words] = arguments;
    const regions = [...document.querySelectorAll('[role=status], [role=log], [role=alert]')]
        .filter(region => region.innerText.includes(words));
    if (!regions.length) return `nothing says it: ${document.body.innerText}`;
    const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
    const isReached = region => !region.closest('[aria-hidden=true], [inert]')
        && (!modal || modal.contains(region));
    const reached = regions.filter(isReached);
    if (!reached.length) return 'it is said behind a dialog';
    const leaf = region => {
        const inner = [...region.children].find(child => child.innerText?.includes(words));
        return inner ? leaf(inner) : region;
    };
    const found = reached.map(leaf).map(said => {
        const { x, y, width, height } = said.getBoundingClientRect();
        const over = document.elementFromPoint(x + width / 2, y + height / 2);
        if (said.contains(over)) return '';
        const what = over ? `under ${over.outerHTML.slice(0, 200)}` : 'off the screen';
        return `it is ${what}, at ${[x, y, width, height]}`;
    });
    return found.includes('') ? '' : found.join('; ')";

impl Browser {
    /// Waits until the page answers with these words, where it can be seen and heard: a notice behind a dialog is
    /// neither.
    ///
    /// # Errors
    ///
    /// It does not within `limit`; the error says why.
    pub async fn sees_notice(&self, words: &str, limit: Duration) -> Result<()> {
        until(
            format!("the notice “{words}” in sight"),
            limit,
            async || {
                let wrong = self.run(NOTICE, vec![json!(words)]).await?;
                Ok(match wrong.as_str() {
                    Some("") => Seen::Yes(()),
                    wrong => Seen::NotYet(wrong.unwrap_or_default().to_owned()),
                })
            },
        )
        .await
    }
}
