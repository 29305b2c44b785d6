//! Numbers between commas, where a comma may also stand for the point.

use atelier_contract::read_typed;

/// The numbers of a list, and the dots between them, as they were written but for decimal commas.
///
/// # Errors
///
/// A sentence for a person: a comma can be read in two ways.
pub fn split(text: &str, is_whole: bool) -> Result<Vec<String>, String> {
    if text.contains(';') {
        let parts = text.split([';', '\n', '\r']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        return parts.map(|part| with_points(part, is_whole)).collect();
    }
    let lines = text.split(['\n', '\r']);
    let mut values = lines.flat_map(|line| line.split(", ")).map(str::trim);
    match values.find(|value| is_open(value, is_whole)) {
        None => super::split(text),
        Some(open) => Err(open_message(open, is_whole)),
    }
}

fn with_points(part: &str, is_whole: bool) -> Result<String, String> {
    const DOTS: &str = "..";
    let part = part.replace('…', DOTS);
    let ends = part.split(DOTS).map(|end| match end.contains(',') {
        false => Ok(end.to_owned()),
        true => read_typed(end, is_whole)
            .map(|number| number.to_string())
            .map_err(|what| format!("A value {what}, not “{}”.", end.trim())),
    });
    Ok(ends.collect::<Result<Vec<_>, _>>()?.join(DOTS))
}

/// Whether these are two numbers, or one with a decimal comma; for whole numbers, with a thousands separator.
fn is_open(value: &str, is_whole: bool) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((first, second)) = value.trim_end_matches(',').split_once(',') else {
        return false;
    };
    let first = first.trim_start_matches(['-', '+']);
    let is_thousands = first.len() <= 3 && !first.starts_with('0') && second.len() == 3;
    is_digits(first) && is_digits(second) && (!is_whole || is_thousands)
}

fn open_message(value: &str, is_whole: bool) -> String {
    let value = value.trim_end_matches(',');
    let (first, second) = value.split_once(',').unwrap_or((value, ""));
    let point = if is_whole { "" } else { "." };
    format!(
        "“{value}” may be {first}{point}{second}, or {first} and {second}: write {first}{point}{second}, or put a space after the comma."
    )
}
