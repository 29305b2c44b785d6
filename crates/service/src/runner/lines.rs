//! Splits the output of a model into lines and progress bars.

/// The maximum length of a line, in bytes.
const MAX_LINE: usize = 2000;

/// A part of a model's output.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    Line(String),
    /// The current state of a progress bar, which returns to the start of its line.
    Bar(String),
}

/// An incomplete line.
#[derive(Default)]
pub struct Line {
    text: Vec<u8>,
    /// The text of the line before the program returned to its start.
    before: Vec<u8>,
    is_bar: bool,
}

impl Line {
    /// Adds a byte. Returns the line if it is complete or has the maximum length.
    pub fn push(&mut self, byte: u8) -> Option<Output> {
        match byte {
            b'\n' => return self.end().or(Some(Output::Line(String::new()))),
            b'\r' => {
                if !self.text.is_empty() {
                    self.before = std::mem::take(&mut self.text);
                }
                self.is_bar = true;
            }
            _ => self.text.push(byte),
        }
        (self.text.len() >= MAX_LINE).then(|| self.end()).flatten()
    }

    fn text(&self) -> Option<String> {
        let shown = match self.text.trim_ascii() {
            [] => &self.before,
            _ => &self.text,
        };
        let text = String::from_utf8_lossy(shown).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the progress bar that the line is, if it is one.
    pub fn bar(&self) -> Option<Output> {
        self.is_bar.then(|| self.text().map(Output::Bar)).flatten()
    }

    /// Ends the line. Returns it unless it is empty.
    pub fn end(&mut self) -> Option<Output> {
        let text = self.text();
        *self = Self::default();
        text.map(Output::Line)
    }
}
