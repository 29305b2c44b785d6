//! `--site`: the built front-end, with single-page fallback, precompressed files, and differences between releases.

mod differences;

use std::path::Path;

use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::Response;
use differences::{AVAILABLE_DICTIONARY, DCZ, USE_AS_DICTIONARY};
use tower::ServiceExt;
use tower_http::services::ServeDir;

/// The directory of a built front-end.
#[derive(Debug, Clone)]
pub struct Site {
    files: ServeDir,
}

impl Site {
    /// Serves the files in `dir`, precompressed if there is a `.br` or `.gz` file next to them.
    pub fn new(dir: &Path) -> Self {
        Self {
            files: ServeDir::new(dir).precompressed_br().precompressed_gzip(),
        }
    }

    /// Serves a file, or `index.html` for a path without an extension.
    pub async fn serve(&self, mut request: Request<Body>) -> Response {
        let path = request.uri().path().to_owned();
        if !is_hashed(last_segment(&path)) {
            // Ignores dates: after a rollback, the page is older than the browser's cached copy, but differs from it.
            request.headers_mut().remove(header::IF_MODIFIED_SINCE);
        }
        let mut retry = Request::new(Body::empty());
        *retry.method_mut() = request.method().clone();
        *retry.headers_mut() = request.headers().clone();
        *retry.uri_mut() = Uri::from_static("/index.html");

        let dictionary = match is_hashed(last_segment(&path)) {
            true => differences::use_as_dictionary(&path),
            false => None,
        };
        // Parts of files are not compressed.
        let is_whole = !request.headers().contains_key(header::RANGE);
        let difference = match dictionary.is_some() && is_whole {
            true => differences::difference(&path, request.headers()),
            false => None,
        };
        let difference = match difference {
            Some(uri) => self.difference(uri, request.method().clone(), &path).await,
            None => None,
        };
        let is_difference = difference.is_some();
        let mut response = match difference {
            Some(response) => response,
            None => self.file(request).await,
        };
        let mut served = path.as_str();
        // Clients look for documents there, and would read the page as one.
        let is_page = !last_segment(&path).contains('.') && !path.starts_with("/.well-known/");
        let readable = matches!(*retry.method(), Method::GET | Method::HEAD);
        if response.status() == StatusCode::NOT_FOUND && is_page && readable {
            response = self.file(retry).await;
            served = "/index.html";
        }
        // A 404 is not cached: the file may still be uploaded.
        let is_immutable =
            response.status() != StatusCode::NOT_FOUND && is_hashed(last_segment(served));
        let headers = response.headers_mut();
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static(match is_immutable {
                true if is_difference => IMMUTABLE_HERE,
                true => IMMUTABLE,
                false => "no-cache",
            }),
        );
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        // Responses differ by encoding.
        headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(pattern) = dictionary.filter(|_| is_immutable) {
            headers.insert(USE_AS_DICTIONARY, pattern);
            headers.append(header::VARY, AVAILABLE_DICTIONARY.into());
        }
        response
    }

    /// Returns the difference at `uri` as the response to a request for the file at `path`; `None` if there is none.
    async fn difference(&self, uri: Uri, method: Method, path: &str) -> Option<Response> {
        let mut asked = Request::new(Body::empty());
        *asked.method_mut() = method;
        *asked.uri_mut() = uri;
        let mut response = self.file(asked).await;
        if response.status() != StatusCode::OK {
            return None;
        }
        let medium = match path.ends_with(".wasm") {
            true => "application/wasm",
            false => "text/javascript",
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(medium));
        headers.insert(header::CONTENT_ENCODING, DCZ);
        // These are about the file of the difference.
        headers.remove(header::LAST_MODIFIED);
        headers.remove(header::ACCEPT_RANGES);
        Some(response)
    }

    async fn file(&self, request: Request<Body>) -> Response {
        match self.files.clone().oneshot(request).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }
}

fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The `Cache-Control` of files with a hash in their name, which never change.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// As [`IMMUTABLE`], but only for the browser: a shared cache may not know that a difference is useless to others.
const IMMUTABLE_HERE: &str = "private, max-age=31536000, immutable";

/// Returns whether a file name contains a hash: 12 or more hexadecimal digits in a row, as in
/// `atelier-3f9c2b7a10d4e5f6_bg.wasm`.
fn is_hashed(name: &str) -> bool {
    let longest = name
        .split(|c: char| !c.is_ascii_hexdigit())
        .map(str::len)
        .max();
    longest.is_some_and(|length| length >= 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashed_names_are_immutable() {
        assert!(is_hashed("atelier-3f9c2b7a10d4e5f6_bg.wasm"));
        assert!(is_hashed("main-94d02df11ac1eb10.css"));
        assert!(!is_hashed("index.html") && !is_hashed("favicon.svg") && !is_hashed(""));
    }
}
