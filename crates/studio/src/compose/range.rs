//! The values of an axis as the user types them: a list `1, 2, 5`, a range `1, 2, .., 10`, or both mixed.

use std::ops::Range;

use atelier_contract::{Entry, Kind, Parameter, check, choice_text, json};

use super::MAX_ROWS;
use crate::text::decimal::Decimal;

mod example;
mod marker;
mod numbers;

pub use example::example;
pub use marker::{EMPTY, LEFT_OUT, has_marker, label, labels, markers, sent_key, toggled_marker};

/// Parses the values of an axis.
///
/// - Texts are one per line, because prompts contain commas. The values of a multiple-choice parameter are also one per
///   line: each is a JSON array, or a list with commas.
/// - Numbers are separated by commas, or by semicolons, with which a comma is the decimal separator. `2,5` without
///   semicolons is ambiguous and rejected.
/// - Other values are separated by commas. A value that contains a comma is put in double quotes; a quote inside is
///   doubled, as in CSV.
/// - For numbers, `..` (or `…`) inserts the values up to the next one. The step is the difference of the two values
///   before it, or 1 after a single value: `0.1, 0.2, .., 1`, `10, 8, .., 0`, `1..5`. Decimals are added exactly. The
///   end is left out if no step reaches it exactly.
/// - [`LEFT_OUT`] in place of a value leaves the parameter out (`None`); [`EMPTY`] is a cleared text.
/// - Permitted values are written in the form of [`choice_text`].
/// - Each value is validated against the parameter.
///
/// # Errors
///
/// A message: a quote is not closed, a range has no end, a value is invalid, or there are more than [`MAX_ROWS`]
/// values.
pub fn values(
    parameter: &Parameter,
    required: bool,
    text: &str,
) -> Result<Vec<Option<Entry>>, String> {
    let kind = parameter.kind();
    let written = match kind {
        Kind::Text => super::prompts::prompts(text).map(str::to_owned).collect(),
        Kind::MultiChoice => super::prompts::prompts(text).map(str::to_owned).collect(),
        // A comma inside JSON separates elements, not values.
        Kind::Array | Kind::Object | Kind::Unknown => json_values(text)?,
        Kind::Integer | Kind::Number => expand(numbers::split(text, kind == Kind::Integer)?)?,
        _ => split(text)?,
    };
    if written.len() > MAX_ROWS {
        return Err(too_many());
    }
    let choices = match kind {
        Kind::Enum => parameter.choices(),
        _ => &[],
    };
    let choices: Vec<_> = choices
        .iter()
        .map(|choice| (choice_text(choices, choice), choice))
        .collect();
    let entry = |text: String| {
        let entry = match text.as_str() {
            LEFT_OUT if marker::is_marker_of(parameter, LEFT_OUT) => {
                let problem = check(parameter, required, None).err();
                return problem.map_or(Ok(None), |problem| Err(format!("{problem}.")));
            }
            EMPTY if marker::is_marker_of(parameter, EMPTY) => Entry::Text(String::new()),
            _ => match choices.iter().find(|(shown, _)| *shown == text) {
                Some((_, choice)) => Entry::Value((*choice).clone()),
                None => Entry::Text(text),
            },
        };
        match check(parameter, required, Some(&entry)) {
            Ok(Some(value)) => Ok(Some(Entry::Value(value))),
            Ok(None) => Ok(Some(entry)),
            Err(problem) => Err(format!("{problem}.")),
        }
    };
    written.into_iter().map(entry).collect()
}

/// Whether the text lists exactly these values, without ranges. False if a comma may be a decimal separator.
pub fn lists_exactly(text: &str, values: &[String]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    let mut commas = bytes.iter().enumerate().filter(|(_, byte)| **byte == b',');
    if commas.any(|(at, _)| is_digit(bytes.get(at.wrapping_sub(1))) && is_digit(bytes.get(at + 1)))
    {
        return false;
    }
    let written = text.split([',', '\n']).map(str::trim);
    written.filter(|it| !it.is_empty()).eq(values)
}

/// Formats values as the user would type them; `None` if [`values`] can't parse the text back to the same values.
pub fn written(parameter: &Parameter, required: bool, entries: &[Option<Entry>]) -> Option<String> {
    let kind = parameter.kind();
    let text = |entry: &Option<Entry>| match (kind, entry) {
        (Kind::Enum, Some(Entry::Value(value))) => choice_text(parameter.choices(), value),
        (Kind::Array | Kind::Object | Kind::Unknown, Some(Entry::Value(value))) => {
            value.to_string()
        }
        (_, entry) => label(entry),
    };
    let texts: Vec<String> = entries.iter().map(text).collect();
    let written = match kind {
        Kind::Integer | Kind::Number => texts.join(", "),
        Kind::Enum | Kind::Boolean => quoted(&texts),
        _ => texts.join("\n"),
    };
    let read = values(parameter, required, &written).ok()?;
    let is_read = read.iter().map(label).eq(entries.iter().map(label));
    is_read.then_some(written)
}

/// Whether the typed values include this one.
pub fn contains(values: &str, value: &str) -> bool {
    split(values).is_ok_and(|values| values.iter().any(|each| each == value))
}

