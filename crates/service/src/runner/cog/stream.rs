//! Receives the progress of a prediction as server-sent events. A container sends them if its model is declared as
//! `streaming`.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use ureq::http::Request;

use crate::report::Report;
use crate::runner::Run;
use crate::runner::file::MAX_FILE_BYTES;
use crate::runner::http::{CallError, Client, Reply, call_error, header, read};
use crate::runner::lines::{Line, Output};

/// The content type of server-sent events.
const EVENTS: &str = "text/event-stream";

/// The name of the last event. Its data is the prediction with all outputs.
const COMPLETED: &str = "completed";

/// The start of a line with the data of an event.
const DATA: &[u8] = b"data:";

/// The maximum size of all other events, in bytes. Larger ones are skipped, such as an output, which the last event
/// contains as well.
const MAX_EVENT: u64 = 256 << 10;

/// Returns whether a container's document declares the model as `streaming`. Containers refuse to stream others.
pub fn is_streaming(document: &Value) -> bool {
    document.pointer("/paths/~1predictions/post/x-cog-streaming") == Some(&Value::Bool(true))
}

/// The progress that was received and is not reported yet.
#[derive(Default)]
pub struct Progress(Mutex<Report>);

impl Progress {
    fn add(&self, report: Report) {
        self.lock().update(report);
    }

