//! The log on standard error, as text or JSON.
//!
//! A task's id gives access to its outputs, and a signed address of another server gives access to a file. Every log
//! line, including those of libraries, therefore contains shortened ids and addresses.

use std::io::{self, IsTerminal, Stderr, Write};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The length of a task's id, in hexadecimal digits.
const ID_LENGTH: usize = 32;

/// The length above which a path segment may be a secret.
const MAX_SEGMENT: usize = 20;

/// The number of leading characters shown of an id or a path segment, enough to find it in the log.
const SHOWN: usize = 8;

/// Whatever `RUST_LOG` says, this library does not log the messages that it receives, which contain prompts.
const SILENT: &str = "rmcp";

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts logging. `RUST_LOG` sets the level.
pub fn begin(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into());
    // A directive of `filter` would be overridden by those for the modules of the library.
    let others = filter_fn(|metadata| {
        let rest = metadata.target().strip_prefix(SILENT);
        rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with("::"))
    });
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| ShorteningWriter(io::stderr()));
    match format {
        LogFormat::Text => log
            .with_ansi(io::stderr().is_terminal())
            .finish()
            .with(others)
            .init(),
        LogFormat::Json => log
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .with_ansi(false)
            .finish()
            .with(others)
            .init(),
    }
}

/// Writes [`shorten`] lines to standard error. Each event is a single write.
struct ShorteningWriter(Stderr);

impl Write for ShorteningWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        self.0.write_all(shorten(&line).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Shortens task ids and the parts of addresses that may be secrets, with `…` at their end.
fn shorten(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = find_address(rest) {
        let (before, from) = rest.split_at(at);
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'\\<>()".contains(c);
        let (address, after) = from.split_at(from.find(ends).unwrap_or(from.len()));
        push_without_ids(&mut text, before);
        push_address(&mut text, address);
        rest = after;
    }
    push_without_ids(&mut text, rest);
    text
}

/// Returns the start of the first http(s) address.
fn find_address(text: &str) -> Option<usize> {
    text.match_indices("://").find_map(|(end, _)| {
        ["https", "http"].iter().find_map(|scheme| {
            let begin = end.checked_sub(scheme.len())?;
            let found = text.get(begin..end)?;
            found.eq_ignore_ascii_case(scheme).then_some(begin)
        })
    })
}

/// Appends an address, without its query and with long segments shortened.
fn push_address(text: &mut String, address: &str) {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let (path, query) = address.split_at(end);
    // The first three segments are the scheme, an empty string and the host.
    for (n, segment) in path.split('/').enumerate() {
        if n > 0 {
            text.push('/');
        }
        if n > 2 && segment.chars().count() > MAX_SEGMENT {
            text.extend(segment.chars().take(SHOWN));
            text.push('…');
        } else {
            text.push_str(segment);
        }
    }
    if !query.is_empty() {
        text.push_str(&query[..1]);
        text.push('…');
    }
}

/// Appends a text with task ids shortened. Request ids, which callers choose, are not shortened.
fn push_without_ids(text: &mut String, mut rest: &str) {
    while !rest.is_empty() {
        let other = rest.find(|c: char| c.is_ascii_hexdigit());
        let (before, from) = rest.split_at(other.unwrap_or(rest.len()));
        text.push_str(before);
        let end = from.find(|c: char| !c.is_ascii_hexdigit());
        let (digits, after) = from.split_at(end.unwrap_or(from.len()));
        if digits.len() >= ID_LENGTH && !ends_before_request_id(text) {
            text.push_str(&digits[..SHOWN]);
            text.push('…');
        } else {
            text.push_str(digits);
        }
        rest = after;
    }
}

/// Returns whether the text ends with `request_id=` or `"request_id":"`, with or without colour codes.
fn ends_before_request_id(text: &str) -> bool {
    text.rsplit_once("request_id")
        .is_some_and(|(_, between)| between.len() <= 16 && !between.contains([' ', ',', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "3f2c1a9b04d7e65f8a1b2c3d4e5f6071";

    /// Guards against a log that gives its readers access to the outputs of others.
    #[test]
    fn task_ids_and_secret_parts_of_addresses_are_shortened() {
        for (line, shown) in [
            (format!("task {TASK} begins\n"), "task 3f2c1a9b… begins\n"),
            (
                format!("/outputs/{TASK}/0.png: no space"),
                "/outputs/3f2c1a9b…/0.png: no space",
            ),
            (
                format!("{{\"message\":\"PUT http://s3:9000/b/x/{TASK}/0.png in 2s\"}}"),
                "{\"message\":\"PUT http://s3:9000/b/x/3f2c1a9b…/0.png in 2s\"}",
            ),
            (
                "https://a.example/out/Zm9vYmFyYmF6cXV4cXV1eA/1.png?sig=s3cret: HTTP 500".into(),
                "https://a.example/out/Zm9vYmFy…/1.png?…",
            ),
            (
                "fetching HTTPS://a.example/out/Zm9vYmFyYmF6cXV4cXV1eA?sig=s3cret".into(),
                "fetching HTTPS://a.example/out/Zm9vYmFy…?…",
            ),
            (
                "metrics on http://127.0.0.1:9090/metrics".into(),
                "metrics on http://127.0.0.1:9090/metrics",
            ),
        ] {
            assert!(shorten(&line).starts_with(shown), "{}", shorten(&line));
            assert!(!shorten(&line).contains(&TASK[8..]));
        }
        assert_eq!(shorten("déjà vu, deadbeef"), "déjà vu, deadbeef");
    }

    /// A caller must find its call in the log by the request id that it chose.
    #[test]
    fn request_ids_are_not_shortened() {
        for line in [
            format!("call{{request_id={TASK}}}: a"),
            format!("{{\"span\":{{\"name\":\"call\",\"request_id\":\"{TASK}\"}}}}"),
            format!("\u{1b}[3mrequest_id\u{1b}[0m\u{1b}[2m=\u{1b}[0m{TASK}"),
        ] {
            assert_eq!(shorten(&line), line);
        }
    }
}