/// Adds a value to the typed values, or removes it. It is inserted before the first value that follows it in the
/// schema, because users seldom tick choices in order. The result has all values in quotes. Text that can't be parsed
/// is unchanged.
pub fn toggled(values: &str, value: &str, choices: &[String]) -> String {
    let Ok(mut each) = split(values) else {
        return values.to_owned();
    };
    let before = each.len();
    each.retain(|one| one != value);
    if each.len() == before {
        let rank = |one: &str| choices.iter().position(|choice| choice == one);
        let follows = |one: &String| match (rank(value), rank(one)) {
            (Some(at), Some(other)) => other > at,
            _ => false,
        };
        let at = each.iter().position(follows).unwrap_or(each.len());
        each.insert(at, value.to_owned());
    }
    quoted(&each)
}

fn quoted(values: &[String]) -> String {
    let quoted = values
        .iter()
        .map(|one| format!("\"{}\"", one.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(", ")
}

fn too_many() -> String {
    format!("This gives more than {MAX_ROWS} values.")
}

/// Parses JSON values and lines that consist of [`LEFT_OUT`].
fn json_values(text: &str) -> Result<Vec<String>, String> {
    let is_marker = |part: &Range<usize>| text[part.clone()] == *LEFT_OUT;
    let mut all = Vec::new();
    let mut start = 0;
    let markers = marker::parts(text, &marker::LINE_ENDS).filter(is_marker);
    for end in markers.map(Some).chain([None]) {
        let part = &text[start..end.as_ref().map_or(text.len(), |marker| marker.start)];
        let values = json::parse_all(part)
            .map_err(|error| format!("Write one JSON value per line: {error}."))?;
        all.extend(values.iter().map(ToString::to_string));
        if let Some(marker) = end {
            all.push(LEFT_OUT.to_owned());
            start = marker.end;
        }
    }
    Ok(all)
}

/// Splits at commas and line ends, and trims the values. Empty values are skipped unless they are quoted.
fn split(text: &str) -> Result<Vec<String>, String> {
    let pieces = pieces(text)?.into_iter();
    Ok(pieces.map(|(_, value)| value).collect())
}

/// Like [`split`], but returns each value with its range in the text.
fn pieces(text: &str) -> Result<Vec<(Range<usize>, String)>, String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (inside, after) = unquote(quoted).ok_or("A quote is not closed.")?;
            rest = after.trim_start_matches([' ', '\t']);
            if !rest.is_empty() && !rest.starts_with(is_separator) {
                return Err(format!("Put a comma after “{inside}”."));
            }
            pieces.push((start..text.len() - after.len(), inside));
        } else {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            let plain = rest[..end].trim();
            if !plain.is_empty() {
                pieces.push((start..start + plain.len(), plain.to_owned()));
            }
            rest = &rest[end..];
        }
        rest = rest.strip_prefix(is_separator).unwrap_or(rest).trim_start();
    }
    Ok(pieces)
}

fn is_separator(c: char) -> bool {
    matches!(c, ',' | '\n' | '\r')
}

/// Returns the text up to the closing quote, and the text after it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut inside = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        inside.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                inside.push('"');
                rest = after;
            }
            None => return Some((inside, rest)),
        }
    }
}

/// Expands the ranges in a list.
fn expand(written: Vec<String>) -> Result<Vec<String>, String> {
    const DOTS: &str = "..";
    let mut tokens = Vec::new();
    for text in &written {
        let text = text.replace('…', DOTS);
        let mut ends = text.splitn(2, DOTS);
        let start = ends.next().unwrap_or_default().trim().to_owned();
        tokens.push(Some(start));
        if let Some(end) = ends.next() {
            tokens.push(None);
            tokens.push(Some(end.trim_start_matches('.').trim().to_owned()));
        }
    }
    // The dots in `1, .., 3` have no numbers in the same field.
    tokens.retain(|token| token.as_deref() != Some(""));

    let mut values: Vec<String> = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let Some(value) = token else {
            let end = tokens.next().flatten().ok_or("Write a value after “..”.")?;
            let start = values.last().ok_or("Write a value before “..”.")?;
            let before = values.len().checked_sub(2).map(|at| values[at].as_str());
            let most = MAX_ROWS.saturating_sub(values.len());
            let more = steps(before, start, &end, most)?;
            values.extend(more);
            continue;
        };
        values.push(value);
    }
    Ok(values)
}

/// Returns the values after `start` up to `end`, with the step from `before` to `start`.
fn steps(before: Option<&str>, start: &str, end: &str, most: usize) -> Result<Vec<String>, String> {
    let numbers = [before.unwrap_or(start), start, end];
    let mut read = [Decimal::default(); 3];
    for (number, text) in read.iter_mut().zip(numbers) {
        *number = Decimal::parse(text).ok_or_else(|| format!("“{text}” is not a number."))?;
    }
    let scale = read.iter().map(|number| number.scale()).max().unwrap_or(0);
    let out_of_range =
        || format!("The numbers from {start} to {end} have too many digits for a range.");
    let mut units = [0i128; 3];
    for (unit, number) in units.iter_mut().zip(read) {
        *unit = number.units(scale).ok_or_else(out_of_range)?;
    }
    let [before_units, start_units, end_units] = units;
    let distance = end_units - start_units;
    let step = match before {
        Some(_) => start_units - before_units,
        None => distance.signum() * Decimal::ONE.units(scale).ok_or_else(out_of_range)?,
    };
    if distance == 0 {
        return Ok(Vec::new());
    }
    if step == 0 || (step < 0) != (distance < 0) {
        return Err(match before {
            Some(before) => format!("Continuing from {before}, {start} never reaches {end}."),
            None => out_of_range(),
        });
    }
    let count = distance / step;
    if count > most as i128 {
        return Err(too_many());
    }
    Ok((1..=count)
        .map(|n| Decimal::new(start_units + n * step, scale).to_text())
        .collect())
}

#[cfg(test)]
mod tests;
