//! Plain HTTP on loopback, for talking to the service, the fault proxy and chromedriver directly.

use crate::Result;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::http::request::Builder;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// The `host:port` of an `http://` address.
///
/// # Errors
///
/// It has another scheme.
pub fn authority(address: &str) -> Result<&str> {
    let rest = address
        .strip_prefix("http://")
        .ok_or_else(|| format!("only http:// on loopback is spoken here, not {address}"))?;
    Ok(rest.split('/').next().unwrap_or(rest))
}

/// Sends one request on a connection of its own.
///
/// # Errors
///
/// No server listens there, or the connection breaks before the head of a reply.
pub async fn send(authority: &str, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
    let stream = TcpStream::connect(authority).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

/// The status and body of a GET.
///
/// # Errors
///
/// As for [`send`] and [`authority`]; also if the body breaks off.
pub async fn get(address: &str) -> Result<(u16, Bytes)> {
    call(Request::get(path(address)?), address, Bytes::new()).await
}

/// The status and JSON reply of a POST of JSON with some access token.
///
/// # Errors
///
/// As for [`get`]; also if the reply is no JSON.
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