    /// Reports what was received since the last call.
    pub fn report(&self, run: &Run<'_>) {
        let report = std::mem::take(&mut *self.lock());
        if report != Report::default() {
            (run.report)(report);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Report> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a prediction and waits for its end. Returns the response that the container would send without a stream:
/// the prediction, 202 if an earlier attempt is still running and its events are lost, or 406 if the prediction can't be
/// streamed.
///
/// # Errors
///
/// As for [`Client::send`]; also [`CallError::Broken`] if the stream ends before the prediction.
pub fn send(
    client: &Client,
    url: &str,
    body: &Value,
    time: Duration,
    progress: &Progress,
) -> Result<Reply, CallError> {
    let request = Request::put(url)
        .header("content-type", "application/json")
        .header("accept", EVENTS);
    let response = client.open(request, body.to_string().into_bytes(), time)?;
    let content_type = header(response.headers(), "content-type").unwrap_or_default();
    if response.status() != 200 || !content_type.starts_with(EVENTS) {
        return read(response);
    }
    let events = BufReader::new(response.into_body().into_reader());
    let (status, body) = receive(events, progress).map_err(|error| call_error(error.into()))?;
    Ok(Reply {
        status,
        content_type: "application/json".into(),
        retry_after: None,
        body,
    })
}

/// Receives events until the prediction has ended. Returns a status and the body of a reply.
fn receive(mut events: impl BufRead, progress: &Progress) -> io::Result<(u16, Vec<u8>)> {
    let mut log = Log::default();
    let mut is_first = true;
    while let Some(event) = next(&mut events)? {
        match event.name.as_str() {
            COMPLETED if event.is_too_long => {
                return Err(io::Error::other("the result is too large"));
            }
            COMPLETED => return Ok((200, event.data)),
            // The container no longer has the first events of an earlier attempt.
            "error" if is_first => return Ok((202, event.data)),
            // The model writes faster than the container sends.
            "error" => return Ok((406, event.data)),
            "log" => log.add(&event.data, progress),
            _ => {}
        }
        is_first = false;
    }
    Err(io::Error::other("the stream ended before the prediction"))
}

#[derive(Default)]
struct Event {
    name: String,
    data: Vec<u8>,
    is_too_long: bool,
}

/// Reads the next event; `None` at the end of the stream.
fn next(events: &mut impl BufRead) -> io::Result<Option<Event>> {
    let mut event = Event::default();
    let mut is_empty = true;
    loop {
        let limit = match event.name.as_str() {
            COMPLETED => MAX_FILE_BYTES,
            _ => MAX_EVENT,
        };
        let mut line = Vec::new();
        events.by_ref().take(limit).read_until(b'\n', &mut line)?;
        let is_cut = line.pop_if(|last| *last == b'\n').is_none();
        if is_cut && events.skip_until(b'\n')? == 0 {
            return Ok(None);
        }
        line.pop_if(|last| *last == b'\r');
        if line.is_empty() && !is_empty {
            return Ok(Some(event));
        }
        if let Some(name) = line.strip_prefix(b"event:") {
            event.name = String::from_utf8_lossy(name).trim().to_owned();
        } else if line.starts_with(DATA) {
            line.drain(..DATA.len());
            event.is_too_long |= is_cut || (event.data.len() + line.len()) as u64 > limit;
            match event.data.is_empty() {
                true => event.data = line,
                // A line break in JSON has no meaning.
                false if !event.is_too_long => event.data.extend(line),
                false => {}
            }
        } else {
            continue;
        }
        is_empty = false;
    }
}

/// The incomplete lines of a model's log.
#[derive(Default)]
struct Log {
    stdout: Line,
    stderr: Line,
}

impl Log {
    /// Adds the data of an event. Malformed data is ignored.
    fn add(&mut self, data: &[u8], progress: &Progress) {
        let event: Value = serde_json::from_slice(data).unwrap_or_default();
        let line = match event["source"] == "stderr" {
            true => &mut self.stderr,
            false => &mut self.stdout,
        };
        let text = event["data"].as_str().unwrap_or_default();
        for byte in text.bytes() {
            if let Some(output) = line.push(byte) {
                progress.add(parse(&output));
            }
        }
        if let Some(bar) = line.bar() {
            progress.add(parse(&bar));
        }
    }
}

/// Parses a line of a log.
fn parse(output: &Output) -> Report {
    let (Output::Line(text) | Output::Bar(text)) = output;
    Report::parse(text).unwrap_or_else(|| Report {
        message: text.trim().to_owned(),
        ..parse_bar(text).map(Report::fraction).unwrap_or_default()
    })
}

/// Parses the fraction of a progress bar of tqdm, such as `Sampling:  45%|████▌     | 9/20 [00:03<00:04,  2.66it/s]`.
fn parse_bar(text: &str) -> Option<f64> {
    let (before, bar) = text.split_once("%|")?;
    let percent: u8 = before.rsplit([' ', ':']).next()?.parse().ok()?;
    (bar.contains('|') && percent <= 100).then(|| f64::from(percent) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reply to a stream, and the progress that it reports.
    fn received(stream: &str) -> (io::Result<(u16, Vec<u8>)>, Report) {
        let progress = Progress::default();
        let reply = receive(stream.as_bytes(), &progress);
        (reply, progress.0.into_inner().unwrap())
    }

    fn log(source: &str, data: &str) -> String {
        let data = serde_json::json!({"source": source, "data": data});
        format!("event: log\ndata: {data}\n\n")
    }

    const END: &str = "event: completed\ndata: {}\n\n";

    #[test]
    fn a_bar_of_tqdm_has_a_fraction() {
        for (text, fraction) in [
            (" 45%|████▌     | 9/20 [00:03<00:04,  2.66it/s]", Some(0.45)),
            (
                "Sampling:   0%|          | 0/20 [00:00<?, ?it/s]",
                Some(0.0),
            ),
            ("a:b:100%|██████████| 20/20 [00:07<00:00]", Some(1.0)),
            ("7%|▋| 1/15", Some(0.07)),
            ("101%|█| 2/1", None),
            ("-5%|█| 2/1", None),
            ("4.5%|█| 2/1", None),
            ("%|█| 2/1", None),
            ("45%|████▌", None),
            ("45% of it", None),
            ("", None),
        ] {
            assert_eq!(parse_bar(text), fraction, "{text}");
        }
    }

    #[test]
    fn lines_of_a_log_are_the_progress() {
        let lines = |events: &[String]| received(&[&events.concat(), END].concat()).1;
        let expected = |fraction, message: &str| Report {
            fraction,
            ..Report::message(message)
        };
        let found = lines(&[
            log("stdout", "progress 0.4 half"),
            log("stdout", " way\nnext"),
        ]);
        assert_eq!(found, expected(Some(0.4), "half way"));
        // A bar is reported while it grows, next to the lines of the other output.
        let found = lines(&[log("stderr", "\r 45%|█ | 9/20"), log("stdout", "step ")]);
        assert_eq!(found, expected(Some(0.45), "45%|█ | 9/20"));
        let found = lines(&[
            log("stdout", "st"),
            log("stderr", "a\n"),
            log("stdout", "ep\n\n \n"),
        ]);
        assert_eq!(found, expected(None, "step"));
    }

    #[test]
    fn malformed_events_are_ignored() {
        let large = log("stdout", &format!("{}\n", "x".repeat(300_000)));
        let stream = [
            &format!(": {}\n", "x".repeat(300_000)),
            ": comment\r\n\r\n\n\nid: 1\nretry\n\nevent: surprise\ndata: {}\n\n",
            "event: log\ndata: no JSON\n\nevent: log\n\nevent: log\ndata: [1]\n\ndata: {}\n\n",
            &log("stdout", "before\n"),
            &large,
            "event: completed\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n",
            &log("stdout", "after\n"),
        ];
        let (reply, progress) = received(&stream.concat());
        assert_eq!(reply.unwrap(), (200, b" {\"a\": 1}".to_vec()));
        assert_eq!(progress, Report::message("before"));
    }

    #[test]
    fn a_stream_without_a_result_is_an_error() {
        for stream in [
            "",
            "event: start\ndata: {}\n\n",
            END.trim(),
            &END[..END.len() - 1],
        ] {
            assert!(received(stream).0.is_err(), "{stream:?}");
        }
        let lost = "event: error\ndata: {\"error\":\"lost\"}\n\n";
        assert_eq!(received(lost).0.unwrap().0, 202);
        let later = [&log("stdout", "a"), lost].concat();
        assert_eq!(received(&later).0.unwrap().0, 406);
    }
}
