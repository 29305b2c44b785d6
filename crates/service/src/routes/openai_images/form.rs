//! Reads the form of `POST /v1/images/edits`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::{Stream, StreamExt, stream};
use multer::{Constraints, Field, Multipart, SizeLimit};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::super::call::{Chunks, MAX_BODY, discard_chunks};
use super::super::uploads::store_part;
use crate::failure::Failure;
use crate::openai_images::Picture;
use crate::state::App;

/// The maximum number of images in a form.
pub const MAX_PICTURES: u64 = 17;

/// The maximum number of other fields in a form.
const MAX_FIELDS: usize = 100;

/// The maximum duration of a whole form.
const MAX_TIME: Duration = Duration::from_secs(30 * 60);

/// The maximum pause between two chunks of the form.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The maximum length of what is between the contents of fields, in bytes. multer keeps it in memory.
const MAX_OUTSIDE: usize = 1 << 20;

/// The fields of a form, and its stored images.
#[derive(Default)]
pub struct Form {
    pub fields: Map<String, Value>,
    pub pictures: Vec<Picture>,
}

impl Form {
    /// Reads a form. A field with a file name is an image, which is stored as an upload of `owner`. `max_bytes`: the largest
    /// image.
    ///
    /// # Errors
    ///
    /// 400 if the body is not a form or is incomplete, 408 if it does not arrive in time, 413 if the form or an image is too
    /// large, 422 if there are too many fields, and as for [`store_part`].
    pub async fn read(
        app: &Arc<App>,
        headers: &HeaderMap,
        body: Body,
        owner: &str,
        max_bytes: u64,
    ) -> Result<Self, Failure> {
        let max_form_bytes = max_bytes.saturating_mul(MAX_PICTURES);
        let body = Arc::new(Mutex::new(body.into_data_stream()));
        let reading = async {
            let reader = Reader::new(headers, body.clone(), max_bytes)?;
            let read = tokio::time::timeout(MAX_TIME, reader.read(app, owner)).await;
            read.unwrap_or_else(|_| Err(too_slow()))
        };
        let read = reading.await;
        if read.is_err() {
            let rest = stream::unfold(body, |body| async move {
                let chunk = body.lock().await.next().await?;
                Some((chunk, body))
            });
            discard_chunks(Body::from_stream(rest).into_data_stream(), max_form_bytes);
        }
        read
    }
}

struct Reader {
    multipart: Multipart<'static>,
    /// The number of bytes since the last content of a field.
    outside: Arc<AtomicUsize>,
}

impl Reader {
    fn new(
        headers: &HeaderMap,
        body: Arc<Mutex<BodyDataStream>>,
        max_bytes: u64,
    ) -> Result<Self, Failure> {
        let content_type = headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let boundary = content_type.and_then(|text| multer::parse_boundary(text).ok());
        let boundary = boundary.ok_or_else(|| {
            Failure::bad_request("The body must be multipart/form-data with the images as files.")
        })?;
        let sizes = SizeLimit::new()
            .whole_stream(max_bytes.saturating_mul(MAX_PICTURES))
            .per_field(max_bytes);
        let outside = Arc::new(AtomicUsize::new(0));
        let chunks = bounded_chunks(body, outside.clone());
        let constraints = Constraints::new().size_limit(sizes);
        Ok(Self {
            multipart: Multipart::with_constraints(chunks, boundary, constraints),
            outside,
        })
    }

    async fn read(mut self, app: &Arc<App>, owner: &str) -> Result<Form, Failure> {
        let mut form = Form::default();
        let (mut count, mut length) = (0, 0);
        while let Some(field) = self.multipart.next_field().await.map_err(unreadable)? {
            let name = field.name().unwrap_or_default().to_owned();
            let is_picture = field.file_name().is_some();
            let content = self.content_of(field);
            if is_picture {
                if form.pictures.len() as u64 >= MAX_PICTURES {
                    let message = format!("{name}: a request has at most {MAX_PICTURES} images");
                    return Err(Failure::invalid_field(&name, message));
                }
                let path = store_part(app, owner, content).await?;
                form.pictures.push(Picture { field: name, path });
                continue;
            }
            let text = read_text(content).await?;
            count += 1;
            length += text.len();
            if count > MAX_FIELDS || length > MAX_BODY {
                let message =
                    format!("A form has at most {MAX_FIELDS} fields with {MAX_BODY} bytes.");
                return Err(Failure::bad_request(message));
            }
            add_text(&mut form.fields, &name, text)?;
        }
        Ok(form)
    }

