//! Decides which of the addresses in a server's responses the service may fetch: those of the server itself, those that
//! the models file names, and public ones.
//!
//! Prevents server-side request forgery: a user can make a model return any address, and fetched files become outputs
//! that the user can read. So loopback, private, link-local and other special addresses are refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::http::Uri;

/// Scheme, host and port of an http(s) address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Returns the origin of an absolute http(s) address; `None` for other addresses. All names of the loopback interface
    /// count as one host, because servers use `localhost` and `127.0.0.1` interchangeably.
    pub fn of(uri: &Uri) -> Option<Self> {
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let host = uri.host()?.to_ascii_lowercase();
        let host = match host.trim_end_matches('.') {
            "127.0.0.1" | "[::1]" => "localhost",
            host => host,
        };
        Some(Self {
            scheme,
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(default_port),
        })
    }

    /// Returns the scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the host, in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

/// Decides which addresses in one server's responses may be fetched.
#[derive(Debug, Clone)]
pub struct FetchPolicy {
    own: Option<Origin>,
    /// The server's scheme and authority, as configured.
    root: String,
    allowed: Vec<Origin>,
}

impl FetchPolicy {
    /// `own` is the server's address, `allowed` is `allow_fetch` of the models file.
    pub fn new(own: &str, allowed: &[Origin]) -> Self {
        let own: Option<Uri> = own.parse().ok();
        Self {
            root: own.as_ref().map(root).unwrap_or_default(),
            own: own.as_ref().and_then(Origin::of),
            allowed: allowed.to_vec(),
        }
    }

    /// Returns whether the address is at the server itself. Only such requests contain the key.
    pub fn is_own(&self, uri: &Uri) -> bool {
        let origin = Origin::of(uri);
        origin.is_some() && origin == self.own
    }

    /// Returns whether the address may be fetched regardless of its IP address.
    pub fn is_allowed(&self, uri: &Uri) -> bool {
        let origin = Origin::of(uri);
        self.is_own(uri) || origin.is_some_and(|origin| self.allowed.contains(&origin))
    }

    /// Returns whether the address may be fetched from a host with this IP address.
    pub fn permits(&self, uri: &Uri, ip: IpAddr) -> bool {
        self.is_allowed(uri) || is_public(ip)
    }

    /// Resolves an address in the server's response. Addresses without a scheme are relative to the server's root;
    /// schemes other than http and https give `None`.
    pub fn absolute(&self, text: &str) -> Option<Uri> {
        let text = text.trim();
        let root = &self.root;
        let uri: Uri = match () {
            () if is_http(text) => text.parse(),
            () if text.starts_with("//") => format!("{}:{text}", self.own.as_ref()?.scheme).parse(),
            () if text.starts_with('/') => format!("{root}{text}").parse(),
            // Another scheme.
            () if text.split(['/', '?', '#']).next()?.contains(':') => return None,
            () if text.is_empty() => return None,
            () => format!("{root}/{text}").parse(),
        }
        .ok()?;
        Origin::of(&uri).map(|_| uri)
    }
}

/// Returns whether a text begins with `http://` or `https://`, in upper or lower case.
pub fn is_http(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| strip_prefix(text, scheme).is_some())
}

/// As [`str::strip_prefix`], but ignores the case of ASCII letters.
pub fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn root(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{authority}")
}

/// Returns whether a target is this machine or in its IPv6 network (/64). The machines of such a network have public
/// addresses behind one firewall. `source` is the address of this machine in packets to the target.
pub fn shares_network(source: IpAddr, target: IpAddr) -> bool {
    match (source, target) {
        (IpAddr::V6(source), IpAddr::V6(target)) => {
            source.segments()[..4] == target.segments()[..4]
        }
        _ => source == target,
    }
}

/// Returns whether an IP address is public. An IPv6 address that embeds an IPv4 address is public only if that address is.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

