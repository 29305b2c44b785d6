//! A plain HTTP client on loopback, for direct requests to the service and the fault proxy.

use crate::Result;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::http::request::Builder;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Returns the `host:port` of an `http://` address.
///
/// # Errors
///
/// The address has another scheme.
pub fn authority(address: &str) -> Result<&str> {
    let rest = address
        .strip_prefix("http://")
        .ok_or_else(|| format!("Unsupported address {address}: use http:// on loopback"))?;
    Ok(rest.split('/').next().unwrap_or(rest))
}

/// Sends one request on a new connection.
///
/// # Errors
///
/// No server listens there, or the connection breaks before the response headers.
pub async fn send(authority: &str, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
    let stream = TcpStream::connect(authority).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

/// Sends a GET request, and returns the status and body of the response.
///
/// # Errors
///
/// As for [`send`] and [`authority`]; also if the body breaks off.
pub async fn get(address: &str) -> Result<(u16, Bytes)> {
    call(Request::get(path(address)?), address, Bytes::new()).await
}

/// Sends a POST request with a JSON body and a token, and returns the status and JSON body of the response.
///
/// # Errors
///
/// As for [`get`]; also if the response is not JSON.
pub async fn post(address: &str, body: &Value) -> Result<(u16, Value)> {
    let request = Request::post(path(address)?)
        .header("content-type", "application/json")
        .header("authorization", "Bearer of-a-test");
    let (status, reply) = call(request, address, body.to_string().into()).await?;
    Ok((status, serde_json::from_slice(&reply)?))
}

async fn call(request: Builder, address: &str, body: Bytes) -> Result<(u16, Bytes)> {
    let authority = authority(address)?;
    let request = request.header("host", authority).body(Full::new(body))?;
    let reply = send(authority, request).await?;
    let status = reply.status().as_u16();
    Ok((status, reply.into_body().collect().await?.to_bytes()))
}

fn path(address: &str) -> Result<&str> {
    let path = &address["http://".len() + authority(address)?.len()..];
    Ok(if path.is_empty() { "/" } else { path })
}
