//! Stores outputs in a bucket of S3 or a compatible service, for all processes of the service.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, ClientOptions, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, RetryConfig, WriteMultipart,
};
use thiserror::Error;

use super::client_runtime;
use crate::failure::Failure;
use crate::outputs::{
    Artifact, OutputStore, mark_immutable, method_not_allowed, no_such_range, not_found,
    write_synced,
};
use crate::private;

/// The timeout of a request, long enough for a large file.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a failed request is retried.
const RETRY: Duration = Duration::from_secs(20);

/// The timeout of the check that the bucket can be written.
const PROBE_TIMEOUT: Duration = Duration::from_secs(8);

/// The size of the parts in which a large file is written, in bytes. S3 requires at least 5 MiB.
const PART: usize = 8 << 20;

/// The number of parts of a file that are sent at a time.
const MAX_PARTS_IN_FLIGHT: usize = 2;

/// How long the local copy of an input file is cached.
const KEEP_COPY: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a bucket can't be used.
#[derive(Debug, Error)]
pub enum BucketError {
    #[error("{0} is not the address of a bucket: use s3://bucket/prefix")]
    Address(String),
    #[error("{0}; check AWS_ENDPOINT, AWS_REGION and the other AWS_ variables")]
    Settings(Error),
    #[error("there is no bucket {0} at {1}: create it, or use another")]
    Missing(String, String),
    #[error(
        "{1} does not let these credentials write to {0}: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
         the bucket's policy"
    )]
    Refused(String, String),
    #[error("{0} can't be reached at {1}: {2}")]
    Unavailable(String, String, String),
}

/// A bucket, and the prefix of the service's objects in it.
#[derive(Debug, Clone)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    name: String,
    prefix: Path,
    endpoint: String,
    /// The folder of local copies of input files.
    copies: PathBuf,
}

