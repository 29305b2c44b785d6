//! The progress that the service reports for the items of a batch.

use crate::studio::{TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::wait::{Seen, until};

/// Guards against items and a bar that do not change until an item has ended.
#[tokio::test(flavor = "multi_thread")]
async fn the_items_and_the_bar_show_the_reported_progress() {
    let name = "the_items_and_the_bar_show_the_reported_progress";
    run_steps(name, &["--speed", "50", "--workers", "2"], async |studio| {
        studio.send(&numbered_prompts("part", 3)).await?;
        until("progress", TIMEOUT, async || {
            let script = "
                const done = element => parseFloat(element?.style.getPropertyValue('--done') ?? '0');
                const item = document.querySelector('.thumb[data-phase=running] .done-bar:not([hidden])');
                const bar = document.querySelector('.stretches [data-phase=running]');
                return [done(item), done(bar)]";
            let shown = studio.browser.run(script, vec![]).await?;
            let is_shown = |at: usize| shown[at].as_f64().is_some_and(|done| done > 0.0);
            Ok(match is_shown(0) && is_shown(1) {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("done are {shown}")),
            })
        })
        .await
    })
    .await;
}
