//! Sends webhooks over HTTP.

use std::time::Duration;

use ureq::Agent;
use ureq::http::{Request, Uri};
use ureq::unversioned::resolver::{DefaultResolver, Resolver};

use super::hosts::Hosts;
use super::secret::Secret;
use crate::runner::guard::{GuardError, GuardedResolver, connector, is_in_own_network};
use crate::runner::http::requested_wait;

/// The timeout of an attempt, from the resolution of the name to the head of the response.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// The receiver wants no more webhooks at this URL.
    Gone,
    Failed {
        /// Without the URL.
        reason: String,
        /// The wait that the receiver requests.
        requested: Option<Duration>,
    },
    /// The receiver has not responded within [`TIMEOUT`].
    TimedOut,
}

/// An HTTP client that connects only to permitted addresses, uses no proxy, and follows no redirects.
pub struct Sender {
    agent: Agent,
    secrets: Vec<Secret>,
}

impl Sender {
    pub fn new(secrets: Vec<Secret>, hosts: &Hosts) -> Self {
        Self::with_resolver(secrets, hosts, DefaultResolver::default())
    }

    fn with_resolver(secrets: Vec<Secret>, hosts: &Hosts, inner: impl Resolver) -> Self {
        let policy = hosts.policy();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .max_idle_connections(0)
            .proxy(None)
            .user_agent(concat!("atelier-service/", env!("CARGO_PKG_VERSION")))
            .build();
        let connector = connector(policy.clone());
        let resolver = GuardedResolver {
            policy,
            inner,
            is_in_own_network,
        };
        Self {
            agent: Agent::with_parts(config, connector, resolver),
            secrets,
        }
    }

    /// Sends an event. Does not read the body of the response. `timestamp` is the time of the attempt, in seconds since
    /// 1970. Blocks.
    pub fn send(&self, uri: &Uri, id: &str, timestamp: i64, body: String) -> Outcome {
        let signatures = self.secrets.iter();
        let signatures: Vec<String> = signatures
            .map(|secret| secret.sign(id, timestamp, &body))
            .collect();
        let request = Request::post(uri)
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signatures.join(" "))
            .body(body);
        let sent = request
            .map_err(ureq::Error::from)
            .and_then(|request| self.agent.run(request));
        match sent {
            Ok(response) => {
                let requested = requested_wait(response.headers());
                outcome(response.status().as_u16(), requested)
            }
            Err(ureq::Error::Timeout(_)) => Outcome::TimedOut,
            Err(error) => Outcome::Failed {
                reason: reason(error),
                requested: None,
            },
        }
    }
}

/// Returns the result of an attempt with a response.
fn outcome(status: u16, requested: Option<Duration>) -> Outcome {
    match status {
        200..=299 => Outcome::Delivered,
        410 => Outcome::Gone,
        300..=399 => Outcome::Failed {
            reason: format!("HTTP {status}: redirects are not followed"),
            requested: None,
        },
        _ => Outcome::Failed {
            reason: format!("HTTP {status}"),
            requested: requested.filter(|_| matches!(status, 429 | 503)),
        },
    }
}

/// Returns why there is no response, for the log.
fn reason(error: ureq::Error) -> String {
    let error = match error {
        ureq::Error::Other(other) => match other.downcast_ref() {
            Some(GuardError::Refused(..)) => {
                return "its name leads to a private or other special address".to_owned();
            }
            _ => ureq::Error::Other(other),
        },
        error => error,
    };
    error.to_string()
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use ureq::config::Config;
    use ureq::unversioned::resolver::ResolvedSocketAddrs;
    use ureq::unversioned::transport::NextTimeout;

    use super::super::hosts::parse_allowed;
    use super::*;

    /// Resolves every name to this address.
    #[derive(Debug)]
    struct Names(SocketAddr);

    impl Resolver for Names {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let mut addresses = self.empty();
            addresses.push(self.0);
            Ok(addresses)
        }
    }

    /// Guards against a name of a permitted host that leads to an address of the operator's network.
    #[test]
    fn a_name_that_leads_to_a_private_address_is_not_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let send = |allowed: &str, url: &str| {
            let hosts = Hosts::new(vec![parse_allowed(allowed).unwrap()]);
            let (uri, _) = hosts.check(url).unwrap();
            let sender = Sender::with_resolver(Vec::new(), &hosts, Names(address));
            sender.send(&uri, "msg_1", 0, "{}".to_owned())
        };
        for allowed in ["hooks.example", "https://hooks.example", "*.hooks.example"] {
            let url = match allowed {
                "*.hooks.example" => "https://a.hooks.example/",
                _ => "https://hooks.example/",
            };
            let outcome = send(allowed, url);
            assert!(
                matches!(&outcome, Outcome::Failed { reason, .. } if reason.contains("private")),
                "{outcome:?}"
            );
        }
        assert!(listener.accept().is_err(), "a connection was opened");
        // With an explicit http, the operator has allowed it.
        let answering = std::thread::spawn(move || {
            let deadline = std::time::Instant::now() + TIMEOUT;
            while std::time::Instant::now() < deadline {
                if listener.accept().is_ok() {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            false
        });
        send("http://app:3000", "http://app:3000/");
        assert!(answering.join().unwrap());
    }

    #[test]
    fn the_status_decides_whether_an_event_is_attempted_again() {
        let wait = Some(Duration::from_secs(7));
        assert_eq!(outcome(200, None), Outcome::Delivered);
        assert_eq!(outcome(204, wait), Outcome::Delivered);
        assert_eq!(outcome(410, wait), Outcome::Gone);
        let requested = |status| match outcome(status, wait) {
            Outcome::Failed { requested, .. } => requested,
            other => panic!("{status}: {other:?}"),
        };
        for status in [429, 503] {
            assert_eq!(requested(status), wait);
        }
        for status in [301, 302, 307, 400, 401, 404, 500, 502] {
            assert_eq!(requested(status), None, "{status}");
        }
    }
}
