//! Holds an HTTP client to a [`FetchPolicy`]: names are resolved once, each IP address is checked, and only
//! checked ones are connected to. The client asks for each redirect anew.

use std::sync::Arc;

use thiserror::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{ConnectionDetails, Connector, NextTimeout};

use super::addresses::{FetchPolicy, Origin};

/// Why no connection was opened.
#[derive(Debug, Error)]
pub enum GuardError {
    /// The policy does not permit the address.
    #[error(
        "{0} was not fetched: it leads to a private, loopback or other special network address. If that is \
         intended, add \"{1}\" to allow_fetch in the models file"
    )]
    Refused(Uri, Origin),
    #[error("the name in {0} can't be resolved: {1}")]
    NotResolved(Origin, String),
}

impl From<GuardError> for ureq::Error {
    fn from(error: GuardError) -> Self {
        Self::Other(Box::new(error))
    }
}

/// Resolves with `inner` and drops what the policy does not permit.
#[derive(Debug)]
pub struct GuardedResolver<R> {
    pub policy: Arc<FetchPolicy>,
    pub inner: R,
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
        // The proxy is the operator's choice.
        let is_proxy = config.proxy().is_some_and(|proxy| proxy.uri() == uri);
        let mut permitted = self.empty();
        for address in found.iter() {
            if is_proxy || self.policy.permits(uri, address.ip()) {
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

/// Checks what a proxy is asked for, which would not be resolved here otherwise: first in the chain.
#[derive(Debug)]
pub struct ProxyGuard {
    pub policy: Arc<FetchPolicy>,
}

impl Connector for ProxyGuard {
    type Out = ();

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<()>, ureq::Error> {
        if details.addrs.is_empty() && !self.policy.is_named(details.uri) {
            // Fails if no address is permitted.
            let resolver = details.resolver;
            resolver.resolve(details.uri, details.config, details.timeout)?;
        }
        Ok(chained)
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use ureq::Agent;

    use super::*;

    /// Answers with the next of its lists.
    #[derive(Debug)]
    struct Names(Mutex<Vec<Vec<&'static str>>>);

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

    /// Notes what it is asked to connect to.
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

    fn connections(names: Vec<Vec<&'static str>>, url: &str) -> (Vec<SocketAddr>, String) {
        let policy = Arc::new(FetchPolicy::new("http://localhost:5000", &[]));
        let seen = Connections::default();
        let connector = ProxyGuard {
            policy: policy.clone(),
        }
        .chain(seen.clone());
        let inner = Names(Mutex::new(names));
        let config = Agent::config_builder().proxy(None).build();
        let agent = Agent::with_parts(config, connector, GuardedResolver { policy, inner });
        let error = agent.get(url).call().unwrap_err().to_string();
        let seen = seen.0.lock().unwrap().clone();
        (seen, error)
    }

    /// A name that is public when it is checked and private when it is connected to (DNS rebinding): it is
    /// resolved once, so a second answer is never asked for.
    #[test]
    fn connects_to_the_addresses_that_were_checked() {
        let names = vec![
            vec!["127.0.0.1:80", "8.8.8.8:80", "10.0.0.1:80"],
            vec!["127.0.0.1:80"],
        ];
        let (seen, _) = connections(names, "http://rebinds.example/");
        assert_eq!(seen, ["8.8.8.8:80".parse().unwrap()]);
    }

    #[test]
    fn connects_to_no_private_address_but_the_servers_own() {
        let (seen, error) = connections(vec![vec!["10.0.0.1:80"]], "http://in.example/a?key=1");
        assert!(seen.is_empty(), "{seen:?}");
        for word in [
            "http://in.example/a",
            "\"http://in.example:80\"",
            "allow_fetch",
        ] {
            assert!(error.contains(word), "{error}");
        }
        let (seen, _) = connections(vec![vec!["127.0.0.1:5000"]], "http://localhost:5000/a");
        assert_eq!(seen.len(), 1);
    }
}
