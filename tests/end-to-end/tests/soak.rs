//! Half an hour of work in one tab, at twenty times the speed: what the page takes of the browser
//! returns to its level. A leak of a little for each task, poll or page shows here and nowhere else.

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

/// 500 tasks, and before them 100 that bring everything into memory that stays there.
const ROUNDS: usize = 6;
const TASKS: usize = 100;
const MINUTES: f64 = 30.0;

/// The page's clock and timers run twenty times as fast. How long the machine itself may take (to
/// answer a call, to open storage) stays as it is. Counts the timers that are waiting.
const FASTER: &str = "
    const TIMES = 20, LIMITS = [3000, 8000, 30000, 90000];
    const date = Date.now.bind(Date), since = date();
    const tick = performance.now.bind(performance);
    Date.now = () => since + (date() - since) * TIMES;
    performance.now = () => tick() * TIMES;
    const waiting = new Set();
    window.soak = { waiting, minutes: () => (Date.now() - since) / 60000 };
    const wrap = (begin, end, repeats) => {
        const begins = window[begin].bind(window), ends = window[end].bind(window);
        window[begin] = (callback, ms = 0, ...more) => {
            const id = begins((...args) => {
                if (!repeats) waiting.delete(id);
                callback(...args);
            }, LIMITS.includes(ms) ? ms : ms / TIMES, ...more);
            waiting.add(id);
            return id;
        };
        window[end] = id => { waiting.delete(id); ends(id); };
    };
    wrap('setTimeout', 'clearTimeout', false);
    wrap('setInterval', 'clearInterval', true);";

/// What the page takes, once the browser has thrown away what is not referenced.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// Bytes of scripts.
    heap: f64,
    /// Bytes of WebAssembly's memory, which only ever grows: what is let go must be used again.
    memory: f64,
    listeners: f64,
    nodes: f64,
    timers: f64,
}

impl Taken {
    /// Once what the round has begun is over: records are still being deleted, pictures let go.
    async fn at_rest(browser: &Browser) -> Result<Self> {
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
        let script = "return soak.waiting.size";
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

impl Taken {
    /// Of all of the page's memories: the script keeps its own to itself.
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
            other => Err(format!("no memory of WebAssembly: {other:?}").into()),
        }
    }
}

/// Its name, and how much more of it there may be: so many times, and so much.
type Part = (&'static str, fn(&Taken) -> f64, f64, f64);

/// What befalls a round: all of it settles by itself.
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

/// What a person does in a round. Not through the driver: it holds on to elements that it has seen.
const ROUND: &str = "
    const [round, tasks] = arguments;
    const pause = ms => new Promise(done => setTimeout(done, ms * 20));
    const until = async look => {
        for (;;) {
            const found = look();
            if (found) return found;
            await pause(100);
        }
    };
    const named = (kind, name) => [...document.querySelectorAll(kind)]
        .find(each => each.checkVisibility() && each.textContent.trim().startsWith(name));
    const press = async (kind, name) => (await until(() => named(kind, name))).click();
    const says = text => until(() => document.body.innerText.includes(text));
    soak.round = 'under way';
    (async () => {
        await press('a', 'Models');
        await press('main a', 'Tessera');
        await press('label', 'Batch');
        const lines = await until(() => document.getElementById('prompts'));
        lines.value = Array.from({ length: tasks }, (_, n) => `soak ${round} ${n}`).join('\\n');
        lines.dispatchEvent(new Event('input', { bubbles: true }));
        await press('button', `Generate ${tasks}`);
        await says(`${tasks} completed`);
        await press('a', 'Tasks');
        const many = tasks.toLocaleString('en');
        await says(`${many} tasks`);
        await press('button', `Clear ${many} finished tasks…`);
        await press('button', 'Clear them');
        await says('Nothing submitted yet.');
    })().then(() => { soak.round = 'over'; }, error => { soak.round = error.message; })";

async fn play_round(browser: &Browser, proxy: &FaultProxy, round: usize) -> Result<()> {
    for rule in faults() {
        proxy.add(rule);
    }
    browser.run(ROUND, vec![json!(round), json!(TASKS)]).await?;
    until(format!("round {round}"), TIMEOUT, async || {
        let said = browser.run("return soak.round", vec![]).await?;
        Ok(if said == "over" {
            Seen::Yes(())
        } else {
            Seen::NotYet(said.to_string())
        })
    })
    .await?;
    proxy.clear();
    pass(browser, MINUTES / ROUNDS as f64 * (round + 1) as f64).await
}

/// Waits until so many of the page's minutes have passed.
async fn pass(browser: &Browser, minutes: f64) -> Result<()> {
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
async fn half_an_hour_of_work_leaves_nothing_behind() {
    drive("half_an_hour_of_work", async |browser| {
        browser.needs(Capability::DevTools)?;
        let service = Service::with_site(&["--speed", "0.05"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        browser.before_each_page(FASTER).await?;
        browser.open(&proxy.address()).await?;
        let mut taken = Vec::new();
        for round in 0..ROUNDS {
            play_round(browser, &proxy, round).await?;
            let now = Taken::at_rest(browser).await?;
            println!("round {round}: {now:?}");
            taken.push(now);
        }
        let (first, last) = (taken[1], taken[ROUNDS - 1]);
        let parts: [Part; 5] = [
            ("script heap", |taken| taken.heap, 1.15, 500_000.0),
            (
                "WebAssembly's memory",
                |taken| taken.memory,
                1.0,
                1_048_576.0,
            ),
            ("listeners", |taken| taken.listeners, 1.0, 20.0),
            ("nodes", |taken| taken.nodes, 1.0, 300.0),
            ("timers", |taken| taken.timers, 1.0, 3.0),
        ];
        for (what, of, times, more) in parts {
            let (before, after) = (of(&first), of(&last));
            assert!(
                after <= before * times + more,
                "{what}: {before} after round 1, {after} after the last"
            );
        }
        let calls = proxy.calls_to("/v2/generate-batch");
        assert!(calls.len() >= ROUNDS * TASKS / 10, "{} calls", calls.len());
        Ok(())
    })
    .await;
}
