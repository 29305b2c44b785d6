//! A file host that is not the service: it may send wrong content types and no CORS headers.

use atelier_end_to_end::Result;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A file: its MIME type and its bytes.
pub type File = (&'static str, Bytes);

/// A file server that stops when it is dropped.
pub struct Host {
    address: SocketAddr,
    server: JoinHandle<()>,
}

impl Host {
    /// Starts a server for these files by path. With `has_cors`, pages of other origins may read them.
    pub async fn start(has_cors: bool, files: &[(&str, File)]) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let files = files
            .iter()
            .map(|(path, file)| ((*path).to_owned(), file.clone()));
        let files: Arc<HashMap<String, File>> = Arc::new(files.collect());
        let server = tokio::spawn(serve(listener, files, has_cors));
        Ok(Self { address, server })
    }

    pub fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, files: Arc<HashMap<String, File>>, has_cors: bool) {
    while let Ok((stream, _)) = listener.accept().await {
        let files = files.clone();
        let service = service_fn(move |request| {
            let response = respond(&files, &request, has_cors);
            async move { Ok::<_, Infallible>(response) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn respond(
    files: &HashMap<String, File>,
    request: &Request<Incoming>,
    has_cors: bool,
) -> Response<Full<Bytes>> {
    let found = files.get(request.uri().path());
    let body = found.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
    let mut response = Response::new(Full::new(body));
    match found {
        Some((kind, _)) => {
            let kind = HeaderValue::from_static(kind);
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        None => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    if has_cors {
        let any = HeaderValue::from_static("*");
        response
            .headers_mut()
            .insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    }
    response
}
