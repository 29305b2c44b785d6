//! The wire format of the generation service's interface: every request and response, the schema of a model's input,
//! input validation, and the classification of output URLs.
//!
//! It does no I/O and uses no clock, network or DOM. Parts that the interface does not specify ("not shown") are
//! decoded tolerantly: unknown fields are preserved, unknown statuses count as progress, and `error` and `output` may
//! have any type.

mod account_status;
mod address;
mod batch;
mod cancellation;
mod complete;
mod draft;
pub mod envelope;
mod error;
pub mod function_schema;
mod guest;
mod input;
pub mod json;
mod lenient;
mod model;
mod model_list;
mod number;
pub mod output;
mod parameter;
mod parameter_constructors;
pub mod path;
mod picture;
mod prose;
pub mod python_file;
mod request;
mod retry_after;
mod schema;
mod server_events;
mod status;
mod stored_reference;
mod task;
mod upload;
mod validate;

pub use account_status::AccountStatus;
pub use address::ServiceAddress;
pub use batch::{BatchEntry, BatchReply, BatchRequest, MAX_BATCH_ITEMS};
pub use cancellation::Cancellation;
pub use draft::{Draft, Entry};
pub use envelope::Envelope;
pub use error::{ApiError, ErrorBody, FieldProblem};
pub use guest::Guest;
pub use input::Input;
pub use model::{Model, ModelId};
pub use model_list::{Integration, ModelList};
pub use number::{DecimalText, compare as compare_numbers, parse as parse_number, read_typed};
pub use parameter::{Kind, Media, Parameter, is_secret_name};
pub use picture::PictureRole;
pub use prose::{MAX_PROSE, bounded};
pub use request::{
    Credentials, GenerateRequest, IDEMPOTENCY_FIELD, IDEMPOTENCY_HEADER, TaskRequest,
};
pub use retry_after::parse as parse_retry_after;
pub use schema::{Parameters, RESERVED_NAMES, Schema};
pub use server_events::{ServerEvent, ServerEventParser};
pub use status::StatusWord;
pub use stored_reference::{STORED_MARK, stored_name};
pub use task::{Accepted, Output, Progress, TaskId};
pub use upload::{UploadLimits, Uploaded};
pub use validate::{NULL_WORDS, Problem, check, choice_text};
