//! The JSON schema of the function in an OpenAI function file, read from the file itself: what is
//! copied of it can't differ from what the file has.

mod literal;

use crate::highlight::{self, Grammar, Kind};
use literal::{Literal, Reader, quoted};

/// `{name, description, parameters}` as JSON with two spaces a level: the first literal in a Python
/// file that is a function's definition, bare or as one of a list of tools. Code is never run, and
/// what stands in texts and comments does not count.
pub fn of_file(source: &str) -> Option<String> {
    let mut at = 0;
    // Behind what was read as one literal.
    let mut behind = 0;
    for span in highlight::spans(Grammar::Python, source) {
        let start = at;
        at += span.text.len();
        if span.kind != Kind::Plain {
            continue;
        }
        for (offset, _) in span.text.match_indices(['{', '[']) {
            let place = start + offset;
            if place < behind {
                continue;
            }
            let mut reader = Reader::new(source, place);
            if let Some(literal) = reader.value() {
                behind = reader.at();
                if let Some(function) = function_in(&literal) {
                    return Some(pretty(function));
                }
            }
        }
    }
    None
}

fn function_in(literal: &Literal) -> Option<&Literal> {
    if let Literal::List(tools) = literal {
        return tools.iter().find_map(function_in);
    }
    if literal.get("type") == Some(&Literal::Text("function".into()))
        && let Some(function) = literal.get("function")
    {
        return function_in(function);
    }
    let is_function = matches!(literal.get("name"), Some(Literal::Text(_)))
        && matches!(literal.get("parameters"), Some(Literal::Dictionary(_)));
    is_function.then_some(literal)
}

fn pretty(literal: &Literal) -> String {
    let mut text = String::new();
    write(literal, 0, &mut text);
    text
}

/// Longest list of short values that is kept on one line.
const LONGEST_LIST: usize = 72;

fn write(literal: &Literal, indent: usize, text: &mut String) {
    let mut items = Vec::new();
    let (open, close) = match literal {
        Literal::Text(content) => return text.push_str(&quoted(content)),
        Literal::Word(word) => return text.push_str(word),
        Literal::List(list) => {
            if let Some(line) = on_one_line(list) {
                return text.push_str(&line);
            }
            items.extend(list.iter().map(|item| (String::new(), item)));
            ('[', ']')
        }
        Literal::Dictionary(entries) => {
            let named = entries.iter();
            items.extend(named.map(|(name, item)| (format!("{}: ", quoted(name)), item)));
            ('{', '}')
        }
    };
    text.push(open);
    for (n, (name, item)) in items.iter().enumerate() {
        text.push_str(if n == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(indent + 1));
        text.push_str(name);
        write(item, indent + 1, text);
    }
    if !items.is_empty() {
        text.push('\n');
        text.push_str(&"  ".repeat(indent));
    }
    text.push(close);
}

fn on_one_line(items: &[Literal]) -> Option<String> {
    let words: Option<Vec<String>> = items
        .iter()
        .map(|item| match item {
            Literal::Text(text) => Some(quoted(text)),
            Literal::Word(word) => Some(word.clone()),
            _ => None,
        })
        .collect();
    let line = format!("[{}]", words?.join(", "));
    (line.len() <= LONGEST_LIST).then_some(line)
}

#[cfg(test)]
mod tests;
