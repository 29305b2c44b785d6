//! Runs the code that `Copy as` copies, in a shell, Python and Node.js.

use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "it's a \"rose\" $HOME `window` \\ 東京";

#[tokio::test(flavor = "multi_thread")]
async fn copied_code_runs_and_sends_form_values() {
    drive("copied_code_runs_and_sends_form_values", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        // The proxy serves page and service, so the code must use its address, and the proxy records the calls.
        let faults = FaultProxy::start(&service.address()).await?;
        browser
            .open(&format!("{}/models/image/tessera", faults.address()))
            .await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("radio", "Integrations")).await?;
        let section = browser.find(&by("region", "Integrations")).await?;
        let scroll = "arguments[0].scrollIntoView()";
        browser
            .run(scroll, vec![browser.argument(&section)])
            .await?;

        let mut before = String::new();
        for (count, (language, command)) in [
            ("curl", ["sh", "-s"].as_slice()),
            ("Python", &["python3", "-"]),
            ("JavaScript", &["node", "--input-type=module", "-"]),
        ]
        .into_iter()
        .enumerate()
        {
            browser.press(&by("radio", language)).await?;
            browser
                .press(&by("button", &format!("Copy as {language}")))
                .await?;
            let program = until("new code in the clipboard", TIMEOUT, async || {
                let copied = browser.clipboard().await?;
                Ok(match copied == before {
                    false => Seen::Yes(copied),
                    true => Seen::NotYet("still the previous code".into()),
                })
            })
            .await?;
            before.clone_from(&program);
            let printed = run(command, &program).await?;

            let sent = faults.calls_to("/v2/generate");
            assert_eq!(sent.len(), count + 1, "{language}");
            assert_eq!(sent[count].prompts, [PROMPT], "{language}");
            let start = printed.find("http").ok_or("the code printed no address")?;
            let output: String = printed[start..]
                .chars()
                .take_while(|c| !c.is_whitespace() && *c != '"')
                .collect();
            let (status, picture) = http::get(&output).await?;
            assert_eq!(status, 200, "{output}");
            assert!(picture.starts_with(b"\x89PNG"), "{output}");
            // Waits until the button shows its name again instead of a confirmation.
            browser
                .find(&by("button", &format!("Copy as {language}")))
                .await?;
        }
        Ok(())
    })
    .await;
}

/// Runs the code with the two environment variables set, and returns its output.
async fn run(command: &[&str], program: &str) -> Result<String> {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .env("SERVICE_UID", "me")
        .env("SERVICE_TOKEN", "a-token")
        .env("NO_PROXY", "127.0.0.1")
        .env("no_proxy", "127.0.0.1")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    stdin.write_all(program.as_bytes()).await?;
    drop(stdin);
    let output = child.wait_with_output().await?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {errors}\n{program}", command[0]).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
