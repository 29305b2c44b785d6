//! Uploads files with `XMLHttpRequest`, because `fetch` reports no progress of a request's body.

use std::cell::RefCell;
use std::rc::Rc;

use atelier_contract::{ApiError, Credentials, envelope, json};
use futures::channel::oneshot;
use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use leptos::prelude::window;
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, ProgressEvent, Url, XmlHttpRequest};

use super::http::{redirected, retry_after_ms};
use crate::reactive::boxed::after;

/// The maximum time without any progress, in milliseconds. The service checks a file after its last byte.
const STALL_MS: u32 = 90_000;

/// Sends a file as the body of a `POST` request and returns the body of the reply. Dropping the future aborts the request.
/// `on_progress` receives the number of bytes that are sent.
///
/// # Errors
///
/// There was no progress for a while, no complete reply, or a status outside 200–299. Browsers follow redirects, to other
/// origins without the `Authorization` header; the reply after a redirect is an error.
pub async fn post_file(
    url: &str,
    file: &Blob,
    credentials: &Credentials,
    on_progress: impl Fn(u64) + 'static,
) -> Result<Value, ApiError> {
    let request = XmlHttpRequest::new().map_err(network)?;
    request.open("POST", url).map_err(network)?;
    let authorization = credentials.authorization();
    request
        .set_request_header("Authorization", &authorization)
        .map_err(network)?;
    let _guard = AbortGuard(request.clone());
    let (sender, receiver) = oneshot::channel();
    let end: Rc<dyn Fn(Option<ApiError>)> = {
        let sender = RefCell::new(Some(sender));
        Rc::new(move |error| {
            if let Some(sender) = sender.borrow_mut().take() {
                // The receiver may have been dropped.
                let _ = sender.send(error);
            }
        })
    };
    let stall = Rc::new(RefCell::new(None::<Timeout>));
    let restart = {
        let (end, stall) = (end.clone(), stall.clone());
        Rc::new(move || {
            let end = end.clone();
            let timeout = after(STALL_MS, move || {
                let after_ms = STALL_MS.into();
                end(Some(ApiError::Timeout { after_ms }));
            });
            // Dropping the previous timeout cancels it.
            *stall.borrow_mut() = Some(timeout);
        })
    };
    restart();
    let upload = request.upload().map_err(network)?;
    let _progress = EventListener::new(&upload, "progress", move |event| {
        restart();
        if let Some(event) = event.dyn_ref::<ProgressEvent>() {
            on_progress(event.loaded() as u64);
        }
    });
    let (loaded, failed) = (end.clone(), end);
    let _loaded = EventListener::once(&request, "load", move |_| loaded(None));
    let _failed = EventListener::once(&request, "error", move |_| {
        failed(Some(network(JsValue::NULL)));
    });
    request.send_with_opt_blob(Some(file)).map_err(network)?;
    // The sender lives as long as the listeners.
    let error = receiver.await.unwrap_or_default();
    stall.borrow_mut().take();
    match error {
        Some(error) => Err(error),
        None => read(&request, url),
    }
}

fn read(request: &XmlHttpRequest, url: &str) -> Result<Value, ApiError> {
    let status = request.status().map_err(network)?;
    let absolute = |url: &str| {
        Some(
            Url::new_with_base(url, &window().location().href().ok()?)
                .ok()?
                .href(),
        )
    };
    if absolute(&request.response_url()) != absolute(url) {
        return Err(redirected());
    }
    let retry_after_ms = retry_after_ms(&|name| request.get_response_header(name).ok().flatten());
    let text = request.response_text().ok().flatten().unwrap_or_default();
    match json::parse(text.as_bytes()) {
        Ok(body) => envelope::answer(status, body, retry_after_ms),
        Err(_) if (200..300).contains(&status) => Err(ApiError::not_json(text.as_bytes())),
        Err(_) => Err(ApiError::from_status(status, None, retry_after_ms)),
    }
}

fn network(_: JsValue) -> ApiError {
    ApiError::Network {
        detail: "the upload broke off".into(),
    }
}

/// Aborts the request when it is dropped.
struct AbortGuard(XmlHttpRequest);

impl Drop for AbortGuard {
    fn drop(&mut self) {
        // Has no effect after the reply.
        let _ = self.0.abort();
    }
}
