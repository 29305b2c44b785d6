//! A soak test: 30 minutes of work in one tab, at twenty times the speed. The page's use of browser resources must
//! not grow. Finds small leaks for each task, poll or page.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, RetryAfter, Rule};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(240);

/// A warm-up round of 100 tasks, then 500 more tasks.
const ROUNDS: usize = 6;
const TASKS: usize = 100;
const MINUTES: f64 = 30.0;

/// Makes the page's clock and timers run twenty times as fast, except the time limits for calls and storage
/// (`LIMITS`). Counts the pending timers.
const FAST_CLOCK: &str = "
    const TIMES = 20, LIMITS = [3000, 8000, 30000, 90000];
    const date = Date.now.bind(Date), since = date();
    const tick = performance.now.bind(performance);
    Date.now = () => since + (date() - since) * TIMES;
    performance.now = () => tick() * TIMES;
    const pending = new Set();
    window.soak = { pending, minutes: () => (Date.now() - since) / 60000 };
    const wrap = (start, stop, repeats) => {
        const startTimer = window[start].bind(window), stopTimer = window[stop].bind(window);
        window[start] = (callback, ms = 0, ...more) => {
            const id = startTimer((...args) => {
                if (!repeats) pending.delete(id);
                callback(...args);
            }, LIMITS.includes(ms) ? ms : ms / TIMES, ...more);
            pending.add(id);
            return id;
        };
        window[stop] = id => { pending.delete(id); stopTimer(id); };
    };
    wrap('setTimeout', 'clearTimeout', false);
    wrap('setInterval', 'clearInterval', true);";

/// The browser resources of the page after garbage collection.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// The size of the script heap in bytes.
    heap: f64,
    /// The size of the WebAssembly memory in bytes. It never shrinks, so freed memory must be reused.
    memory: f64,
    listeners: f64,
    nodes: f64,
    timers: f64,
}

impl Usage {
    /// Returns the lowest usage within 10 s after a round, while records are deleted and pictures are released.
    async fn measure_settled(browser: &Browser) -> Result<Self> {
        let mut least = Self::measure(browser).await?;
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = Self::measure(browser).await?;
            least = Self {
                heap: least.heap.min(now.heap),
                memory: least.memory.min(now.memory),
                listeners: least.listeners.min(now.listeners),
                nodes: least.nodes.min(now.nodes),
                timers: least.timers.min(now.timers),
            };
        }
        Ok(least)
    }

    async fn measure(browser: &Browser) -> Result<Self> {
        browser.devtools("Performance.enable", json!({})).await?;
        for _ in 0..3 {
            browser
                .devtools("HeapProfiler.collectGarbage", json!({}))
                .await?;
        }
        let metrics = browser
            .devtools("Performance.getMetrics", json!({}))
            .await?;
        let of = |name: &str| {
            let all = metrics["metrics"].as_array().into_iter().flatten();
            let mut named = all.filter(|metric| metric["name"] == name);
            named
                .next()
                .and_then(|metric| metric["value"].as_f64())
                .ok_or_else(|| format!("no metric {name}"))
        };
        let script = "return soak.pending.size";
        let timers = browser.run(script, vec![]).await?;
        Ok(Self {
            heap: of("JSHeapUsedSize")?,
            memory: Self::memory(browser).await?,
            listeners: of("JSEventListeners")?,
            nodes: of("Nodes")?,
            timers: timers.as_f64().unwrap_or_default(),
        })
    }
}

impl Usage {
    /// Returns the size of all WebAssembly memories of the page. Queries the heap, because the script does not export
    /// its memory.
    async fn memory(browser: &Browser) -> Result<f64> {
        let group = "soak";
        let kind = json!({ "expression": "WebAssembly.Memory.prototype", "objectGroup": group });
        let kind = browser.devtools("Runtime.evaluate", kind).await?;
        let all = json!({ "prototypeObjectId": kind["result"]["objectId"], "objectGroup": group });
        let all = browser.devtools("Runtime.queryObjects", all).await?;
        let sum = json!({
            "objectId": all["objects"]["objectId"],
            "returnByValue": true,
            "functionDeclaration":
                "function () { return this.reduce((sum, each) => sum + each.buffer.byteLength, 0) }",
        });
        let sum = browser.devtools("Runtime.callFunctionOn", sum).await?;
        let sum = sum["result"]["value"].as_f64();
        browser
            .devtools(
                "Runtime.releaseObjectGroup",
                json!({ "objectGroup": group }),
            )
            .await?;
        match sum {
            Some(sum) if sum > 0.0 => Ok(sum),
            other => Err(format!("no WebAssembly memory: {other:?}").into()),
        }
    }
}

