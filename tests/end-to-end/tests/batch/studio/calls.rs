//! Calls that were sent, as recorded by the proxy and by the browser.

use super::Studio;
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::ledger::is_generate;
use std::time::Duration;

impl Studio<'_> {
    /// Waits until the proxy has received at least `count` generate calls.
    pub async fn wait_for_generate_calls(&self, count: usize) -> Result<()> {
        self.sees(&format!("{count} generate calls"), |calls| {
            calls.iter().filter(|call| is_generate(call)).count() >= count
        })
        .await
    }

    /// Returns the number of items in each generate call, in order.
    pub fn call_sizes(&self) -> Vec<usize> {
        self.generate_calls()
            .iter()
            .map(|call| call.items)
            .collect()
    }

    /// Lets the next `times` calls pass before the rules that are added later apply.
    pub fn allow_calls(&self, times: u32, path: &str) {
        let time = Duration::ZERO;
        self.proxy
            .add(Rule::next(times, path, Fault::Delay { time }));
    }

    /// Returns the seeds of all generate calls, in order.
    pub fn seeds(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.seeds).collect()
    }

    /// Returns the number of API calls that the current tab has made since it was loaded, from the browser's resource
    /// timing.
    pub async fn calls_of_tab(&self) -> Result<u64> {
        let script = "
            return performance.getEntriesByType('resource')
                .filter(entry => new URL(entry.name).pathname.startsWith('/v2/')).length";
        let count = self.browser.run(script, vec![]).await?;
        count.as_u64().ok_or_else(|| "not a number".into())
    }
}
