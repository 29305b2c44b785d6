//! Checks the `Host` and `Origin` of requests.
//!
//! Every page that the user opens can reach a local service. Such a page sends its own `Origin`, or, with DNS
//! rebinding, its own name as the `Host`. So both must be loopback names, unless options permit others.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};

use crate::config::{ANY, Config};
use crate::failure::Failure;
use crate::origin::{Origin, is_loopback};

/// The permitted host names and origins.
#[derive(Debug, Clone)]
pub struct Access {
    /// Lower case, with or without a port.
    hosts: Vec<String>,
    /// The origins as browsers write them, in lower case.
    origins: Vec<String>,
    trust_proxy: bool,
    public_url: Option<String>,
}

impl Access {
    pub fn new(config: &Config) -> Self {
        let mut hosts = config.allow_host.clone();
        let mut origins = config.allow_origin.clone();
        // The address to listen on and the public address are permitted.
        if !config.listen.ip().is_unspecified() {
            hosts.push(match config.listen.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        let public: Option<Uri> = config
            .public_url
            .as_deref()
            .and_then(|url| url.parse().ok());
        if let Some((scheme, authority)) = public
            .as_ref()
            .and_then(|url| Some((url.scheme_str()?, url.authority()?)))
        {
            hosts.push(authority.to_string());
            origins.push(format!("{scheme}://{authority}"));
        }
        for text in hosts.iter_mut().chain(&mut origins) {
            text.make_ascii_lowercase();
        }
        Self {
            hosts,
            origins,
            trust_proxy: config.trust_proxy,
            public_url: config.public_url.clone(),
        }
    }

    /// Checks the host names and the origin of a request.
    ///
    /// # Errors
    ///
    /// 400 without a `Host` header, 421 for a name that is not this service's, 403 for an origin that is not
    /// permitted.
    pub fn check(&self, parts: &Parts) -> Result<(), Failure> {
        let hosts: Vec<&str> = hosts_of(parts, self.trust_proxy).collect();
        if hosts.is_empty() {
            return Err(Failure::bad_request("The request has no Host header."));
        }
        if let Some(unknown) = hosts.iter().find(|host| !self.is_host_allowed(host)) {
            return Err(Failure::new(
                StatusCode::MISDIRECTED_REQUEST,
                "host_not_allowed",
                format!(
                    "This service does not accept the host name {unknown}; --allow-host NAME permits it."
                ),
            ));
        }
        for origin in parts.headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !self.is_origin_allowed(origin, parts) {
                return Err(Failure::new(
                    StatusCode::FORBIDDEN,
                    "origin_not_allowed",
                    format!(
                        "Pages of {origin} may not call this service; --allow-origin ORIGIN permits them."
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Returns whether pages of this origin may call the service.
    pub fn is_origin_allowed(&self, origin: &str, parts: &Parts) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self
            .origins
            .iter()
            .any(|known| known == ANY || *known == origin)
        {
            return true;
        }
        let Some(authority) = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
            .and_then(authority)
        else {
            return false;
        };
        // The page was served by this service.
        let own = || {
            hosts_of(parts, self.trust_proxy)
                .any(|host| host.eq_ignore_ascii_case(authority.as_str()))
        };
        is_loopback(authority.host()) || own()
    }

    fn is_host_allowed(&self, host: &str) -> bool {
        let Some(authority) = authority(&host.to_ascii_lowercase()) else {
            return false;
        };
        is_loopback(authority.host())
            || self.hosts.iter().any(|known| {
                known == ANY || known == authority.as_str() || known == authority.host()
            })
    }

    /// Returns the address at which the caller reached this service.
    pub fn origin(&self, headers: &HeaderMap) -> Origin {
        match &self.public_url {
            Some(url) => Origin::new(url.clone()),
            None => Origin::of(headers, self.trust_proxy),
        }
    }

    /// Returns the address that a call comes from: that of the connection, or the one that a trusted proxy reports.
    pub fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let forwarded = || {
            let list = headers.get_all("x-forwarded-for").iter().next_back()?;
            list.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
        };
        self.trust_proxy.then(forwarded).flatten().unwrap_or(peer)
    }
}

/// Returns all host names in the request.
fn hosts_of(parts: &Parts, trust_proxy: bool) -> impl Iterator<Item = &str> {
    let text = |value: &'static str| {
        parts
            .headers
            .get_all(value)
            .iter()
            .map(|value| value.to_str().unwrap_or_default())
    };
    let forwarded = trust_proxy
        .then(|| text("x-forwarded-host"))
        .into_iter()
        .flatten()
        .filter_map(|list| list.split(',').next())
        .map(str::trim);
    let target = parts.uri.authority().map(Authority::as_str);
    target.into_iter().chain(text("host")).chain(forwarded)
}

/// Parses a host with an optional port.
fn authority(text: &str) -> Option<Authority> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b);
    text.bytes()
        .all(plain)
        .then(|| text.parse::<Authority>().ok())
        .flatten()
        .filter(|authority| !authority.host().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use clap::Parser;

    /// Returns the status with which a request with these headers is refused.
    fn check(args: &[&str], headers: &[(&str, &str)]) -> Option<u16> {
        let config = Config::parse_from([&["atelier-service"], args].concat());
        let mut request = Request::get("/api/models");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let checked = Access::new(&config).check(&parts);
        checked.err().map(|failure| failure.status.as_u16())
    }

    #[test]
    fn only_loopback_names_are_permitted_by_default() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "a.localhost:1",
            "127.0.0.1:8787",
            "127.9.9.9",
            "[::1]:80",
        ] {
            assert_eq!(check(&[], &[("host", host)]), None, "{host}");
            let origin = format!("http://{host}").to_ascii_lowercase();
            assert_eq!(
                check(&[], &[("host", "localhost"), ("origin", &origin)]),
                None
            );
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "me@localhost",
            "localhost/x",
            "0.0.0.0",
        ] {
            assert_eq!(check(&[], &[("host", host)]), Some(421), "{host}");
            let origin = format!("https://{host}");
            let refused = check(&[], &[("host", "localhost"), ("origin", &origin)]);
            assert_eq!(refused, Some(403), "{origin}");
        }
        assert_eq!(check(&[], &[]), Some(400));
        for origin in ["null", "file://", "ftp://localhost"] {
            assert_eq!(
                check(&[], &[("host", "localhost"), ("origin", origin)]),
                Some(403)
            );
        }
    }

    #[test]
    fn configured_names_and_origins_are_permitted() {
        let allow = [
            "--allow-host",
            "studio.example",
            "--allow-origin",
            "https://page.example",
        ];
        let host = ("host", "studio.example:8443");
        assert_eq!(check(&allow, &[host]), None);
        assert_eq!(
            check(&allow, &[host, ("origin", "https://page.example")]),
            None
        );
        assert_eq!(
            check(&allow, &[host, ("origin", "http://page.example")]),
            Some(403)
        );
        // The page that the service itself serves.
        assert_eq!(
            check(&allow, &[host, ("origin", "https://studio.example:8443")]),
            None
        );
        let any = ["--allow-host", "*", "--allow-origin", "*"];
        assert_eq!(
            check(&any, &[("host", "a.example"), ("origin", "null")]),
            None
        );
        let public = ["--public-url", "https://a.example/x"];
        assert_eq!(
            check(
                &public,
                &[("host", "a.example"), ("origin", "https://a.example")]
            ),
            None
        );
    }

    #[test]
    fn forwarded_hosts_are_checked_only_with_trust_proxy() {
        let evil = [("host", "localhost"), ("x-forwarded-host", "evil.example")];
        assert_eq!(check(&[], &evil), None, "the header is ignored");
        assert_eq!(check(&["--trust-proxy"], &evil), Some(421));
        let page = [
            ("host", "127.0.0.1"),
            ("x-forwarded-host", "localhost:8080"),
        ];
        assert_eq!(check(&["--trust-proxy"], &page), None);
    }
}
