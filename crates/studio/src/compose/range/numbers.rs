//! Splits lists of numbers in which a comma may also be the decimal separator.

use atelier_contract::read_typed;

const DOTS: &str = "..";

/// Splits a list into its numbers and ranges, with decimal points.
///
/// # Errors
///
/// A message: a comma is ambiguous.
pub fn split(text: &str, is_whole: bool) -> Result<Vec<String>, String> {
    if text.contains(';') {
        let parts = text.split([';', '\n', '\r']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        return parts.map(|part| with_points(part, is_whole)).collect();
    }
    let lines = text.split(['\n', '\r']);
    let values = lines.flat_map(|line| line.split(", ")).map(str::trim);
    for value in values {
        if is_ambiguous(value, is_whole) {
            return Err(ambiguity_message(value, is_whole));
        }
        if let Some(points) = points_of_range(value, is_whole) {
            let mark = if is_whole {
                "thousands separators"
            } else {
                "decimal commas"
            };
            return Err(format!(
                "“{value}” may have {mark}: write {points}, or put a space after a comma between two values."
            ));
        }
    }
    let values = super::split(text)?.into_iter();
    let values = values.map(|value| match value.replace('…', DOTS).contains(DOTS) {
        true => with_points(&value, is_whole),
        false => Ok(value),
    });
    values.collect()
}

/// Returns a range with an ambiguous end, written with decimal points; `None` for any other text.
fn points_of_range(value: &str, is_whole: bool) -> Option<String> {
    let value = value.replace('…', DOTS);
    let (first, last) = value.split_once(DOTS)?;
    let (first, last) = (first.trim(), last.trim_start_matches('.').trim());
    let point = if is_whole { "" } else { "." };
    let with_point = |end: &str| is_ambiguous(end, is_whole).then(|| end.replace(',', point));
    // `1,2,..,4` is a list.
    let (first_with_point, last_with_point) = match first.ends_with(',') {
        true => (None, with_point(last)),
        false => (with_point(first), with_point(last)),
    };
    let has_ambiguous_end = first_with_point.is_some() || last_with_point.is_some();
    let ends = [(first_with_point, first), (last_with_point, last)];
    let ends = ends.map(|(open, end)| open.unwrap_or_else(|| end.to_owned()));
    has_ambiguous_end.then(|| ends.join(DOTS))
}

fn with_points(part: &str, is_whole: bool) -> Result<String, String> {
    let part = part.replace('…', DOTS);
    let ends = part.split(DOTS).map(|end| match end.contains(',') {
        false => Ok(end.to_owned()),
        true => read_typed(end, is_whole)
            .map(|number| number.to_string())
            .map_err(|what| format!("A value {what}, not “{}”.", end.trim())),
    });
    Ok(ends.collect::<Result<Vec<_>, _>>()?.join(DOTS))
}

/// Whether this may be either two numbers, or one with a decimal comma (for whole numbers, a thousands separator).
fn is_ambiguous(value: &str, is_whole: bool) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((first, second)) = value.trim_end_matches(',').split_once(',') else {
        return false;
    };
    let first = first.trim_start_matches(['-', '+']);
    let is_thousands = first.len() <= 3 && !first.starts_with('0') && second.len() == 3;
    is_digits(first) && is_digits(second) && (!is_whole || is_thousands)
}

fn ambiguity_message(value: &str, is_whole: bool) -> String {
    let value = value.trim_end_matches(',');
    let (first, second) = value.split_once(',').unwrap_or((value, ""));
    let point = if is_whole { "" } else { "." };
    format!(
        "“{value}” may be {first}{point}{second}, or {first} and {second}: write {first}{point}{second}, or put a space after the comma."
    )
}
