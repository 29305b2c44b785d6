//! Plain HTTP on loopback, for talking to the service, the fault proxy and chromedriver directly.

use crate::{Error, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The `host:port` of an `http://` address.
pub fn authority(address: &str) -> Result<&str> {
    let rest = address
        .strip_prefix("http://")
        .ok_or_else(|| format!("only http:// on loopback is spoken here, not {address}"))?;
    Ok(rest.split('/').next().unwrap_or(rest))
}

/// Sends one request on a connection of its own.
pub async fn send(authority: &str, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
    let stream = TcpStream::connect(authority).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

/// The status and body of a GET.
pub async fn get(address: &str) -> Result<(u16, Bytes)> {
    let authority = authority(address)?;
    let path = address["http://".len() + authority.len()..].to_owned();
    let path = if path.is_empty() {
        "/".to_owned()
    } else {
        path
    };
    let request = Request::get(path)
        .header("host", authority)
        .body(Full::default())
        .map_err(Error::from)?;
    let reply = send(authority, request).await?;
    let status = reply.status().as_u16();
    Ok((status, reply.into_body().collect().await?.to_bytes()))
}
