//! What has left for the service, as the proxy has seen it, and the browser.

use super::Studio;
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::ledger::is_generate;
use std::time::Duration;

impl Studio<'_> {
    /// Waits until so many generate calls have come.
    pub async fn sees_calls(&self, count: usize) -> Result<()> {
        self.sees(&format!("{count} generate calls"), |calls| {
            calls.iter().filter(|call| is_generate(call)).count() >= count
        })
        .await
    }

    /// How many items each generate call carried, in order.
    pub fn sizes(&self) -> Vec<usize> {
        self.generate_calls()
            .iter()
            .map(|call| call.items)
            .collect()
    }

    /// Lets the next so many calls pass, before the rules that are added later.
    pub fn let_pass(&self, times: u32, path: &str) {
        let time = Duration::ZERO;
        self.proxy
            .add(Rule::next(times, path, Fault::Delay { time }));
    }

    /// The seeds of all generate calls, in order.
    pub fn seeds(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.seeds).collect()
    }

    /// The calls that the present tab has made since it was loaded, by the browser's own record.
    pub async fn calls_of_tab(&self) -> Result<u64> {
        let script = "
            return performance.getEntriesByType('resource')
                .filter(entry => new URL(entry.name).pathname.startsWith('/v2/')).length";
        let count = self.browser.run(script, vec![]).await?;
        count.as_u64().ok_or_else(|| "not a number".into())
    }
}
