//! Forms with files (`multipart/form-data`). The same parts and boundary give the same bytes, so that a repeated request
//! is equal to the first one.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// A form that is read while it is sent.
pub struct Form<'a> {
    boundary: String,
    reader: Box<dyn Read + 'a>,
    length: u64,
}

/// A file of a form.
pub struct FileName<'a> {
    pub name: &'a str,
    pub content_type: &'a str,
}

impl<'a> Form<'a> {
    /// Creates an empty form. No part may contain `boundary`.
    pub fn new(boundary: String) -> Self {
        Self {
            boundary,
            reader: Box::new(io::empty()),
            length: 0,
        }
    }

    /// Adds bytes, as a file or as a text.
    pub fn bytes(&mut self, field: &str, file: Option<&FileName<'_>>, bytes: &'a [u8]) {
        self.head(field, file);
        self.append(Cursor::new(bytes), bytes.len() as u64);
    }

    /// Adds the file at `path`, which is opened now and read later.
    ///
    /// # Errors
    ///
    /// The file can't be opened.
    pub fn file(&mut self, field: &str, file: &FileName<'_>, path: &Path) -> io::Result<()> {
        let opened = File::open(path)?;
        let length = opened.metadata()?.len();
        self.head(field, Some(file));
        // The length was announced: a file that grows meanwhile is cut off.
        self.append(opened.take(length), length);
        Ok(())
    }

    /// Returns the content type, the length in bytes and the body.
    pub fn finish(mut self) -> (String, u64, Box<dyn Read + 'a>) {
        let end = format!("\r\n--{}--\r\n", self.boundary);
        let length = end.len() as u64;
        self.append(Cursor::new(end), length);
        let content_type = format!("multipart/form-data; boundary={}", self.boundary);
        (content_type, self.length, self.reader)
    }

    fn head(&mut self, field: &str, file: Option<&FileName<'_>>) {
        let line_break = if self.length == 0 { "" } else { "\r\n" };
        let (boundary, field) = (&self.boundary, escape(field));
        let mut head =
            format!("{line_break}--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"");
        if let Some(FileName { name, content_type }) = file {
            let name = escape(name);
            // Writing to a string can't fail.
            let _ = write!(
                head,
                "; filename=\"{name}\"\r\nContent-Type: {content_type}"
            );
        }
        head.push_str("\r\n\r\n");
        let length = head.len() as u64;
        self.append(Cursor::new(head), length);
    }

    fn append(&mut self, more: impl Read + 'a, length: u64) {
        let before = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(before.chain(more));
        self.length += length;
    }
}

/// Escapes a name as browsers do.
fn escape(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_the_announced_length_and_escaped_names() {
        let mut form = Form::new("b".into());
        form.bytes("a\"\r\n", None, b"text");
        let file = FileName {
            name: "1.png",
            content_type: "image/png",
        };
        form.bytes("image[]", Some(&file), b"\x89PNG");
        let (content_type, length, mut reader) = form.finish();
        let mut body = Vec::new();
        reader.read_to_end(&mut body).unwrap();
        assert_eq!(content_type, "multipart/form-data; boundary=b");
        assert_eq!(length, body.len() as u64);
        assert_eq!(
            body,
            b"--b\r\nContent-Disposition: form-data; name=\"a%22%0D%0A\"\r\n\r\ntext\r\n\
              --b\r\nContent-Disposition: form-data; name=\"image[]\"; filename=\"1.png\"\r\n\
              Content-Type: image/png\r\n\r\n\x89PNG\r\n--b--\r\n"
        );
    }
}