/// Returns whether an IPv4 address is not in the registry of special-purpose addresses (RFC 6890 and its updates).
fn is_public_v4(ip: Ipv4Addr) -> bool {
    !matches!(
        ip.octets(),
        [0 | 10 | 127 | 224..=255, ..]
            // Shared address space of a provider's customers, also used by metadata services of clouds.
            | [100, 64..=127, ..]
            // Link-local, with the metadata services of most clouds.
            | [169, 254, ..]
            | [172, 16..=31, ..]
            // Protocol assignments, documentation, former 6to4 relays.
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [192, 168, ..]
            // Benchmarks and documentation.
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            // Azure's internal service for virtual machines, although it is in a public range.
            | [168, 63, 129, 16]
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    if let Some(ip) = ip.to_ipv4_mapped() {
        return is_public_v4(ip);
    }
    match ip.segments() {
        // NAT64: leads to an IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        // ISATAP: an IPv4 address after any prefix.
        [.., 0 | 0x200, 0x5efe, high, low]
            if !is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))) =>
        {
            false
        }
        // Protocol assignments with Teredo, and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] => false,
        // 6to4, and documentation.
        [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // The assigned global unicast addresses.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against fetching `http://169.254.169.254/…` because a model returned this address.
    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for ip in [
            "fd00::5efe:808:808",
            "fe80::5efe:808:808",
            "2001:db8::5efe:808:808",
            "2002:a00:1::5efe:808:808",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.1.2.3",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2600::5efe:a00:1",
            "2600::200:5efe:a9fe:a9fe",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.17",
            "169.253.1.1",
            "169.255.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.1.1",
            "192.169.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7::1",
            "2003::1",
            "2600::1",
            "2600::5efe:808:808",
            "2a00:1450::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    /// Guards against fetching from machines behind the same firewall by their public addresses.
    #[test]
    fn this_machine_and_its_ipv6_network_are_recognized() {
        for (source, target, expected) in [
            ("5.6.7.8", "5.6.7.8", true),
            ("5.6.7.8", "5.6.7.9", false),
            ("192.168.0.2", "8.8.8.8", false),
            ("2600:1:2:3::1", "2600:1:2:3::1", true),
            ("2600:1:2:3::1", "2600:1:2:3:ffff::9", true),
            ("2600:1:2:3::1", "2600:1:2:4::1", false),
            ("::1", "5.6.7.8", false),
        ] {
            let found = shares_network(source.parse().unwrap(), target.parse().unwrap());
            assert_eq!(found, expected, "{source} {target}");
        }
    }

    #[test]
    fn own_and_allowed_origins_are_permitted_at_any_ip() {
        let files: Uri = "https://files.internal/".parse().unwrap();
        let policy = FetchPolicy::new("http://localhost:5000/v1", &[Origin::of(&files).unwrap()]);
        let permits =
            |uri: &str, ip: &str| policy.permits(&uri.parse().unwrap(), ip.parse().unwrap());
        assert!(permits("http://localhost:5000/a.png", "127.0.0.1"));
        assert!(permits("http://LOCALHOST.:5000/a.png", "127.0.0.1"));
        assert!(permits("http://127.0.0.1:5000/a.png", "127.0.0.1"));
        assert!(permits("http://[::1]:5000/a.png", "::1"));
        assert!(permits("https://files.internal:443/a.png", "10.0.0.5"));
        assert!(permits("https://anywhere.example/a.png", "8.8.8.8"));
        assert!(
            !permits("http://localhost:5001/a.png", "127.0.0.1"),
            "another port"
        );
        assert!(
            !permits("https://localhost:5000/a.png", "127.0.0.1"),
            "another scheme"
        );
        assert!(
            !permits("http://files.internal/a.png", "10.0.0.5"),
            "another port"
        );
        assert!(
            !permits("http://me.example:5000/a.png", "127.0.0.1"),
            "another name"
        );
        assert!(!permits("http://localhost@me.example:5000/", "127.0.0.1"));
        assert!(policy.is_own(&"http://localhost:5000/".parse().unwrap()));
        assert!(
            !policy.is_own(&files),
            "the key is not sent to other origins"
        );
    }

    #[test]
    fn addresses_are_resolved_relative_to_the_server() {
        let policy = FetchPolicy::new("https://api.example/v1", &[]);
        for (text, absolute) in [
            (
                "https://cdn.example/a.png?x=1",
                Some("https://cdn.example/a.png?x=1"),
            ),
            ("HTTP://cdn.example/a.png", Some("http://cdn.example/a.png")),
            ("/files/a.png", Some("https://api.example/files/a.png")),
            ("files/a.png", Some("https://api.example/files/a.png")),
            ("//cdn.example/a.png", Some("https://cdn.example/a.png")),
            ("file:///etc/passwd", None),
            ("ftp://a.example/", None),
            ("localhost:80", None),
            ("", None),
        ] {
            let found = policy.absolute(text).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), absolute, "{text}");
        }
    }
}
