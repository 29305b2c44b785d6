//! Parses server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), an extension of the
//! interface. The browser's `EventSource` sends no `Authorization` header, so the page reads the stream itself.

/// The maximum size of an event, in bytes. It is far above that of a task's status.
const MAX_EVENT: usize = 1 << 20;

/// The maximum length of an id, in bytes. It is sent in a header.
const MAX_ID: usize = 200;

/// An event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// The type of the event; empty if the stream names none.
    pub kind: String,
    pub data: String,
    /// The id with which a new stream continues after this event, if the event has one that a header can contain.
    pub id: Option<String>,
}

/// A parser of one stream.
#[derive(Debug, Default)]
pub struct ServerEventParser {
    /// The bytes of the unfinished line. A chunk may end inside of a character.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    is_after_cr: bool,
    event: ServerEvent,
    has_data: bool,
}

impl ServerEventParser {
    /// Parses the next chunk, and returns the events that are complete. `None` if an event is too large: the rest of
    /// the stream can't be read.
    pub fn push(&mut self, chunk: &[u8]) -> Option<Vec<ServerEvent>> {
        let mut events = Vec::new();
        for &byte in chunk {
            let is_end = byte == b'\r' || byte == b'\n' && !self.is_after_cr;
            if is_end {
                let line = std::mem::take(&mut self.line);
                // Only an invalid stream contains other bytes than UTF-8.
                self.end_line(&String::from_utf8_lossy(&line), &mut events);
            } else if byte != b'\n' {
                self.line.push(byte);
            }
            self.is_after_cr = byte == b'\r';
            if self.line.len() + self.event.data.len() > MAX_EVENT {
                return None;
            }
        }
        Some(events)
    }

    fn end_line(&mut self, line: &str, events: &mut Vec<ServerEvent>) {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => self.event.kind = value.to_owned(),
            "id" if value.len() <= MAX_ID && value.bytes().all(|byte| byte.is_ascii_graphic()) => {
                self.event.id = Some(value.to_owned());
            }
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments and unknown fields.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Vec<ServerEvent> {
        ServerEventParser::default().push(text.as_bytes()).unwrap()
    }

    fn event(kind: &str, data: &str, id: Option<&str>) -> ServerEvent {
        ServerEvent {
            kind: kind.into(),
            data: data.into(),
            id: id.map(Into::into),
        }
    }

    #[test]
    fn reads_events_and_ignores_comments_and_unknown_fields() {
        let text = ":\n\nid: 5a-6\nevent: missed\ndata: {}\n\n: heartbeat\n\nretry: 5\nevent:status\ndata:  é\n\n";
        let expected = [
            event("missed", "{}", Some("5a-6")),
            event("status", " é", None),
        ];
        assert_eq!(parse(text), expected);
        assert_eq!(parse(&text.replace('\n', "\r\n")), expected);
        assert_eq!(parse(&text.replace('\n', "\r")), expected);
    }

    #[test]
    fn joins_lines_of_data_and_skips_events_without_data() {
        assert_eq!(
            parse("data: a\ndata\ndata:b\n\n"),
            [event("", "a\n\nb", None)]
        );
        assert_eq!(parse("data\n\n"), [event("", "", None)]);
        assert_eq!(parse("event: a\nid: 1\n\n"), []);
        assert_eq!(parse("event: a\n\ndata: b\n\n"), [event("", "b", None)]);
        assert_eq!(parse("data: unfinished\n"), []);
    }

    /// Guards against a header that the browser refuses with an exception.
    #[test]
    fn ignores_ids_that_no_header_can_contain() {
        for id in ["żółw", "→", "a b", "a\0b", &"a".repeat(MAX_ID + 1)] {
            let text = format!("id: {id}\ndata: c\n\n");
            assert_eq!(parse(&text), [event("", "c", None)]);
        }
        let mut parser = ServerEventParser::default();
        let events = parser.push(b"id: a\xffb\ndata: c\n\n").unwrap();
        assert_eq!(events, [event("", "c", None)]);
    }

    #[test]
    fn ends_at_an_event_that_is_too_large() {
        let mut parser = ServerEventParser::default();
        let chunk = [b'a'; 1_000];
        let count = (0..10_000)
            .take_while(|_| parser.push(&chunk).is_some())
            .count();
        assert_eq!(count, MAX_EVENT / 1_000);
        let mut parser = ServerEventParser::default();
        let lines = "data: 12345678\n".repeat(1_000);
        let count = (0..10_000).take_while(|_| parser.push(lines.as_bytes()).is_some());
        assert!(count.count() < MAX_EVENT / 8_000);
    }

    proptest! {
        #[test]
        fn chunks_may_end_anywhere(
            events in prop::collection::vec(("[a-zé]{0,5}", "[^\r\n]{0,12}", prop::option::of("[0-9a-f]{1,4}")), 0..6),
            line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            cuts in prop::collection::vec(1usize..9, 1..40),
        ) {
            let mut text = String::new();
            for (kind, data, id) in &events {
                text += &format!(":{line_end}{line_end}event: {kind}{line_end}data: {data}{line_end}");
                if let Some(id) = id {
                    text += &format!("id: {id}{line_end}");
                }
                text += line_end;
            }
            let mut parser = ServerEventParser::default();
            let (mut rest, mut found) = (text.as_bytes(), Vec::new());
            for cut in cuts.iter().cycle() {
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                found.extend(parser.push(chunk).unwrap());
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            let expected: Vec<_> = events.iter().map(|(kind, data, id)| event(kind, data, id.as_deref())).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn reads_any_bytes(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let mut parser = ServerEventParser::default();
            let whole = ServerEventParser::default().push(&chunks.concat());
            let parts: Vec<_> = chunks.iter().filter_map(|chunk| parser.push(chunk)).flatten().collect();
            prop_assert_eq!(Some(parts), whole);
        }
    }
}
