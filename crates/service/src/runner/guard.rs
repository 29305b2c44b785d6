//! Enforces a [`FetchPolicy`] in an HTTP client: resolves names once, checks each IP address, and connects only to
//! checked ones, also through a proxy. Each redirect is checked again.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::Arc;

use thiserror::Error;
use ureq::ProxyProtocol;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, DefaultConnector, NextTimeout, RustlsConnector,
};

use super::addresses::{FetchPolicy, Origin, shares_network};

/// Why no connection was opened.
#[derive(Debug, Error)]
pub enum GuardError {
    /// The policy does not permit the address.
    #[error(
        "{0} was not fetched: it leads to a private, loopback or other special network address, or to one of this \
         machine's own. If that is intended, add \"{1}\" to allow_fetch in the models file"
    )]
    Refused(Uri, Origin),
    #[error("the name in {0} can't be resolved: {1}")]
    NotResolved(Origin, String),
    /// The name is not passed to a proxy, which would resolve it again.
    #[error(
        "the proxy did not connect to {0} by its IP address ({1}). If it permits names only, add \"{0}\" to \
         allow_fetch in the models file"
    )]
    NotProxied(Origin, String),
}

impl From<GuardError> for ureq::Error {
    fn from(error: GuardError) -> Self {
        Self::Other(Box::new(error))
    }
}

/// Resolves names with `inner`, and removes addresses that the policy does not permit.
#[derive(Debug)]
pub struct GuardedResolver<R> {
    pub policy: Arc<FetchPolicy>,
    pub inner: R,
    /// [`is_in_own_network`], except in tests.
    pub is_in_own_network: fn(IpAddr) -> bool,
}

impl<R: Resolver> Resolver for GuardedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout);
        let origin = || Origin::of(uri);
        let found = found.map_err(|error| match (error, origin()) {
            (ureq::Error::Io(error), Some(origin)) => {
                GuardError::NotResolved(origin, error.to_string()).into()
            }
            (error, _) => error,
        })?;
        // The operator's proxy is permitted. It is compared by identity, because an output may have an equal address.
        let is_proxy = config
            .proxy()
            .is_some_and(|proxy| std::ptr::eq(proxy.uri(), uri));
        let is_allowed = is_proxy || self.policy.is_allowed(uri);
        let mut permitted = self.empty();
        for address in found.iter() {
            let ip = address.ip();
            if is_allowed || (self.policy.permits(uri, ip) && !(self.is_in_own_network)(ip)) {
                permitted.push(*address);
            }
        }
        match origin() {
            Some(origin) if permitted.is_empty() => {
                Err(GuardError::Refused(uri.clone(), origin).into())
            }
            _ => Ok(permitted),
        }
    }
}

/// Returns whether an address belongs to this machine or its IPv6 network. A firewall that protects these hosts from others does
/// not protect them from this service.
pub fn is_in_own_network(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    source_towards(ip).is_some_and(|source| shares_network(source, ip))
}

