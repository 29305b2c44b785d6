//! Checks the notices that a page shows after a user action.

use crate::Result;
use crate::browser::Browser;
use crate::wait::{Seen, until};
use serde_json::json;
use std::time::Duration;

/// Returns an empty string if a live region has this text, assistive technology can reach it, and it is visible: in
/// the viewport and not covered. Otherwise returns the reason.
const NOTICE: &str = "
    const [words] = arguments;
    const regions = [...document.querySelectorAll('[role=status], [role=log], [role=alert]')]
        .filter(region => region.innerText.includes(words));
    if (!regions.length) return `no live region has it: ${document.body.innerText}`;
    const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
    const isReached = region => !region.closest('[aria-hidden=true], [inert]')
        && (!modal || modal.contains(region));
    const reached = regions.filter(isReached);
    if (!reached.length) return 'it is behind a modal dialog';
    const leaf = region => {
        const inner = [...region.children].find(child => child.innerText?.includes(words));
        return inner ? leaf(inner) : region;
    };
    const found = reached.map(leaf).map(notice => {
        const { x, y, width, height } = notice.getBoundingClientRect();
        const over = document.elementFromPoint(x + width / 2, y + height / 2);
        if (notice.contains(over)) return '';
        const reason = over ? `covered by ${over.outerHTML.slice(0, 200)}` : 'outside the viewport';
        return `it is ${reason}, at ${[x, y, width, height]}`;
    });
    return found.includes('') ? '' : found.join('; ')";

impl Browser {
    /// Waits until the page shows a notice with this text that is visible and that assistive technology can reach. A
    /// notice behind a modal dialog does not count.
    ///
    /// # Errors
    ///
    /// The notice does not appear within `limit`. The error contains the reason.
    pub async fn wait_for_notice(&self, words: &str, limit: Duration) -> Result<()> {
        until(format!("the notice “{words}”"), limit, async || {
            let problem = self.run(NOTICE, vec![json!(words)]).await?;
            Ok(match problem.as_str() {
                Some("") => Seen::Yes(()),
                problem => Seen::NotYet(problem.unwrap_or_default().to_owned()),
            })
        })
        .await
    }
}
