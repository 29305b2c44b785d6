//! The MCP server: `POST /mcp`.

mod support;

#[cfg(unix)]
use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::{Answer, Server, until};
use tempfile::TempDir;

const QUICK: [&str; 2] = ["--speed", "0"];

const CURRENT: &str = "2026-07-28";
const PREVIOUS: &str = "2025-11-25";

/// Sends a message as a client of this revision does.
fn send(server: &Server, token: &str, version: &str, method: &str, mut params: Value) -> Answer {
    if version == CURRENT {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let authorization = format!("Bearer {token}");
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", version),
    ];
    if version == CURRENT {
        headers.push(("mcp-method", method));
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
    }
    server.call("POST", "/mcp", &headers, message.to_string().as_bytes())
}

/// Returns the result of a message.
fn ask(server: &Server, version: &str, method: &str, params: Value) -> Value {
    let answer = send(server, "t", version, method, params);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let message = answer.json();
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

/// Calls a tool and returns its result.
fn tool(server: &Server, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    ask(server, CURRENT, "tools/call", params)
}

/// Calls a tool that succeeds, and returns its structured content.
fn call(server: &Server, name: &str, arguments: Value) -> Value {
    let result = tool(server, name, arguments);
    assert_ne!(result["isError"], true, "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    text
}

/// Calls a tool that fails, and returns its text.
fn failure(server: &Server, name: &str, arguments: Value) -> String {
    let result = tool(server, name, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

fn strata(prompt: &str, wait: u32) -> Value {
    json!({"model": "image/strata", "input": {"prompt": prompt}, "wait_seconds": wait})
}

fn id_of(task: &Value) -> &str {
    task["task_id"].as_str().unwrap()
}

fn is_joined(task: &Value) -> bool {
    task["note"]
        .as_str()
        .is_some_and(|note| note.contains("earlier call"))
}

#[test]
fn both_revisions_list_models_and_generate_files() {
    let server = Server::start(&[&QUICK[..], &["--draw-scale", "0.25"]].concat());
    assert_eq!(
        server.get("/api/models").json()["mcp"],
        format!("{}/mcp", server.url)
    );
    let info = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": PREVIOUS, "capabilities": {}, "clientInfo": info});
    let greeting = ask(&server, PREVIOUS, "initialize", hello);
    assert_eq!(greeting["protocolVersion"], PREVIOUS);
    let discovered = ask(&server, CURRENT, "server/discover", json!({}));
    assert!(
        discovered["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(CURRENT))
    );
    for version in [PREVIOUS, CURRENT] {
        let listed = ask(&server, version, "tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap();
        let names: Vec<&str> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "list_models",
                "describe_model",
                "generate",
                "get_task",
                "cancel_task"
            ]
        );
        let params = json!({"name": "generate", "arguments": strata(version, 60)});
        let result = ask(&server, version, "tools/call", params);
        assert_eq!(result["isError"], false, "{result}");
        let task = &result["structuredContent"];
        assert_eq!(
            (&task["status"], &task["model"]),
            (&json!("completed"), &json!("image/strata"))
        );
        let [_, link, image] = result["content"].as_array().unwrap().as_slice() else {
            panic!("{result}");
        };
        assert_eq!(
            (&link["type"], &link["mimeType"]),
            (&json!("resource_link"), &json!("image/png"))
        );
        assert_eq!(link["uri"], task["output"][0]);
        assert_eq!(
            server
                .get(link["uri"].as_str().unwrap())
                .header("content-type"),
            "image/png"
        );
        assert_eq!(
            (&image["type"], &image["mimeType"]),
            (&json!("image"), &json!("image/png"))
        );
        assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    }

    let found = call(&server, "list_models", json!({"search": "GLASS image"}));
    assert_eq!(found["total"], 1);
    assert_eq!(found["models"][0]["model"], "image/tessera");
    assert_eq!(
        call(&server, "list_models", json!({"limit": 2}))["models"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let described = call(&server, "describe_model", json!({"model": "image/tessera"}));
    let prompt = &described["parameters"]["required"][0];
    assert_eq!(
        (&prompt["name"], prompt.get("vocabulary")),
        (&json!("prompt"), None)
    );

    let failed = tool(&server, "generate", strata("[fail]", 60));
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]["status"]),
        (&json!(true), &json!("failed"))
    );
}

#[test]
fn refusals_of_tools_are_results_and_other_errors_are_those_of_the_protocol() {
    let server = Server::start(&QUICK);
    for (name, arguments, text) in [
        (
            "generate",
            json!({"model": "image/nothing", "input": {}}),
            "There is no model image/nothing",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": {}}),
            "prompt is required",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": {"prompt": "a", "sepia": 1}}),
            "sepia",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": {"prompt": "a", "uid": "you"}}),
            "uid is no parameter",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": [1]}),
            "input must be an object",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": {"prompt": "a"}, "wait_seconds": -1}),
            "0 to 300",
        ),
        (
            "generate",
            json!({"model": "image/strata", "input": {"prompt": "a"}, "again": true}),
            "again is no argument",
        ),
        (
            "get_task",
            json!({"task_id": "0".repeat(32)}),
            "You have no task with this id",
        ),
        ("cancel_task", json!({}), "task_id is required"),
    ] {
        let failed = failure(&server, name, arguments);
        assert!(failed.contains(text), "{failed}");
    }
    let unknown = send(
        &server,
        "t",
        CURRENT,
        "tools/call",
        json!({"name": "paint", "arguments": {}}),
    );
    assert_eq!(
        unknown.json()["error"]["code"],
        -32602,
        "{}",
        unknown.text()
    );
    let unknown = send(&server, "t", CURRENT, "paint/all", json!({}));
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["code"]),
        (404, &json!(-32601))
    );
    let unknown = send(&server, "t", "2020-01-01", "tools/list", json!({}));
    assert_eq!(unknown.status, 400, "{}", unknown.text());
}

/// Guards against an MCP server that is less protected than the other routes.
#[test]
fn access_is_checked_before_the_message() {
    let server = Server::start(&["--token", "secret", "--rate", "1000/s"]);
    let body = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    let plain = ("accept", "application/json, text/event-stream");
    let json = ("content-type", "application/json");
    let known = ("authorization", "Bearer secret");
    let post = |headers: &[(&str, &str)]| {
        server.call("POST", "/mcp", &[&[plain, json], headers].concat(), body)
    };
    assert_eq!(post(&[known]).status, 200);
    for headers in [&[][..], &[("authorization", "Bearer wrong")]] {
        let refused = post(headers);
        assert_eq!(
            (refused.status, refused.header("www-authenticate")),
            (401, "Bearer realm=\"atelier\"")
        );
        assert_eq!(refused.json()["jsonrpc"], "2.0");
    }
    assert_eq!(
        post(&[known, ("origin", "https://evil.example")]).status,
        403
    );
    assert_eq!(post(&[known, ("host", "evil.example")]).status, 421);
    assert_eq!(server.call("GET", "/mcp", &[known, plain], b"").status, 405);
    assert_eq!(server.call("DELETE", "/mcp", &[known], b"").status, 405);
    let large = vec![b' '; (1 << 20) + 1];
    assert_eq!(
        server
            .call("POST", "/mcp", &[known, plain, json], &large)
            .status,
        413
    );
    let broken = server.call("POST", "/mcp", &[known, plain, json], b"{");
    assert!((400..500).contains(&broken.status), "{}", broken.text());

    let off = Server::start(&["--mcp-tools", "off"]);
    assert_eq!(
        send(&off, "t", CURRENT, "tools/list", json!({})).status,
        404
    );
    assert_eq!(off.get("/api/models").json().get("mcp"), None);
    let limited = Server::start(&["--rate", "1/s"]);
    let mut statuses =
        (0..20).map(|_| send(&limited, "t", CURRENT, "tools/list", json!({})).status);
    assert!(statuses.any(|status| status == 429));
}

/// A model that runs until the file `end` exists, or the test has ended.
#[cfg(unix)]
const WAITING: &str = r#"
builtin = false

[[model]]
category = "image"
subcategory = "waiting"
name = "Waiting"
command = { program = "/bin/sh", arguments = ["-c", "while [ -d FOLDER ] && [ ! -e FOLDER/end ]; do sleep 0.05; done; echo x > a.txt"] }
parameter = [{ name = "prompt", type = "string", required = true }]
"#;

#[cfg(unix)]
fn start_waiting(data: &Path, options: &[&str]) -> Server {
    let models = WAITING.replace("FOLDER", data.to_str().unwrap());
    Server::start_with_models(data, &models, options)
}

fn waiting(prompt: &str, wait: u32) -> Value {
    json!({"model": "image/waiting", "input": {"prompt": prompt}, "wait_seconds": wait})
}

/// Sends a call of generate, and does not read its response.
fn begin(server: &Server, arguments: &Value) -> TcpStream {
    let stream = server.connect();
    send_call(&stream, arguments);
    stream
}

fn send_call(mut stream: &TcpStream, arguments: &Value) {
    let params = json!({"name": "generate", "arguments": arguments});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\nMCP-Protocol-Version: {PREVIOUS}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// Returns what a connection receives until the end of the responses.
fn read_answers(mut stream: TcpStream) -> String {
    // This request is answered after the others, and ends the connection.
    let last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(last).unwrap();
    let mut answers = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answers).unwrap();
    answers
}

fn accepted(server: &Server) -> usize {
    server.log().matches(" accepted").count()
}

/// Waits until the log contains that many accepted tasks, and checks that there are no more. A response may arrive before its
/// lines of the log.
fn await_accepted(server: &Server, count: usize) {
    until("the tasks are accepted", || accepted(server) >= count);
    assert_eq!(accepted(server), count);
}

/// Repeats a call of generate until it makes another task than this one, which has ended. A response is reported only if it
/// is sent within some seconds, so a slow machine needs more than one.
#[cfg(unix)]
fn next_task(server: &Server, arguments: &Value, ended: &str) -> Value {
    for _ in 0..100 {
        let task = call(server, "generate", arguments.clone());
        if id_of(&task) != ended {
            assert!(!is_joined(&task));
            return task;
        }
        assert_eq!(
            (&task["status"], is_joined(&task)),
            (&json!("completed"), true)
        );
    }
    panic!("the end of {ended} was never reported");
}

/// Guards against paying twice: equal calls of which none finds a task.
#[cfg(unix)]
#[test]
fn concurrent_equal_calls_make_one_task() {
    let data = TempDir::new().unwrap();
    let server = start_waiting(data.path(), &["--workers", "4"]);
    for round in 0..30 {
        let arguments = waiting(&round.to_string(), 0);
        let streams: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
        for stream in &streams {
            send_call(stream, &arguments);
        }
        let id = |stream| {
            let answers = read_answers(stream);
            let found = answers.split_once("\"task_id\":\"");
            let (_, rest) = found.unwrap_or_else(|| panic!("{answers}"));
            rest[..32].to_owned()
        };
        let ids: BTreeSet<String> = streams.into_iter().map(id).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
    }
}

/// Guards against paying twice: a client that has timed out calls again. Guards also against the opposite, a result of an
/// earlier call for a user who wants another one.
#[cfg(unix)]
#[test]
fn a_repeated_call_joins_its_task_until_its_end_was_reported() {
    let data = TempDir::new().unwrap();
    let mut server = start_waiting(data.path(), &["--workers", "4"]);
    let lost = begin(&server, &waiting("a", 300));
    server.await_log(" accepted");
    // The client gives up.
    drop(lost);
    let first = call(&server, "generate", waiting("a", 0));
    assert_eq!(
        (&first["status"], is_joined(&first)),
        (&json!("processing"), true)
    );
    // Concurrent calls, another input, another token.
    let same: Vec<String> = std::thread::scope(|scope| {
        let one = || id_of(&call(&server, "generate", waiting("a", 0))).to_owned();
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(same.iter().all(|id| id == id_of(&first)));
    let other = call(&server, "generate", waiting("b", 0));
    assert_ne!(id_of(&other), id_of(&first));
    await_accepted(&server, 2);
    let of_other = json!({"name": "generate", "arguments": waiting("a", 0)});
    let of_other = send(&server, "another", CURRENT, "tools/call", of_other).json();
    assert_ne!(
        id_of(&of_other["result"]["structuredContent"]),
        id_of(&first)
    );
    await_accepted(&server, 3);

    // The user wants a second result.
    let mut second = waiting("a", 0);
    second["request_id"] = "5f0c".into();
    let again = call(&server, "generate", second.clone());
    assert!(!is_joined(&again) && id_of(&again) != id_of(&first));
    assert_eq!(id_of(&call(&server, "generate", second)), id_of(&again));
    await_accepted(&server, 4);

    // The task ends, and no client has received that: also not before a restart.
    std::fs::write(data.path().join("end"), "").unwrap();
    let status = json!({"id": first["task_id"], "uid": "local", "category": "image", "subcategory": "waiting"});
    server.wait(&status);
    assert!(server.terminate());
    let server = start_waiting(data.path(), &["--workers", "4"]);
    let result = call(&server, "generate", waiting("a", 0));
    assert_eq!(
        (&result["status"], is_joined(&result)),
        (&json!("completed"), true)
    );
    assert_eq!(id_of(&result), id_of(&first));
    // Once it was reported, the next call makes another task.
    let new = next_task(&server, &waiting("a", 60), id_of(&first));
    let another = next_task(&server, &waiting("a", 60), id_of(&new));
    assert_ne!(id_of(&another), id_of(&first));
    await_accepted(&server, 2);
}

/// Guards against a canceled task that later calls join.
#[cfg(unix)]
#[test]
fn tasks_are_canceled_and_then_not_joined() {
    let data = TempDir::new().unwrap();
    let server = start_waiting(data.path(), &[]);
    let task = call(&server, "generate", waiting("a", 0));
    let canceled = call(&server, "cancel_task", json!({"task_id": id_of(&task)}));
    assert_eq!(
        (&canceled["canceled"], &canceled["status"]),
        (&json!(true), &json!("failed"))
    );
    let state = call(&server, "get_task", json!({"task_id": id_of(&task)}));
    assert_eq!(state["error"], "Canceled");
    let next = call(&server, "generate", waiting("a", 0));
    assert_ne!(id_of(&next), id_of(&task));

    // Neither if it has a request_id.
    let mut named = waiting("a", 0);
    named["request_id"] = "5f0c".into();
    let first = call(&server, "generate", named.clone());
    call(&server, "cancel_task", json!({"task_id": id_of(&first)}));
    let next = call(&server, "generate", named.clone());
    assert!(!is_joined(&next) && id_of(&next) != id_of(&first));
    let same = call(&server, "generate", named);
    assert_eq!((id_of(&same), is_joined(&same)), (id_of(&next), true));
}

/// Guards against calls that wait for minutes and delay the stop of the service.
#[cfg(unix)]
#[test]
fn waiting_calls_end_when_the_service_stops() {
    let data = TempDir::new().unwrap();
    let mut server = start_waiting(data.path(), &[]);
    let mut stream = begin(&server, &waiting("a", 300));
    server.await_log("begins");
    assert!(server.terminate());
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(
        answer.contains("processing") && answer.contains("task_id"),
        "{answer}"
    );
}

/// Guards against calls beyond the limits of an account, and against tasks of other accounts.
#[cfg(unix)]
#[test]
fn accounts_have_their_own_tasks_and_limits() {
    let data = TempDir::new().unwrap();
    let add = |name: &str| {
        let mut command = Command::new(support::program());
        command
            .args(["account", "add", name, "--data"])
            .arg(data.path());
        let output = command
            .args(support::cluster::database_of(data.path()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (ada, bob) = (add("ada"), add("bob"));
    let server = start_waiting(
        data.path(),
        &["--account-waiting", "1", "--account-running", "1"],
    );
    assert_eq!(
        send(&server, "t", CURRENT, "tools/list", json!({})).status,
        401
    );
    let call = |token: &str, name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        send(&server, token, CURRENT, "tools/call", params).json()["result"].clone()
    };
    let task = call(&ada, "generate", waiting("a", 0))["structuredContent"].clone();
    server.await_log("begins");
    assert_ne!(call(&ada, "generate", waiting("b", 0))["isError"], true);
    let refused = call(&ada, "generate", waiting("c", 0));
    assert_eq!(refused["isError"], true);
    assert!(
        refused["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("too_many_waiting"),
        "{refused}"
    );
    for name in ["get_task", "cancel_task"] {
        let arguments = json!({"task_id": id_of(&task)});
        assert_eq!(call(&bob, name, arguments)["isError"], true);
    }
    let own = call(&ada, "get_task", json!({"task_id": id_of(&task)}));
    assert_eq!(own["structuredContent"]["status"], "processing");
}

/// Guards against a secret in a tool, which a chat model would see.
#[cfg(unix)]
#[test]
fn each_model_without_secrets_has_a_tool() {
    let data = TempDir::new().unwrap();
    let models = r#"
[[model]]
category = "image"
subcategory = "echo"
name = "Echo"
command = { program = "/bin/sh", arguments = ["-c", "cat > input.json"] }
parameter = [
    { name = "prompt", type = "string", required = true },
    { name = "num_outputs", type = "integer", values = [1, 2, 4], default = 1 },
    { name = "api_key", type = "string", secret = true },
]

[[model]]
category = "image"
subcategory = "secret"
name = "Secret"
command = { program = "/bin/sh", arguments = ["-c", "cat > input.json"] }
parameter = [{ name = "api_key", type = "string", secret = true, required = true }]
"#;
    let server = Server::start_with_models(data.path(), models, &["--mcp-tools", "each"]);
    let listed = ask(&server, CURRENT, "tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    let echo = tools
        .iter()
        .find(|tool| tool["name"] == "image_echo")
        .unwrap();
    let properties = echo["inputSchema"]["properties"].as_object().unwrap();
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["prompt", "num_outputs", "wait_seconds", "request_id"]
    );
    assert!(tools.iter().all(|tool| tool["name"] != "image_secret"));

    let arguments = json!({"prompt": "a", "num_outputs": "2", "wait_seconds": 60});
    let task = call(&server, "image_echo", arguments.clone());
    let input = server.get(task["output"][0].as_str().unwrap()).json();
    assert_eq!(input["num_outputs"], 2, "{input}");
    let unknown = failure(
        &server,
        "image_echo",
        json!({"prompt": "a", "api_key": "k"}),
    );
    assert!(unknown.contains("secret"), "{unknown}");
    let general = json!({"model": "image/secret", "input": {}});
    assert!(failure(&server, "generate", general).contains("needs a secret"));
    let described = call(&server, "describe_model", json!({"model": "image/echo"}));
    assert!(!described.to_string().contains("api_key"), "{described}");
    // Without the option, there is no such tool.
    let server = Server::start_with_models(TempDir::new().unwrap().path(), models, &[]);
    let params = json!({"name": "image_echo", "arguments": arguments});
    let answer = send(&server, "t", CURRENT, "tools/call", params).json();
    assert_eq!(answer["error"]["code"], -32602);
}

/// Guards against prompts and tokens in the log of the MCP library.
#[test]
fn prompts_and_tokens_are_not_logged() {
    let mut command = Command::new(support::program());
    let data = TempDir::new().unwrap();
    command
        .args(["--listen", "127.0.0.1:0", "--speed", "0", "--data"])
        .arg(data.path())
        .env("RUST_LOG", "debug,rmcp::service=trace");
    let server = Server::run(command);
    call(&server, "generate", strata("a-private-prompt", 60));
    server.await_log(" accepted");
    let log = server.log();
    assert!(
        !log.contains("a-private-prompt") && !log.contains("Bearer"),
        "{log}"
    );
}
