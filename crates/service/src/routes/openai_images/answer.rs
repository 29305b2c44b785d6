//! The response to a request: the images as URLs, or as files in base64.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::write::EncoderWriter;
use futures_util::stream;
use serde_json::json;

use super::super::run_blocking;
use crate::openai_images::waits::Wait;
use crate::origin::Origin;
use crate::outputs::path_of;
use crate::state::App;
use crate::store::now_ms;

/// The maximum size of the files in one response. Further files are returned as URLs.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// The size of the chunks in which a response is sent.
const CHUNK: usize = 64 << 10;

/// An image of a response.
struct Image {
    url: String,
    /// The file and its size, if the response contains it.
    file: Option<(PathBuf, u64)>,
}

/// Returns the response with these outputs. `paths`: paths below `/outputs/`. The request counts as waiting until the response
/// is sent.
pub async fn answer(
    app: &Arc<App>,
    origin: &Origin,
    paths: Vec<String>,
    is_base64: bool,
    wait: Wait,
) -> Response {
    let urls: Vec<String> = paths.iter().map(|path| origin.output_url(path)).collect();
    let images = || urls.iter().map(|url| (url.clone(), None));
    let mut files = Vec::new();
    if is_base64 {
        let searching = app.clone();
        let found = run_blocking(move || Ok(find_files(&searching, &paths))).await;
        // The client would repeat the request after an error of the service.
        files = found.unwrap_or_default();
    }
    let length: u64 = (files.iter().flatten())
        .map(|(_, bytes)| base64_len(*bytes))
        .sum();
    let memory = match length {
        0 => None,
        _ => app.openai_memory.reserve(length).await,
    };
    if memory.is_none() {
        files.clear();
    }
    let mut with_files: Vec<Image> = images().map(|(url, file)| Image { url, file }).collect();
    for (image, file) in with_files.iter_mut().zip(files) {
        image.file = file;
    }
    let written = run_blocking(move || Ok(to_json(&with_files))).await;
    let body = written.unwrap_or_else(|_| {
        let images: Vec<Image> = images().map(|(url, file)| Image { url, file }).collect();
        to_json(&images)
    });
    send(body.into(), (memory, wait))
}

/// Returns the files of a response, up to [`MAX_FILE_BYTES`].
fn find_files(app: &App, paths: &[String]) -> Vec<Option<(PathBuf, u64)>> {
    let mut left = MAX_FILE_BYTES;
    let find = |path: &String| {
        // Does not copy further files from a bucket.
        if left == 0 {
            return None;
        }
        let found = find_file(app, &path_of(path)).unwrap_or_else(|error| {
            tracing::warn!("an output is returned as its URL: {error}");
            None
        });
        let (file, bytes) = found.filter(|(_, bytes)| *bytes <= left)?;
        left -= bytes;
        Some((file, bytes))
    };
    paths.iter().map(find).collect()
}

fn find_file(app: &App, path: &str) -> io::Result<Option<(PathBuf, u64)>> {
    let Some(file) = app.outputs.own_file(path)? else {
        return Ok(None);
    };
    let bytes = fs::metadata(&file)?.len();
    Ok(Some((file, bytes)))
}

/// Returns the length of a file of this size in base64.
fn base64_len(bytes: u64) -> u64 {
    bytes.div_ceil(3) * 4
}

/// Writes the body of a response.
fn to_json(images: &[Image]) -> Vec<u8> {
    let files = images.iter().filter_map(|image| image.file.as_ref());
    let length: u64 = files.map(|(_, bytes)| base64_len(*bytes)).sum();
    // Also the names of the fields.
    let capacity = usize::try_from(length).unwrap_or_default() + 200 * (images.len() + 1);
    let mut body = Vec::with_capacity(capacity);
    body.extend(format!("{{\"created\":{},\"data\":[", now_ms() / 1000).bytes());
    for (n, image) in images.iter().enumerate() {
        if n > 0 {
            body.push(b',');
        }
        let start = body.len();
        let written = image.file.as_ref().map(|(file, bytes)| {
            let written = write_file(&mut body, file, *bytes);
            written.inspect_err(|error| {
                tracing::warn!("an output is returned as its URL: {error}");
            })
        });
        if !matches!(written, Some(Ok(()))) {
            body.truncate(start);
            body.extend(json!({"url": image.url}).to_string().bytes());
        }
    }
    body.extend(b"]}");
    body
}

/// Writes a file as an entry of a response.
fn write_file(body: &mut Vec<u8>, file: &Path, bytes: u64) -> io::Result<()> {
    let mut reader = File::open(file)?.take(bytes);
    body.extend(b"{\"b64_json\":\"");
    let mut encoder = EncoderWriter::new(&mut *body, &BASE64);
    io::copy(&mut reader, &mut encoder)?;
    encoder.finish()?;
    drop(encoder);
    body.extend(b"\"}");
    Ok(())
}

/// Returns a response that drops `guard` when it is sent.
fn send(body: Bytes, guard: impl Send + 'static) -> Response {
    let length = HeaderValue::from(body.len());
    let chunks = stream::unfold((body, guard), |(mut body, guard)| async move {
        if body.is_empty() {
            return None;
        }
        let chunk = body.split_to(body.len().min(CHUNK));
        Some((Ok::<_, Infallible>(chunk), (body, guard)))
    });
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        ),
        (header::CONTENT_LENGTH, length),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use serde_json::Value;

    #[test]
    fn a_file_that_can_not_be_read_is_returned_as_its_url() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("0.png");
        fs::write(&file, [0, 1, 2, 3]).unwrap();
        let image = |file: Option<PathBuf>| Image {
            url: "http://a/\"".into(),
            file: file.map(|file| (file, 4)),
        };
        let missing = folder.path().join("1.png");
        let images = [image(Some(file)), image(Some(missing)), image(None)];
        let body: Value = serde_json::from_slice(&to_json(&images)).unwrap();
        let url = json!({"url": "http://a/\""});
        assert_eq!(body["data"], json!([{"b64_json": "AAECAw=="}, url, url]));
        assert!(body["created"].is_i64());
    }

    #[tokio::test]
    async fn the_memory_of_a_response_is_released_when_it_is_sent() {
        struct Guard(Arc<AtomicBool>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let is_released = Arc::new(AtomicBool::new(false));
        let sent = send(vec![b' '; 3 * CHUNK].into(), Guard(is_released.clone()));
        assert_eq!(
            sent.headers()[header::CONTENT_LENGTH],
            (3 * CHUNK).to_string()
        );
        assert!(!is_released.load(Ordering::Relaxed));
        let body = axum::body::to_bytes(sent.into_body(), usize::MAX).await;
        assert_eq!(body.unwrap().len(), 3 * CHUNK);
        assert!(is_released.load(Ordering::Relaxed));
    }
}