/// A resource: name, value, and the allowed growth as a factor and an amount.
type Resource = (&'static str, fn(&Usage) -> f64, f64, f64);

/// Returns the faults of a round. The page recovers from all of these faults automatically.
fn faults() -> Vec<Rule> {
    let wait = |seconds| Fault::Status {
        status: 429,
        retry_after: Some(RetryAfter::Seconds(seconds)),
    };
    let broken = Fault::Status {
        status: 500,
        retry_after: None,
    };
    vec![
        Rule::next(1, "/v2/generate-batch", wait(20)),
        Rule::next(1, "/v2/generate-batch", Fault::DropAfter),
        Rule::next(2, "/v2/status*", wait(10)),
        Rule::next(3, "/v2/status*", broken),
        Rule::next(1, "/v2/status*", Fault::NotJson),
        Rule::next(2, "/v2/response*", Fault::DropBefore),
        Rule::next(2, "/v2/status*", Fault::CutBatch { keep: 3 }),
    ]
}

/// The user actions of a round. A script, because WebDriver keeps references to elements.
const ROUND: &str = "
    const [round, tasks] = arguments;
    const pause = ms => new Promise(done => setTimeout(done, ms * 20));
    const until = async check => {
        for (;;) {
            const found = check();
            if (found) return found;
            await pause(100);
        }
    };
    const named = (kind, name) => [...document.querySelectorAll(kind)]
        .find(each => each.checkVisibility() && each.textContent.trim().startsWith(name));
    const press = async (kind, name) => (await until(() => named(kind, name))).click();
    const waitForText = text => until(() => document.body.innerText.includes(text));
    soak.round = 'running';
    (async () => {
        await press('a', 'Models');
        await press('main a', 'Tessera');
        await press('label', 'Batch');
        const lines = await until(() => document.getElementById('prompts'));
        lines.value = Array.from({ length: tasks }, (_, n) => `soak ${round} ${n}`).join('\\n');
        lines.dispatchEvent(new Event('input', { bubbles: true }));
        await press('button', `Generate ${tasks}`);
        await waitForText(`${tasks} completed`);
        await press('a', 'Tasks');
        const many = tasks.toLocaleString('en');
        await waitForText(`${many} tasks`);
        await press('button', `Clear ${many} finished tasks…`);
        await press('button', 'Clear them');
        await waitForText('Nothing submitted yet.');
    })().then(() => { soak.round = 'done'; }, error => { soak.round = error.message; })";

async fn run_round(browser: &Browser, proxy: &FaultProxy, round: usize) -> Result<()> {
    for rule in faults() {
        proxy.add(rule);
    }
    browser.run(ROUND, vec![json!(round), json!(TASKS)]).await?;
    until(format!("round {round}"), TIMEOUT, async || {
        let state = browser.run("return soak.round", vec![]).await?;
        Ok(if state == "done" {
            Seen::Yes(())
        } else {
            Seen::NotYet(state.to_string())
        })
    })
    .await?;
    proxy.clear();
    wait_for_minute(browser, MINUTES / ROUNDS as f64 * (round + 1) as f64).await
}

/// Waits until this many minutes have passed on the page's clock.
async fn wait_for_minute(browser: &Browser, minutes: f64) -> Result<()> {
    until(format!("minute {minutes}"), TIMEOUT, async || {
        let now: Value = browser.run("return soak.minutes()", vec![]).await?;
        Ok(if now.as_f64() >= Some(minutes) {
            Seen::Yes(())
        } else {
            Seen::NotYet(now.to_string())
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_minutes_of_work_leak_no_resources() {
    drive(
        "thirty_minutes_of_work_leak_no_resources",
        async |browser| {
            browser.needs(Capability::DevTools)?;
            let service = Service::start_with_site(&["--speed", "0.05"]).await?;
            let proxy = FaultProxy::start(&service.address()).await?;
            browser.before_each_page(FAST_CLOCK).await?;
            browser.open(&proxy.address()).await?;
            let mut usage = Vec::new();
            for round in 0..ROUNDS {
                run_round(browser, &proxy, round).await?;
                let now = Usage::measure_settled(browser).await?;
                println!("round {round}: {now:?}");
                usage.push(now);
            }
            let (first, last) = (usage[1], usage[ROUNDS - 1]);
            let resources: [Resource; 5] = [
                ("script heap", |usage| usage.heap, 1.15, 500_000.0),
                ("WebAssembly memory", |usage| usage.memory, 1.0, 1_048_576.0),
                ("listeners", |usage| usage.listeners, 1.0, 20.0),
                ("nodes", |usage| usage.nodes, 1.0, 300.0),
                ("timers", |usage| usage.timers, 1.0, 3.0),
            ];
            for (what, of, times, more) in resources {
                let (before, after) = (of(&first), of(&last));
                assert!(
                    after <= before * times + more,
                    "{what}: {before} after round 1, {after} after the last"
                );
            }
            let calls = proxy.calls_to("/v2/generate-batch");
            assert!(calls.len() >= ROUNDS * TASKS / 10, "{} calls", calls.len());
            Ok(())
        },
    )
    .await;
}
