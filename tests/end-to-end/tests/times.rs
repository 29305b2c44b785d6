//! Tests of local dates and times before and after daylight saving time changes.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive_in_zone;
use serde_json::json;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Stores tasks with these prompts and times (ISO 8601) as copies of a task that the page has stored.
async fn seed(browser: &Browser, tasks: &[(&str, &str)]) -> Result<()> {
    let script = "
        const [tasks] = arguments;
        const request = request => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        return (async () => {
            const database = await request(indexedDB.open('atelier'));
            const transaction = database.transaction('tasks', 'readwrite');
            const store = transaction.objectStore('tasks');
            const task = JSON.parse((await request(store.getAll()))[0]);
            store.clear();
            for (const [prompt, time] of tasks) {
                const values = { ...task.input.values, prompt };
                const changed = { ...task, key: prompt, created: Date.parse(time),
                    input: { ...task.input, values } };
                store.put(JSON.stringify(changed), prompt);
            }
            await new Promise(done => { transaction.oncomplete = done; });
            database.close();
        })()";
    browser.run(script, vec![json!(tasks)]).await?;
    Ok(())
}

/// Guards against using today's UTC offset for past times: winter or summer times were an hour off.
#[tokio::test(flavor = "multi_thread")]
async fn times_use_utc_offset_of_their_own_date() {
    drive_in_zone(
        "Europe/Berlin",
        "times_use_utc_offset_of_their_own_date",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            browser
                .open(&format!("{address}/models/image/tessera"))
                .await?;
            browser.find(&by("heading", "Tessera")).await?;
            let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
            browser.fill(&prompt, "any").await?;
            browser.press(&by("button", "Generate")).await?;
            browser.wait_for_text("Completed", TIMEOUT).await?;
            browser.open(&format!("{address}/tasks")).await?;
            browser.find(&containing("article", "any")).await?;
            let tasks = [
                ("winter", "2020-01-15T10:30:00Z"),
                ("summer", "2020-07-15T10:30:00Z"),
                // In summer, local days begin at 22:00 UTC.
                ("eve", "2020-06-30T21:59:59Z"),
                ("first", "2020-06-30T22:00:00Z"),
                ("last", "2020-07-31T21:59:59Z"),
                ("after", "2020-07-31T22:00:00Z"),
                // A day of 23 hours and a day of 25 hours.
                ("short day", "2020-03-28T23:00:00Z"),
                ("next short", "2020-03-29T22:00:00Z"),
                ("long day", "2020-10-25T22:30:00Z"),
                ("next long", "2020-10-25T23:00:00Z"),
            ];
            seed(browser, &tasks).await?;

            let all = format!("{address}/tasks");
            browser.open(&all).await?;
            browser
                .wait_for_text("15 January 2020 11:30", TIMEOUT)
                .await?;
            browser.wait_for_text("15 July 2020 12:30", TIMEOUT).await?;

            for (from, to, shown) in [
                (
                    "2020-07-01",
                    "2020-07-31",
                    &["last", "summer", "first"] as &[&str],
                ),
                ("2020-03-29", "2020-03-29", &["short day"]),
                ("2020-10-25", "2020-10-25", &["long day"]),
            ] {
                browser.open(&format!("{all}?from={from}&to={to}")).await?;
                let count = match shown.len() {
                    1 => "1 task".to_owned(),
                    n => format!("{n} tasks"),
                };
                browser.wait_for_text(&count, TIMEOUT).await?;
                for prompt in shown {
                    browser.find(&by("link", prompt)).await?;
                }
            }
            // One button shows the selected dates and opens the filter.
            browser.press(&by("button", "25 October 2020")).await?;
            browser.press(&by("button", "Clear the dates")).await?;
            browser.find(&by("button", "Any date")).await?;
            let count = format!("{} tasks", tasks.len());
            browser.wait_for_text(&count, TIMEOUT).await?;
            Ok(())
        },
    )
    .await;
}
