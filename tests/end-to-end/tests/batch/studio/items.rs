//! The batch on the page and its items.

use super::{Studio, TIMEOUT};
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Error, Result};
use fantoccini::elements::Element;
use serde_json::Value;

/// An item as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownItem {
    pub number: usize,
    pub state: String,
    pub prompt: String,
}

impl Studio<'_> {
    /// Finds the batch on the page.
    pub async fn batch(&self) -> Result<Element> {
        self.browser.find(&starting("article", "Batch: ")).await
    }

    /// Returns the counts that the page shows, such as `22 completed, 3 failed`.
    pub async fn counts(&self) -> Result<String> {
        let batch = self.batch().await?;
        let script = "return arguments[0].querySelector('[role=status]').textContent.trim()";
        let argument = vec![self.browser.argument(&batch)];
        let counts = self.browser.run(script, argument).await?;
        Ok(counts.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the page shows these counts.
    pub async fn wait_for_counts(&self, wanted: &str) -> Result<()> {
        until(format!("“{wanted}”"), TIMEOUT, async || {
            let counts = self.counts().await?;
            Ok(if counts == wanted {
                Seen::Yes(())
            } else {
                Seen::NotYet(counts)
            })
        })
        .await
    }

    /// Waits until no item changes without the user.
    pub async fn wait_until_settled(&self) -> Result<()> {
        until("all items to end", TIMEOUT, async || {
            let counts = self.counts().await?;
            let is_pending = counts.is_empty()
                || ["queued", "in progress"]
                    .iter()
                    .any(|word| counts.contains(word));
            Ok(if is_pending {
                Seen::NotYet(counts)
            } else {
                Seen::Yes(())
            })
        })
        .await
    }

    /// Returns all items of the batch on the page, read at the same time.
    pub async fn items(&self) -> Result<Vec<ShownItem>> {
        let list = self.browser.find(&by("list", "Items of the batch")).await?;
        self.items_in(&list).await
    }

    /// Returns all items inside an element, read at the same time.
    pub async fn items_in(&self, element: &Element) -> Result<Vec<ShownItem>> {
        let script = "
            return [...arguments[0].querySelectorAll('[aria-label^=\"Item \"]')]
                .map(item => item.ariaLabel)";
        let argument = vec![self.browser.argument(element)];
        let labels = self.browser.run(script, argument).await?;
        let labels = labels.as_array().into_iter().flatten();
        labels
            .filter_map(Value::as_str)
            .map(|label| {
                let read = || {
                    let (number, rest) = label.strip_prefix("Item ")?.split_once(": ")?;
                    let (prompt, state) = rest.rsplit_once(", ")?;
                    Some(ShownItem {
                        number: number.parse().ok()?,
                        state: state.to_owned(),
                        prompt: prompt.to_owned(),
                    })
                };
                read().ok_or_else(|| Error::from(format!("an item is called “{label}”")))
            })
            .collect()
    }

    /// Returns the numbers of the items in this state.
    pub async fn items_in_state(&self, state: &str) -> Result<Vec<usize>> {
        let items = self.items().await?;
        let found = items.iter().filter(|item| item.state == state);
        Ok(found.map(|item| item.number).collect())
    }

    /// Finds the table of a sweep over two axes.
    pub async fn sweep_table(&self) -> Result<Element> {
        let region = self
            .browser
            .find(&by("region", "Items of the batch"))
            .await?;
        self.browser.find(&any("table").within(&region)).await
    }
}
