//! The secrets that webhooks are signed with: `whsec_` and base64, as Standard Webhooks specify.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use thiserror::Error;

const PREFIX: &str = "whsec_";

/// The permitted lengths of a secret, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// The length of a new secret, in bytes.
const NEW_LENGTH: usize = 32;

/// The file in the data directory with the secret that the service has created.
pub const FILE: &str = "webhook-secret";

/// The message does not contain the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a webhook secret is whsec_ and the base64 of 24 to 64 bytes; several are separated by commas"
)]
pub struct SecretError;

/// Signs webhooks.
#[derive(Clone)]
pub struct Secret(hmac::Key);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Parses a secret.
    ///
    /// # Errors
    ///
    /// It has another form or length.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(SecretError)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        if !LENGTHS.contains(&bytes.len()) {
            return Err(SecretError);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// Returns a signature with its version, `v1,…`. `timestamp` is in seconds since 1970.
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let signed = format!("{id}.{timestamp}.{body}");
        let tag = hmac::sign(&self.0, signed.as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

/// Parses a list of secrets, separated by commas. Each webhook is signed with all of them, so that they can be replaced
/// while receivers still use the old one.
///
/// # Errors
///
/// The list is empty, or one of them is invalid.
pub fn parse_all(text: &str) -> Result<Vec<Secret>, SecretError> {
    text.split(',').map(Secret::parse).collect()
}

/// Returns a new random secret, as text.
///
/// # Errors
///
/// The system has no random numbers.
pub fn generate() -> io::Result<String> {
    let mut bytes = [0; NEW_LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(bytes)))
}

/// Returns the secret in the data directory, if there is one.
///
/// # Errors
///
/// The file can't be read.
pub fn stored(data: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(data.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?.trim().to_owned())),
    }
}

/// Returns the secret in the data directory. Creates it if it is missing, readable only by its owner. Only one process may
/// call it at a time.
///
/// # Errors
///
/// The file can't be read or written.
pub fn in_directory(data: &Path) -> io::Result<String> {
    if let Some(stored) = stored(data)? {
        return Ok(stored);
    }
    let secret = generate()?;
    // A killed process leaves no incomplete secret.
    let new = data.join(format!("{FILE}.{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(&new)?;
    writeln!(opened, "{secret}")?;
    opened.sync_all()?;
    std::fs::rename(new, data.join(FILE))?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the reference implementations.
    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = secret.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_of_other_forms_are_refused() {
        let of = |length: usize| format!("whsec_{}", STANDARD.encode(vec![7; length]));
        for good in [of(24), of(32), of(64), format!("{},{}", of(24), of(32))] {
            assert!(parse_all(&good).is_ok(), "{good}");
        }
        let plain = STANDARD.encode([7; 32]);
        for bad in [
            of(23),
            of(65),
            String::new(),
            plain,
            "whsec_?".into(),
            of(24) + ",",
        ] {
            assert!(parse_all(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_new_secret_is_stored_once_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(stored(dir.path()).unwrap(), None);
        let secret = in_directory(dir.path()).unwrap();
        assert_eq!(stored(dir.path()).unwrap().as_ref(), Some(&secret));
        assert!(Secret::parse(&secret).is_ok());
        assert_eq!(in_directory(dir.path()).unwrap(), secret);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir.path().join(FILE))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
