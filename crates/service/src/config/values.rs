//! Parses the values of options: rates, times, sizes, names.

use std::time::Duration;

use axum::http::Uri;
use axum::http::uri::Authority;
use bytesize::ByteSize;
use clap::ValueEnum;

/// Matches every name.
pub const ANY: &str = "*";

/// Parses calls per second: `5/s`, `5` or `0.5/s`, above 0 and at most 1,000,000.
///
/// # Errors
///
/// A message if the text isn't a number or is outside that range.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e6 => Ok(rate),
        _ => Err("a rate is a number above 0, such as 5/s".into()),
    }
}

/// Parses a time from 0 to 60 seconds: `200ms`, `1.5s` or `200` (milliseconds).
///
/// # Errors
///
/// A message if the text isn't a number with one of these units or is outside that range.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit_ms) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1.0)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1000.0)
    } else {
        (text, 1.0)
    };
    match number.trim().parse::<f64>() {
        Ok(n) if (0.0..=60_000.0).contains(&(n * unit_ms)) => {
            Ok(Duration::from_secs_f64(n * unit_ms / 1000.0))
        }
        _ => Err("a time from 0 to 60 s, such as 200ms".into()),
    }
}

/// Parses a number of bytes, from 1 to 10¹⁸: `500MB`, `2GiB` or `500000000`.
///
/// # Errors
///
/// A message if the text isn't a number with a unit of bytes or is outside that range.
pub fn parse_size(text: &str) -> Result<u64, String> {
    match text.trim().parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if (1..=10_u64.pow(18)).contains(&bytes) => Ok(bytes),
        _ => Err("a size, such as 500MB or 2GiB".into()),
    }
}

/// The value of an option that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Switch {
    #[default]
    On,
    Off,
}

/// The tools of `POST /mcp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum McpTools {
    /// Tools that take the name of a model.
    #[default]
    General,
    /// Also a tool for each model, with its parameters.
    Each,
    /// There is no MCP server.
    Off,
}

/// The value of `--upload-limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadLimit(
    /// In bytes; `None` if uploads are off.
    pub Option<u64>,
);

/// Reads a number of bytes as [`parse_size`] does, or `off`.
///
/// # Errors
///
/// A message: it is neither.
pub fn parse_upload_limit(text: &str) -> Result<UploadLimit, String> {
    match text.trim() {
        "off" => Ok(UploadLimit(None)),
        size => match parse_size(size) {
            Ok(bytes) => Ok(UploadLimit(Some(bytes))),
            Err(_) => Err("a size, such as 50MB, or off".into()),
        },
    }
}

/// Parses a duration as [`parse_duration`] does, but refuses zero.
///
/// # Errors
///
/// As for [`parse_duration`]; also for a duration of zero.
pub fn parse_positive_duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).and_then(|time| {
        let none = || "a time above 0, such as 60s".to_owned();
        (!time.is_zero()).then_some(time).ok_or_else(none)
    })
}

/// Parses a host name or address, with or without a port, or `*`.
///
/// # Errors
///
/// A message if the text has another form.
pub fn parse_host(text: &str) -> Result<String, String> {
    let host = text.trim();
    let is_whole = |authority: Authority| authority.host() != "" && !host.contains('@');
    if host == ANY || host.parse().is_ok_and(is_whole) {
        return Ok(host.to_owned());
    }
    Err("a host name, such as studio.example, or *".into())
}

/// Parses an origin as browsers write it, or `null`, or `*`.
///
/// # Errors
///
/// A message if the text has another form.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let origin = text.trim().trim_end_matches('/');
    let is_whole = |(scheme, host): (&str, &str)| !scheme.is_empty() && parse_host(host).is_ok();
    if origin == ANY || origin == "null" || origin.split_once("://").is_some_and(is_whole) {
        return Ok(origin.to_owned());
    }
    Err("an origin, such as https://studio.example, or *".into())
}

/// Parses a factor from 0 to 100: `0.1`, `2`.
///
/// # Errors
///
/// A message if the text isn't a number or is outside that range.
pub fn parse_speed(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(speed) if (0.0..=100.0).contains(&speed) => Ok(speed),
        _ => Err("a factor from 0 to 100".into()),
    }
}

/// Parses a factor from 0.05 to 1: `0.25`.
///
/// # Errors
///
/// A message if the text isn't a number or is outside that range.
pub fn parse_draw_scale(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(scale) if (0.05..=1.0).contains(&scale) => Ok(scale),
        _ => Err("a factor from 0.05 to 1".into()),
    }
}

/// Parses an absolute http or https URL, and returns it without trailing slashes.
///
/// # Errors
///
/// A message if the URL has another scheme, no host, or a query.
pub fn parse_public_url(text: &str) -> Result<String, String> {
    let url = text.trim().trim_end_matches('/');
    let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(_)) if uri.query().is_none() => Ok(url.to_owned()),
        _ => Err("an absolute http(s) URL, such as https://studio.example".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rates_and_times() {
        assert_eq!(parse_rate("5/s"), Ok(5.0));
        assert_eq!(parse_rate("0.5"), Ok(0.5));
        assert!(
            parse_rate("0").is_err() && parse_rate("fast").is_err() && parse_rate("nan").is_err()
        );
        assert_eq!(parse_size("500MB"), Ok(500_000_000));
        assert_eq!(parse_size("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_size("77"), Ok(77));
        for odd in ["0", "", "GB", "-1GB", "1XB", "1e99", "99999999TB"] {
            assert!(parse_size(odd).is_err(), "{odd}");
        }
        assert_eq!(parse_duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("200"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(parse_duration("-1s").is_err() && parse_duration("2h").is_err());
    }

    #[test]
    fn a_public_url_is_absolute_and_its_trailing_slash_is_removed() {
        assert_eq!(
            parse_public_url("https://a.example/x/"),
            Ok("https://a.example/x".into())
        );
        assert!(parse_public_url("a.example").is_err());
        assert!(parse_public_url("ftp://a.example").is_err());
    }

    #[test]
    fn hosts_and_origins_have_no_user_or_path() {
        for good in [
            "studio.example",
            "studio.example:8443",
            "[::1]",
            "10.0.0.7",
            "*",
        ] {
            assert!(parse_host(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "https://a.example",
            "a.example/x",
            "me@a.example",
            "a b",
        ] {
            assert!(parse_host(bad).is_err(), "{bad}");
        }
        assert_eq!(
            parse_origin("https://a.example/"),
            Ok("https://a.example".into())
        );
        assert!(parse_origin("null").is_ok() && parse_origin("*").is_ok());
        assert!(parse_origin("a.example").is_err() && parse_origin("https://a/x").is_err());
    }
}
