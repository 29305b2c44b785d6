//! The address at which a caller reached this service, for URLs in responses.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

use crate::outputs;

/// Scheme, host and port (and path, with `--public-url`), without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Creates an origin from an absolute http(s) URL without a trailing slash.
    pub fn new(url: String) -> Self {
        Self(url)
    }

    /// Returns the origin that a request was sent to; with `trust_proxy`, the origin that the proxy reports.
    pub fn of(headers: &HeaderMap, trust_proxy: bool) -> Self {
        let first = |name: &str| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(value.split(',').next()?.trim().to_owned())
        };
        let forwarded = |name: &str| trust_proxy.then(|| first(name)).flatten();
        let scheme = match forwarded("x-forwarded-proto") {
            Some(scheme) if scheme.eq_ignore_ascii_case("https") => "https",
            _ => "http",
        };
        let host = [forwarded("x-forwarded-host"), first(header::HOST.as_str())]
            .into_iter()
            .flatten()
            .find(|host| is_host(host))
            .unwrap_or_else(|| "127.0.0.1".to_owned());
        Self(format!("{scheme}://{host}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the absolute URL of a path that starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Returns the absolute URL of an output. `path`: its path below `/outputs/`, such as `3f…/0.png`.
    pub fn output_url(&self, path: &str) -> String {
        self.url(&outputs::path_of(path))
    }

    /// Returns the path of a URL of this service; `None` for other URLs.
    ///
    /// Loopback addresses with any port also count as this service, because it is commonly reached both directly and
    /// through a development proxy.
    pub fn path_of<'a>(&self, url: &'a str) -> Option<&'a str> {
        if url.starts_with('/') && !url.starts_with("//") {
            return Some(url);
        }
        if let Some(path) = url.strip_prefix(&self.0) {
            return path.starts_with('/').then_some(path);
        }
        let rest = url
            .strip_prefix("http://")
            .or_else(|| url.strip_prefix("https://"))?;
        let (authority, path) = rest.split_at(rest.find('/')?);
        let authority: Authority = authority.parse().ok()?;
        let loopback = is_loopback(authority.host());
        (loopback && !authority.as_str().contains('@')).then_some(path)
    }
}

/// Returns whether a text is a host with an optional port, without characters that change the meaning of a URL.
fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b))
        && text.parse::<Authority>().is_ok()
}

/// Returns whether a host is a loopback name or address: `localhost`, `*.localhost`, `127.0.0.0/8`, `[::1]`.
pub fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(pairs: &[(&'static str, &'static str)], trust_proxy: bool) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        Origin::of(&headers, trust_proxy).0
    }

    #[test]
    fn the_origin_is_that_of_the_request() {
        assert_eq!(
            origin(&[("host", "localhost:8787")], false),
            "http://localhost:8787"
        );
        let proxied = [
            ("host", "127.0.0.1:8787"),
            ("x-forwarded-host", "studio.example, inner"),
            ("x-forwarded-proto", "https"),
        ];
        assert_eq!(origin(&proxied, true), "https://studio.example");
        assert_eq!(origin(&proxied, false), "http://127.0.0.1:8787");
        let odd = [("host", "a/b\"<x>"), ("x-forwarded-host", "user@evil")];
        assert_eq!(origin(&odd, true), "http://127.0.0.1");
    }

    #[test]
    fn only_urls_of_this_service_have_a_path() {
        let own = Origin("https://studio.example".into());
        for (url, path) in [
            (
                "https://studio.example/outputs/a/0.png",
                Some("/outputs/a/0.png"),
            ),
            (
                "http://localhost:8080/outputs/a/0.png",
                Some("/outputs/a/0.png"),
            ),
            ("http://127.0.0.1/x", Some("/x")),
            ("http://[::1]:1/x", Some("/x")),
            ("/outputs/a/0.png", Some("/outputs/a/0.png")),
            ("//evil.example/x", None),
            ("https://studio.example.evil/x", None),
            ("http://localhost@evil.example/x", None),
            ("http://evil@localhost/x", None),
            ("http://169.254.169.254/x", None),
            ("http://10.0.0.1/x", None),
            ("file:///etc/passwd", None),
            ("http://localhost", None),
        ] {
            assert_eq!(own.path_of(url), path, "{url}");
        }
    }
}
