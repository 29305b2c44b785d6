//! Records which ended tasks a response reports, once it is sent.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt, stream};

use crate::mcp::delivered::Delivered;
use crate::state::App;

/// The client of a response that was sent within this time had not timed out. Some clients time out after 5 s, and some of
/// them keep the connection open, so that the response seems to arrive.
const CERTAIN: Duration = Duration::from_secs(3);

/// The response to a call.
pub struct Delivery {
    began: Instant,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    /// The ended tasks that the response reports, and whether a repetition of the call may be charged without need.
    tasks: Vec<(String, bool)>,
    /// Dropped when the response is sent.
    guards: Vec<Box<dyn Any + Send>>,
}

impl Delivery {
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            contents: Mutex::default(),
        }
    }

    /// Adds an ended task. `is_paid`: whether it has a result, which a client that has timed out asks for again.
    pub fn report(&self, id: &str, is_paid: bool) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.tasks.push((id.to_owned(), is_paid));
    }

    /// Drops this value when the response is sent.
    pub fn hold(&self, guard: impl Send + 'static) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.guards.push(Box::new(guard));
    }

    /// Records the ended tasks that the response reports. `now`: when the response was sent.
    fn complete(&self, delivered: &Delivered, now: Instant) {
        let is_certain = now.duration_since(self.began) < CERTAIN;
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, is_paid) in &contents.tasks {
            if is_certain || !is_paid {
                delivered.add(id, now);
            }
        }
    }

    fn release(&self) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.guards.clear();
    }
}

/// Releases what a delivery holds, also if the client has disconnected.
struct Release(Arc<Delivery>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Returns the response with a body that completes the delivery at its end.
pub fn track(app: Arc<App>, delivery: Arc<Delivery>, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let state = (body.into_data_stream(), Release(delivery));
    let chunks = stream::unfold(state, move |(mut chunks, delivery)| {
        let app = app.clone();
        async move {
            let Some(chunk) = chunks.next().await else {
                delivery.0.complete(&app.mcp.delivered, Instant::now());
                return None;
            };
            Some((chunk, (chunks, delivery)))
        }
    });
    Response::from_parts(parts, Body::from_stream(chunks))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against paying twice: a client has given up after some seconds, but its connection is open, so the response
    /// seems to arrive.
    #[test]
    fn a_result_is_delivered_only_by_a_response_that_is_not_late() {
        for (after, is_delivered) in [(CERTAIN - Duration::from_millis(1), true), (CERTAIN, false)]
        {
            let (delivery, delivered) = (Delivery::new(), Delivered::default());
            delivery.report("result", true);
            delivery.report("failure", false);
            delivery.complete(&delivered, delivery.began + after);
            assert_eq!(delivered.contains("result"), is_delivered, "{after:?}");
            assert!(delivered.contains("failure"), "{after:?}");
        }
    }
}