    fn content_of(&self, field: Field<'static>) -> Body {
        let outside = self.outside.clone();
        outside.store(0, Ordering::Relaxed);
        Body::from_stream(field.inspect(move |_| outside.store(0, Ordering::Relaxed)))
    }
}

/// Returns the chunks of a body, with an error after too long a pause, or after too many bytes that are not content of a field.
fn bounded_chunks(
    body: Arc<Mutex<BodyDataStream>>,
    outside: Arc<AtomicUsize>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::unfold((body, outside), |(body, outside)| async move {
        // multer reads as many chunks as are ready before it looks at them.
        tokio::task::yield_now().await;
        let next = async { body.lock().await.next().await };
        let chunk = match tokio::time::timeout(MAX_PAUSE, next).await {
            Ok(None) => return None,
            Ok(Some(Ok(chunk))) => {
                match outside.fetch_add(chunk.len(), Ordering::Relaxed) > MAX_OUTSIDE {
                    true => Err(io::Error::other("the header of a field is too long")),
                    false => Ok(chunk),
                }
            }
            Ok(Some(Err(error))) => Err(io::Error::other(error)),
            Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
        };
        Some((chunk, (body, outside)))
    })
}

async fn read_text(content: Body) -> Result<String, Failure> {
    let mut chunks = Chunks::new(content, MAX_BODY as u64, MAX_TIME);
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await? {
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Failure::bad_request("A field of the form is not UTF-8."))
}

/// Adds a text field. Fields whose name ends with `[]` are the items of a list.
fn add_text(fields: &mut Map<String, Value>, name: &str, text: String) -> Result<(), Failure> {
    if let Some(name) = name.strip_suffix("[]") {
        let items = fields
            .entry(name)
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(items) = items {
            items.push(text.into());
            return Ok(());
        }
    } else if !fields.contains_key(name) {
        fields.insert(name.to_owned(), text.into());
        return Ok(());
    }
    Err(Failure::invalid_field(
        name,
        format!("{name} is in the form more than once"),
    ))
}

fn too_slow() -> Failure {
    Failure::new(
        StatusCode::REQUEST_TIMEOUT,
        "timeout",
        format!(
            "The form did not arrive in time: at most {} s without any byte, and {} s in total.",
            MAX_PAUSE.as_secs(),
            MAX_TIME.as_secs()
        ),
    )
}

fn unreadable(error: multer::Error) -> Failure {
    match error {
        multer::Error::FieldSizeExceeded { limit, .. }
        | multer::Error::StreamSizeExceeded { limit } => Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("The form or one of its images is larger than {limit} bytes."),
        ),
        multer::Error::StreamReadFailed(error) => match error.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::TimedOut => too_slow(),
            _ => Failure::bad_request(format!("The form can't be read: {error}.")),
        },
        error => Failure::bad_request(format!("The form can't be read: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_names_are_lists_or_refused() {
        let mut fields = Map::new();
        for (name, text) in [("a", "1"), ("b[]", "2"), ("b[]", "3")] {
            add_text(&mut fields, name, text.to_owned()).unwrap();
        }
        assert_eq!(json!(fields), json!({"a": "1", "b": ["2", "3"]}));
        assert!(add_text(&mut fields, "a", String::new()).is_err());
        assert!(add_text(&mut fields, "a[]", String::new()).is_err());
        assert!(add_text(&mut fields, "b", String::new()).is_err());
    }
}
