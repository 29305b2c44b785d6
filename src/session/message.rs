//! What tabs tell each other of settings and credentials. Tabs may be of different versions: the
//! shapes do not change.

use atelier_contract::json::Record;
use atelier_contract::{Guest, ServiceAddress};
use serde_json::Value;

use super::settings::{AccessToken, Settings};

pub enum SessionMessage {
    /// A new tab asks for what is only in the others' memory.
    Wanted,
    /// What a person has saved, or the answer to `Wanted`.
    Settings(Settings, Option<AccessToken>),
    /// What the service at this address offers to anyone.
    Guest(ServiceAddress, Guest),
}

impl SessionMessage {
    /// `None` for what only another version knows.
    pub fn from_value(value: Value) -> Option<Self> {
        if value.as_str() == Some("Wanted") {
            return Some(Self::Wanted);
        }
        let mut record = Record::read(value)?;
        if let Some(settings) = record.take("settings") {
            let token = record.optional("token", AccessToken::from_value)?;
            return Some(Self::Settings(Settings::from_value(settings)?, token));
        }
        let mut guest = Record::read(record.take("guest")?)?;
        let address = ServiceAddress::parse(&record.text("address")?).ok()?;
        let (uid, token) = (guest.text("uid")?, guest.text("token")?);
        Some(Self::Guest(address, Guest { uid, token }))
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        match self {
            Self::Wanted => return "Wanted".into(),
            Self::Settings(settings, token) => {
                record.put("settings", settings.to_value());
                record.put_some("token", token.as_ref().map(AccessToken::to_value));
            }
            Self::Guest(address, guest) => {
                let mut offer = Record::new();
                offer.put("uid", guest.uid.as_str().into());
                offer.put("token", guest.token.as_str().into());
                record.put("address", address.as_str().into());
                record.put("guest", offer.into_value());
            }
        }
        record.into_value()
    }
}
