//! A gallery with many outputs.

use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::{TIMEOUT, run_steps};

/// Guards against a gallery that renders all tiles or blocks the page while it is scrolled, and against errors when storage
/// responds to tiles that are no longer rendered.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_outputs_need_few_elements() {
    let name = "ten_thousand_outputs_need_few_elements";
    run_steps(name, 5_000, async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        let script = "
            const frame = () => new Promise(requestAnimationFrame);
            window.testErrors = [];
            addEventListener('error', event => testErrors.push(event.message));
            return (async () => {
                let most = 0;
                for (let n = 0; n < 80; n++) {
                    scrollBy(0, 200);
                    await frame();
                    await new Promise(done => setTimeout(done, 0));
                    most = Math.max(most, document.querySelectorAll('*').length);
                }
                return most;
            })()";
        let nodes = browser.run(script, vec![]).await?.as_u64();
        // Scrolls so fast that tiles are removed before storage has responded.
        let script = "
            const frame = () => new Promise(requestAnimationFrame);
            return (async () => {
                for (let n = 1; n <= 40; n++) {
                    scrollTo(0, document.documentElement.scrollHeight * n / 40);
                    await frame();
                }
                await new Promise(done => setTimeout(done, 1000));
                return testErrors;
            })()";
        let errors = browser.run(script, vec![]).await?;
        println!("10,000 outputs: {nodes:?} nodes");
        assert!(nodes.is_some_and(|nodes| nodes < 400), "{nodes:?} nodes");
        assert_eq!(errors, json!([]));
        // A large window shows three times as many tiles. Guards against closed dialogs that stay in the DOM.
        browser.set_size(2560, 1300).await?;
        let script = "
            return new Promise(done => setTimeout(
                () => done(document.querySelectorAll('*').length), 500))";
        let large = browser.run(script, vec![]).await?;
        println!("nodes at 2560 x 1300: {large}");
        assert!(large.as_u64().is_some_and(|nodes| nodes < 400), "{large}");
        browser
            .run("scrollTo(0, document.documentElement.scrollHeight)", vec![])
            .await?;
        // The oldest output is at the end.
        until("the last output", TIMEOUT, async || {
            let script = "
                return [...document.querySelectorAll('.gallery li')].some(
                    item => item.getAttribute('aria-posinset') === '10000')";
            let is_there = browser.run(script, vec![]).await? == Value::Bool(true);
            Ok(match is_there {
                true => Seen::Yes(()),
                false => Seen::NotYet("the list has no last output".into()),
            })
        })
        .await
    })
    .await;
}
