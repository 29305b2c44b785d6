use crate::{Millis, duration};

/// Why no calls are made at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// The browser says that there is no network.
    Offline,
    /// The service asked for fewer calls.
    RateLimited { until: Millis },
    /// The service refuses the credentials.
    Unauthorized,
    /// A submission was not answered; the others wait, so that they do not meet the same.
    Unanswered { until: Millis },
}

impl Hindrance {
    /// For a person: what is going on and for how long.
    pub fn sentence(&self, now: Millis) -> String {
        let wait =
            |until: &Millis| duration::text(until.saturating_sub(now).div_ceil(1_000) * 1_000);
        match self {
            Hindrance::Offline => {
                "You are offline. Running tasks go on at the service; Atelier asks again once the network is back."
                    .into()
            }
            Hindrance::RateLimited { until } => {
                format!("Rate-limited, next try in {}.", wait(until))
            }
            Hindrance::Unauthorized => {
                "The service does not accept the credentials, so everything waits. Check them in Settings.".into()
            }
            Hindrance::Unanswered { until } => format!(
                "The service did not answer the last submission. The rest waits, next try in {}.",
                wait(until)
            ),
        }
    }
}
