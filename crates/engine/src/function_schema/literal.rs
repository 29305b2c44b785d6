use serde_json::Value;

/// Deeper than JSON that services send can be.
const DEEPEST: usize = 160;

/// A Python literal that JSON has, too.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Text(String),
    /// A number, `true`, `false` or `null`, as JSON writes it. Numbers keep their digits: they are
    /// never read as a float.
    Word(String),
    List(Vec<Literal>),
    Dictionary(Vec<(String, Literal)>),
}

impl Literal {
    pub fn get(&self, wanted: &str) -> Option<&Literal> {
        match self {
            Self::Dictionary(entries) => entries
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value),
            _ => None,
        }
    }
}

/// A text as JSON writes it.
pub fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Reads literals: texts, numbers, `True`, `False`, `None`, lists, tuples and dictionaries. Everything
/// else is code.
pub struct Reader<'a> {
    source: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a str, at: usize) -> Self {
        Self {
            source,
            at,
            depth: 0,
        }
    }

    /// Where the reader is: after a value, right behind it.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn value(&mut self) -> Option<Literal> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.gap();
        let value = match self.peek()? {
            '{' => self.dictionary(),
            '[' => self.sequence(']').map(|(items, _)| Literal::List(items)),
            // Brackets around one value, or a tuple.
            '(' => self.sequence(')').map(|(mut items, commas)| {
                if items.len() == 1 && commas == 0 {
                    items.swap_remove(0)
                } else {
                    Literal::List(items)
                }
            }),
            '"' | '\'' => self.texts(),
            '0'..='9' | '.' | '+' | '-' => self.number(),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    /// What is between the opening bracket here and the closing one, and how many commas were.
    fn sequence(&mut self, close: char) -> Option<(Vec<Literal>, usize)> {
        self.at += 1;
        let (mut items, mut commas) = (Vec::new(), 0);
        while !self.take(close) {
            items.push(self.value()?);
            if !self.comma(close)? {
                break;
            }
            commas += 1;
        }
        Some((items, commas))
    }

    fn dictionary(&mut self) -> Option<Literal> {
        self.at += 1;
        let mut entries: Vec<(String, Literal)> = Vec::new();
        while !self.take('}') {
            let Literal::Text(name) = self.value()? else {
                return None;
            };
            if !self.take(':') {
                return None;
            }
            let value = self.value()?;
            // The last of a name counts, as in Python.
            match entries.iter_mut().find(|(known, _)| *known == name) {
                Some(entry) => entry.1 = value,
                None => entries.push((name, value)),
            }
            if !self.comma('}')? {
                break;
            }
        }
        Some(Literal::Dictionary(entries))
    }

    /// Whether a comma is here; if not, it is the end.
    fn comma(&mut self, close: char) -> Option<bool> {
        if self.take(',') {
            return Some(true);
        }
        self.take(close).then_some(false)
    }

    fn number(&mut self) -> Option<Literal> {
        let start = self.at;
        let mut before = ' ';
        while let Some(c) = self.peek() {
            let is_sign =
                matches!(c, '+' | '-') && (self.at == start || matches!(before, 'e' | 'E'));
            if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || is_sign) {
                break;
            }
            before = c;
            self.at += 1;
        }
        number(&self.source[start..self.at].replace('_', "")).map(Literal::Word)
    }

    /// A word of Python's, or a text with a prefix.
    fn word(&mut self) -> Option<Literal> {
        let rest = &self.source[self.at..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let value = match &rest[..length] {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            "r" | "R" | "u" | "U" => return self.texts(),
            _ => return None,
        };
        self.at += length;
        Some(Literal::Word(value.to_owned()))
    }

    /// A text, or several that follow each other and are one.
    fn texts(&mut self) -> Option<Literal> {
        let mut text = String::new();
        loop {
            let is_raw = self.take('r') || self.take('R');
            let _ = is_raw || self.take('u') || self.take('U');
            self.text(is_raw, &mut text)?;
            let end = self.at;
            self.gap();
            let rest = &self.source[self.at..];
            let unprefixed = rest.strip_prefix(['r', 'R', 'u', 'U']).unwrap_or(rest);
            if !unprefixed.starts_with(['"', '\'']) {
                self.at = end;
                return Some(Literal::Text(text));
            }
        }
    }

    fn text(&mut self, is_raw: bool, text: &mut String) -> Option<()> {
        let rest = &self.source[self.at..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let triple = format!("{quote}{quote}{quote}");
        let is_long = rest.starts_with(&triple);
        let end = if is_long { &triple } else { &triple[..1] };
        self.at += end.len();
        loop {
            if self.source[self.at..].starts_with(end) {
                self.at += end.len();
                return Some(());
            }
            match self.next()? {
                '\\' if is_raw => {
                    text.push('\\');
                    text.push(self.next()?);
                }
                '\\' => self.escape(text)?,
                '\n' | '\r' if !is_long => return None,
                c => text.push(c),
            }
        }
    }

    /// What comes after a backslash.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let c = match self.next()? {
            '\n' => return Some(()),
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.code(2, 16)?,
            'u' => self.code(4, 16)?,
            'U' => self.code(8, 16)?,
            '0'..='7' => {
                self.at -= 1;
                let rest = &self.source[self.at..];
                let digits = rest
                    .find(|c: char| !('0'..='7').contains(&c))
                    .unwrap_or(rest.len());
                self.code(digits.min(3), 8)?
            }
            // By its name in Unicode, whose table we do not have.
            'N' => return None,
            c @ ('\\' | '\'' | '"') => c,
            other => {
                text.push('\\');
                other
            }
        };
        text.push(c);
        Some(())
    }

    fn code(&mut self, digits: usize, radix: u32) -> Option<char> {
        let code = self.source.get(self.at..self.at + digits)?;
        if !code.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        char::from_u32(u32::from_str_radix(code, radix).ok()?)
    }

    /// Takes this character, if it comes next.
    fn take(&mut self, wanted: char) -> bool {
        self.gap();
        let is_here = self.peek() == Some(wanted);
        if is_here {
            self.at += wanted.len_utf8();
        }
        is_here
    }

    /// Passes over spaces, line ends and comments.
    fn gap(&mut self) {
        loop {
            let rest = &self.source[self.at..];
            let after = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - after.len();
            if !after.starts_with('#') {
                return;
            }
            self.at += after.find('\n').unwrap_or(after.len());
        }
    }

    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

/// A number as JSON writes it: Python also has `+1`, `.5` and `5.`.
fn number(text: &str) -> Option<String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    if !is_digits(&format!("{whole}{}", fraction.unwrap_or_default())) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let mut number = format!("{sign}{whole}");
    if let Some(fraction) = fraction {
        number.push('.');
        number.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        if !is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) {
            return None;
        }
        number.push('e');
        number.push_str(exponent);
    }
    Some(number)
}
