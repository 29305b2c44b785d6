//! The table with the rows of a batch.

use super::Studio;
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{any, by};
use serde_json::Value;

impl Studio<'_> {
    /// Returns the prompts of the unsent rows, in order. Only rows near the visible part of the table exist in the DOM, so
    /// the script scrolls through the whole table.
    pub async fn rows(&self) -> Result<Vec<String>> {
        let table = by("region", "Items");
        // Without unsent rows there is no table, only the button below it.
        self.browser.find(&by("button", "Add a row")).await?;
        if self.browser.find_all(&table).await?.is_empty() {
            return Ok(Vec::new());
        }
        let table = self.browser.find(&table).await?;
        let script = "
            const [table] = arguments;
            return (async () => {
                const rows = new Map();
                for (let top = 0; ; top += table.clientHeight * 0.9) {
                    table.scrollTop = top;
                    // Rows are rendered after the table was scrolled.
                    const { left, bottom } = table.getBoundingClientRect();
                    const isBuilt = () => {
                        const rows = [...table.querySelectorAll('[aria-label^=\"prompt, row \"]')];
                        const last = rows.at(-1)?.closest('tr').getBoundingClientRect();
                        const isEnd = table.scrollTop + table.clientHeight >= table.scrollHeight - 1;
                        return isEnd || (last && last.bottom >= bottom - 1);
                    };
                    const until = Date.now() + 20000;
                    do {
                        await new Promise(seen => setTimeout(seen, top === 0 ? 0 : 100));
                    } while (!isBuilt() && Date.now() < until);
                    for (const cell of table.querySelectorAll('[aria-label^=\"prompt, row \"]')) {
                        rows.set(Number(cell.ariaLabel.split(' ').at(-1)), cell.value);
                    }
                    if (top + table.clientHeight >= table.scrollHeight) break;
                }
                table.scrollTop = 0;
                const inOrder = [...rows].sort(([a], [b]) => a - b);
                return inOrder.map(([, prompt]) => prompt);
            })();";
        let argument = vec![self.browser.argument(&table)];
        let rows = self.browser.run(script, argument).await?;
        let rows = rows.as_array().into_iter().flatten();
        Ok(rows.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns the number of rows from the table's `aria-rowcount`.
    pub async fn row_count(&self) -> Result<usize> {
        let table = self.browser.find(&by("region", "Items")).await?;
        let table = self.browser.find(&any("table").within(&table)).await?;
        let count = table.attr("aria-rowcount").await?.unwrap_or_default();
        Ok(count.parse::<usize>()? - 1)
    }
}