impl Bucket {
    /// Opens the bucket at `s3://bucket/prefix`, with credentials and endpoint from the environment variables of AWS.
    ///
    /// # Errors
    ///
    /// [`BucketError::Address`] if the address has another form, [`BucketError::Settings`] if environment variables
    /// are missing or invalid.
    pub fn at(address: &str, copies: PathBuf) -> Result<Self, BucketError> {
        let malformed = || BucketError::Address(address.to_owned());
        let inner = address.strip_prefix("s3://").ok_or_else(malformed)?;
        let (name, prefix) = inner.split_once('/').unwrap_or((inner, ""));
        if name.is_empty() {
            return Err(malformed());
        }
        let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|_| malformed())?;
        // An error means that a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let endpoint = endpoint();
        let options = ClientOptions::new()
            .with_timeout(TIMEOUT)
            .with_connect_timeout(CONNECT_TIMEOUT);
        let mut builder = AmazonS3Builder::from_env()
            .with_client_options(options)
            .with_bucket_name(name)
            .with_retry(RetryConfig {
                max_retries: 3,
                retry_timeout: RETRY,
                ..RetryConfig::default()
            });
        // For other hosts, AWS_ALLOW_HTTP has to allow plain HTTP.
        if endpoint.as_deref().is_some_and(is_loopback) {
            builder = builder.with_allow_http(true);
        }
        let store = builder.build().map_err(BucketError::Settings)?;
        Ok(Self {
            store: Arc::new(store),
            name: name.to_owned(),
            prefix,
            endpoint: endpoint.unwrap_or_else(|| "Amazon".into()),
            copies,
        })
    }

    /// Checks that the bucket can be written: writes and removes an object.
    ///
    /// # Errors
    ///
    /// [`BucketError::Missing`] if there is no such bucket, [`BucketError::Refused`] if the credentials don't permit
    /// writes, [`BucketError::Unavailable`] if there is no response in time.
    pub fn probe(&self) -> Result<(), BucketError> {
        let key = self
            .prefix
            .clone()
            .join(format!("probe-{}", std::process::id()));
        let probing = async {
            self.store.put(&key, vec![b'x'].into()).await?;
            self.store.delete(&key).await
        };
        let (name, endpoint) = (self.name.clone(), self.endpoint.clone());
        match self.wait(async { tokio::time::timeout(PROBE_TIMEOUT, probing).await }) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Error::NotFound { .. })) => Err(BucketError::Missing(name, endpoint)),
            Ok(Err(Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) => {
                Err(BucketError::Refused(name, endpoint))
            }
            Ok(Err(error)) => Err(BucketError::Unavailable(name, endpoint, error.to_string())),
            Err(_) if env::var_os("AWS_ACCESS_KEY_ID").is_none() => {
                Err(BucketError::Refused(name, endpoint))
            }
            Err(_) => Err(BucketError::Unavailable(name, endpoint, "no answer".into())),
        }
    }

    /// Removes these files.
    ///
    /// # Errors
    ///
    /// As for [`Self::has`]. Files after the one that failed stay.
    fn discard(&self, names: &[String]) -> io::Result<()> {
        for name in names {
            match self.wait(self.store.delete(&self.key(name)?)) {
                Err(Error::NotFound { .. }) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn respond(
        &self,
        name: &str,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Response, Error> {
        let key = self.key(name)?;
        let text = |name| text_of(headers, name);
        let mut options = GetOptions {
            if_none_match: text(header::IF_NONE_MATCH),
            head: method == Method::HEAD,
            ..GetOptions::default()
        };
        if let Some(range) = text(header::RANGE).filter(|_| !options.head) {
            // The range can only be validated with the size.
            let meta = self.store.head(&key).await?;
            let is_unchanged = text(header::IF_RANGE).is_none_or(|tag| meta.e_tag == Some(tag));
            let ranges = http_range_header::parse_range_header(&range);
            if let Ok(ranges) = ranges
                && is_unchanged
            {
                match ranges.validate(meta.size).as_deref() {
                    Ok([range]) => {
                        options.range = Some(GetRange::Bounded(*range.start()..*range.end() + 1));
                    }
                    // For several ranges, the whole file is a valid response.
                    Ok(_) => {}
                    Err(_) => return Ok(no_such_range(&format!("bytes */{}", meta.size))),
                }
            }
        }
        let (is_head, is_part) = (options.head, options.range.is_some());
        let got = self.store.get_opts(&key, options).await?;
        let (meta, range) = (got.meta.clone(), got.range.clone());
        let body = match is_head {
            true => Body::empty(),
            false => Body::from_stream(got.into_stream()),
        };
        let mut response = Response::new(body);
        let mut set = |name, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        };
        let content_type = mime_guess::from_path(name).first_or_octet_stream();
        set(header::CONTENT_TYPE, content_type.to_string());
        set(header::ACCEPT_RANGES, "bytes".into());
        if let Some(tag) = meta.e_tag {
            set(header::ETAG, tag);
        }
        let length = if is_part {
            let (first, last) = (range.start, range.end.saturating_sub(1));
            set(
                header::CONTENT_RANGE,
                format!("bytes {first}-{last}/{}", meta.size),
            );
            range.end - range.start
        } else {
            meta.size
        };
        set(header::CONTENT_LENGTH, length.to_string());
        if is_part {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        Ok(mark_immutable(response))
    }

    fn key(&self, name: &str) -> Result<Path, Error> {
        Ok(Path::parse(format!("{}/{name}", self.prefix))?)
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        client_runtime::wait(work)
    }
}

impl OutputStore for Bucket {
    /// Uses new names for each attempt, so that an attempt whose lease has expired overwrites nothing. The files become
    /// outputs of the task when its row lists them.
    fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
        let attempt = new_attempt_id()?;
        let names = artifacts.iter().enumerate();
        let names = names.map(|(n, file)| format!("{task}/{n}_{attempt}.{}", file.extension));
        let names: Vec<String> = names.collect();
        for (name, artifact) in names.iter().zip(artifacts) {
            self.put(name, &artifact.bytes).inspect_err(|_| {
                // If this fails, the remaining files are removed with the task. Their names are not published.
                let _ = self.discard(&names);
            })?;
        }
        Ok(names)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let options = PutOptions::from(content_type(name));
        let bytes = bytes.to_vec().into();
        self.wait(self.store.put_opts(&self.key(name)?, bytes, options))?;
        Ok(())
    }

    fn incoming(&self) -> io::Result<PathBuf> {
        let folder = self.copies.join("incoming");
        private::make_dir(&folder)?;
        Ok(folder)
    }

    fn put_file(&self, name: &str, file: &FilePath) -> io::Result<()> {
        let mut reader = fs::File::open(file)?;
        if reader.metadata()?.len() <= PART as u64 {
            self.put(name, &fs::read(file)?)?;
            return fs::remove_file(file);
        }
        let key = self.key(name)?;
        let options = PutMultipartOptions::from(content_type(name));
        self.wait(async {
            let upload = self.store.put_multipart_opts(&key, options).await?;
            let mut writer = WriteMultipart::new_with_chunk_size(upload, PART);
            let mut part = vec![0; PART];
            let sent: io::Result<()> = async {
                loop {
                    let length = reader.read(&mut part)?;
                    if length == 0 {
                        return Ok(());
                    }
                    writer.wait_for_capacity(MAX_PARTS_IN_FLIGHT).await?;
                    writer.write(&part[..length]);
                }
            }
            .await;
            match sent {
                Ok(()) => {
                    writer.finish().await?;
                    Ok(())
                }
                Err(error) => {
                    // An incomplete upload would take space. The bucket's own clean-up removes what is left.
                    let _ = writer.abort().await;
                    Err(error)
                }
            }
        })?;
        fs::remove_file(file)
    }

    fn has(&self, name: &str) -> io::Result<bool> {
        match self.wait(self.store.head(&self.key(name)?)) {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn local(&self, name: &str) -> io::Result<Option<PathBuf>> {
        let copy = self.copies.join(name.replace('/', "-"));
        if copy.is_file() {
            return Ok(Some(copy));
        }
        let fetched = self.wait(async { self.store.get(&self.key(name)?).await?.bytes().await });
        let bytes = match fetched {
            Ok(bytes) => bytes,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        private::make_dir(&self.copies)?;
        remove_old(&self.copies);
        let unfinished = self.copies.join(format!(".{}", new_attempt_id()?));
        write_synced(&unfinished, &bytes)?;
        fs::rename(unfinished, &copy)?;
        Ok(Some(copy))
    }

    fn remove(&self, task: &str) -> io::Result<()> {
        let folder = self.key(task)?;
        self.wait(async {
            let found = self.store.list(Some(&folder));
            let found = found.map_ok(|object| object.location);
            let found = Box::pin(found);
            self.store
                .delete_stream(found)
                .try_for_each(ignore_path)
                .await
        })?;
        Ok(())
    }

    fn bytes_of(&self, task: &str) -> u64 {
        let sum = async {
            let found = self.store.list(Some(&self.key(task)?));
            let add = |sum, object: object_store::ObjectMeta| async move { Ok(sum + object.size) };
            found.try_fold(0, add).await
        };
        self.wait(sum).unwrap_or_default()
    }

    /// Returns `None`: the files in a bucket don't show whether a killed attempt has saved all of them.
    fn saved(&self, _task: &str) -> io::Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn has_space(&self) -> bool {
        true
    }

    fn serve<'a>(&'a self, name: String, request: Request<Body>) -> BoxFuture<'a, Response> {
        Box::pin(async move {
            // Drops the unused body, because it is not `Sync`.
            let (head, _) = request.into_parts();
            if !matches!(head.method, Method::GET | Method::HEAD) {
                return method_not_allowed();
            }
            match self.respond(&name, &head.method, &head.headers).await {
                Ok(response) => response,
                Err(Error::NotFound { .. }) => not_found().into_response(),
                Err(Error::NotModified { .. }) => {
                    mark_immutable(StatusCode::NOT_MODIFIED.into_response())
                }
                Err(error) => Failure::outputs_unavailable(error).into_response(),
            }
        })
    }
}

fn content_type(name: &str) -> Attributes {
    let content_type = mime_guess::from_path(name).first_or_octet_stream();
    Attributes::from_iter([(Attribute::ContentType, content_type.to_string())])
}

async fn ignore_path(_: Path) -> Result<(), Error> {
    Ok(())
}

/// Returns the endpoint from the environment variables of the AWS tools.
fn endpoint() -> Option<String> {
    ["AWS_ENDPOINT", "AWS_ENDPOINT_URL"]
        .iter()
        .find_map(|name| env::var(name).ok())
        .filter(|url| !url.is_empty())
}

fn is_loopback(url: &str) -> bool {
    let uri: Option<axum::http::Uri> = url.parse().ok();
    uri.as_ref().and_then(|uri| uri.host()).is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// Returns a random id for an attempt.
fn new_attempt_id() -> io::Result<String> {
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{random:016x}"))
}

/// Removes expired copies. Ignores errors.
fn remove_old(copies: &FilePath) {
    let Ok(files) = fs::read_dir(copies) else {
        return;
    };
    for file in files.flatten() {
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age > KEEP_COPY) {
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_endpoints_are_used_without_encryption() {
        for loopback in [
            "http://127.0.0.1:9000",
            "http://localhost",
            "http://[::1]:9/",
        ] {
            assert!(is_loopback(loopback), "{loopback}");
        }
        for other in ["http://store:9000", "http://10.0.0.7", "", "nonsense"] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