/// Returns the source address of packets to `ip`. Sends no packet.
fn source_towards(ip: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((ip, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Returns a connector that enforces the policy, directly or through a proxy. Requires a [`GuardedResolver`].
pub fn connector(policy: Arc<FetchPolicy>) -> impl Connector {
    let guard = ProxyGuard {
        policy,
        inner: DefaultConnector::default(),
    };
    // TLS is added after the connection through the proxy, so the certificate is checked for the host name, not the IP
    // address.
    guard.chain(RustlsConnector::default())
}

/// Resolves and checks the target of a request through a proxy, and requests the checked IP address from the proxy.
#[derive(Debug)]
struct ProxyGuard<C> {
    policy: Arc<FetchPolicy>,
    inner: C,
}

impl<C: Connector> Connector for ProxyGuard<C> {
    type Out = C::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<C::Out>, ureq::Error> {
        let protocol = details.config.proxy().map(|proxy| proxy.protocol());
        let is_http_proxy = matches!(protocol, Some(ProxyProtocol::Http | ProxyProtocol::Https));
        if !details.addrs.is_empty() || self.policy.is_allowed(details.uri) {
            return self.inner.connect(details, chained);
        }
        // Fails if no address is permitted.
        let addrs = details
            .resolver
            .resolve(details.uri, details.config, details.timeout)?;
        if !is_http_proxy {
            return self.inner.connect(details, chained);
        }
        // The proxy may not support IPv6.
        let mut sorted: Vec<_> = addrs.iter().copied().collect();
        sorted.sort_by_key(|address| address.is_ipv6());
        let mut refused = None;
        for address in sorted {
            let uri: Uri = format!("http://{address}/")
                .parse()
                .map_err(ureq::http::Error::from)?;
            let mut addrs = details.resolver.empty();
            addrs.push(address);
            let by_address = ConnectionDetails {
                uri: &uri,
                addrs,
                config: details.config,
                request_level: details.request_level,
                resolver: details.resolver,
                now: details.now,
                timeout: details.timeout,
                current_time: details.current_time.clone(),
                run_connector: details.run_connector.clone(),
                register_shutdown: details.register_shutdown.clone(),
            };
            match self.inner.connect(&by_address, chained) {
                Err(ureq::Error::ConnectProxyFailed(why)) => refused = Some(why),
                connected => return connected,
            }
        }
        match (refused, Origin::of(details.uri)) {
            (Some(why), Some(origin)) => Err(GuardError::NotProxied(origin, why).into()),
            (Some(why), None) => Err(ureq::Error::ConnectProxyFailed(why)),
            (None, _) => self.inner.connect(details, chained),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::sync::Mutex;

    use ureq::{Agent, Proxy};

    use super::*;

    /// Resolves each name to the next list of addresses.
    #[derive(Debug)]
    struct Names(Mutex<Vec<Vec<String>>>);

    impl Resolver for Names {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let mut addresses = self.empty();
            for address in self.0.lock().unwrap().remove(0) {
                addresses.push(address.parse().unwrap());
            }
            Ok(addresses)
        }
    }

    /// Records the requested addresses, and opens no connection.
    #[derive(Debug, Clone, Default)]
    struct Connections(Arc<Mutex<Vec<SocketAddr>>>);

    impl Connector for Connections {
        type Out = ();

        fn connect(
            &self,
            details: &ConnectionDetails,
            _: Option<()>,
        ) -> Result<Option<()>, ureq::Error> {
            self.0.lock().unwrap().extend(details.addrs.iter());
            Err(ureq::Error::ConnectionFailed)
        }
    }

    fn policy() -> Arc<FetchPolicy> {
        Arc::new(FetchPolicy::new("http://localhost:5000", &[]))
    }

    fn agent(names: &[&[&str]], proxy: Option<Proxy>, connector: impl Connector) -> Agent {
        let names = names.iter();
        let names = names.map(|list| list.iter().map(|s| (*s).to_owned()).collect());
        let resolver = GuardedResolver {
            policy: policy(),
            inner: Names(Mutex::new(names.collect())),
            is_in_own_network: |ip| ip == IpAddr::from([9, 9, 9, 9]),
        };
        let config = Agent::config_builder().proxy(proxy).build();
        Agent::with_parts(config, connector, resolver)
    }

    fn connections(names: &[&[&str]], url: &str) -> (Vec<SocketAddr>, String) {
        let seen = Connections::default();
        let guard = ProxyGuard {
            policy: policy(),
            inner: seen.clone(),
        };
        let agent = agent(names, None, guard);
        let error = agent.get(url).call().unwrap_err().to_string();
        let seen = seen.0.lock().unwrap().clone();
        (seen, error)
    }

    /// Reads the head of an HTTP request, or a record of TLS.
    fn read_message(stream: &mut TcpStream) -> Vec<u8> {
        let mut message = Vec::new();
        let is_whole = |message: &[u8]| match *message {
            [0x16, _, _, high, low, ref rest @ ..] => {
                rest.len() == usize::from(u16::from_be_bytes([high, low]))
            }
            _ => message.ends_with(b"\r\n\r\n"),
        };
        while !is_whole(&message) {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            message.extend(byte);
        }
        message
    }

    /// Fetches `url` through a proxy on loopback that responds for every server. The host name is resolved to `found`,
    /// and then the proxy's name to its address. Returns the reply, and the messages that the proxy has received.
    fn fetch_through_proxy(found: &[&str], url: &str) -> (Result<String, String>, Vec<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let received = seen.clone();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in ["\r\n", "content-length: 2\r\n\r\nhi"] {
                let message = read_message(&mut stream);
                received.lock().unwrap().push(message);
                // The client may have disconnected.
                let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{answer}").as_bytes());
            }
        });
        let proxy = Proxy::new(&format!("http://{address}")).unwrap();
        let url = url.replace("PROXY", &address);
        let found: Vec<String> = found.iter().map(|a| a.replace("PROXY", &address)).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let agent = agent(&[&found, &[&address]], Some(proxy), connector(policy()));
        let reply = agent.get(&url).call().map_err(|error| error.to_string());
        let reply = reply.map(|mut reply| reply.body_mut().read_to_string().unwrap());
        let seen = seen.lock().unwrap().clone();
        (reply, seen)
    }

    /// Guards against DNS rebinding: a name whose addresses are public at the check and private at the connection. Names
    /// are resolved only once.
    #[test]
    fn connects_to_the_addresses_that_were_checked() {
        let names: [&[&str]; 2] = [
            &["127.0.0.1:80", "8.8.8.8:80", "10.0.0.1:80"],
            &["127.0.0.1:80"],
        ];
        let (seen, _) = connections(&names, "http://rebinds.example/");
        assert_eq!(seen, ["8.8.8.8:80".parse().unwrap()]);
    }

    #[test]
    fn private_addresses_are_refused_except_the_servers_own() {
        let (seen, error) = connections(&[&["10.0.0.1:80"]], "http://in.example/a?key=1");
        assert!(seen.is_empty(), "{seen:?}");
        for word in [
            "http://in.example/a",
            "\"http://in.example:80\"",
            "allow_fetch",
        ] {
            assert!(error.contains(word), "{error}");
        }
        let (seen, _) = connections(&[&["127.0.0.1:5000"]], "http://localhost:5000/a");
        assert_eq!(seen.len(), 1);
    }

    /// Guards against a proxy that resolves the name again, and connects to another address.
    #[test]
    fn a_proxy_connects_to_the_address_that_was_checked() {
        let found = ["10.0.0.1:80", "8.8.8.8:80"];
        let (reply, seen) = fetch_through_proxy(&found, "http://rebinds.example/a");
        assert_eq!(reply.unwrap(), "hi");
        assert!(seen[0].starts_with(b"CONNECT 8.8.8.8:80 HTTP/1.1\r\n"));
        let request = String::from_utf8_lossy(&seen[1]).to_ascii_lowercase();
        assert!(request.starts_with("get /a http/1.1\r\n"), "{request}");
        assert!(
            request.contains("\r\nhost: rebinds.example\r\n"),
            "{request}"
        );
    }

    /// Guards against an unencrypted request to the proxy, and against accepting the certificate of another server.
    #[test]
    fn through_a_proxy_tls_uses_the_name_of_the_server() {
        let (reply, seen) = fetch_through_proxy(&["8.8.8.8:443"], "https://files.example/a?key");
        reply.unwrap_err();
        assert!(seen[0].starts_with(b"CONNECT 8.8.8.8:443 HTTP/1.1\r\n"));
        assert_eq!(seen[1][0], 0x16, "a TLS handshake");
        let name = b"files.example";
        assert!(seen[1].windows(name.len()).any(|part| part == name));
    }

    /// Guards against fetching an output from the proxy's own address, which is permitted for connections to the proxy.
    #[test]
    fn an_output_at_the_address_of_the_proxy_is_not_fetched() {
        let (reply, seen) = fetch_through_proxy(&["PROXY"], "http://PROXY");
        let error = reply.unwrap_err();
        assert!(error.contains("allow_fetch"), "{error}");
        assert!(seen.is_empty());
    }

    /// Guards against reaching ports of this machine that its firewall protects from other hosts, but not from the
    /// service.
    #[test]
    fn a_public_address_of_this_machine_is_not_fetched() {
        let (seen, error) = connections(&[&["9.9.9.9:80"]], "http://me.example/a");
        assert!(seen.is_empty(), "{seen:?}");
        assert!(error.contains("this machine"), "{error}");
        assert!(is_in_own_network("127.0.0.1".parse().unwrap()));
        assert!(is_in_own_network("::ffff:127.0.0.1".parse().unwrap()));
        assert!(!is_in_own_network("8.8.8.8".parse().unwrap()));
    }
}
