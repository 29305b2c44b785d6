//! The paths of the ten endpoints (INTERFACE "Endpoints"), and of the extensions.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::ModelId;

pub const GENERATE: &str = "/v2/generate";
pub const STATUS: &str = "/v2/status";
pub const RESPONSE: &str = "/v2/response";
pub const GENERATE_BATCH: &str = "/v2/generate-batch";
pub const STATUS_BATCH: &str = "/v2/status-batch";
pub const RESPONSE_BATCH: &str = "/v2/response-batch";
pub const MODELS: &str = "/api/models";

/// Extension: all ComfyUI nodes as one archive.
pub const COMFYUI_NODES: &str = "/api/comfyui-nodes.zip";

/// Extension: all models as functions in one Python file.
pub const OPENAI_FUNCTIONS: &str = "/api/openai-functions";

/// Extension: all models as one MCP server.
pub const MCP: &str = "/api/mcp";

/// Extension: the MCP server that the service itself is.
pub const MCP_ENDPOINT: &str = "/mcp";

/// Extension: the account of an access token; see [`crate::AccountStatus`].
pub const ACCOUNT: &str = "/api/account";

/// Extension: how agents use the service, as `SKILL.md`.
pub const SKILL: &str = "/api/skill";

/// Extension: an overview with links for language models (<https://llmstxt.org>).
pub const LLMS: &str = "/llms.txt";

/// Extension: ends a task that has not ended.
pub const CANCEL: &str = "/v2/cancel";

/// Extension: ends 1 to 10 tasks.
pub const CANCEL_BATCH: &str = "/v2/cancel-batch";

/// Extension: a stream of the changes of a user's tasks.
pub const EVENTS: &str = "/v2/events";

/// Extension: files for the inputs of tasks.
pub const UPLOADS: &str = "/v2/uploads";

/// Returns the path of `GET /api/schema/:category/:subcategory`.
pub fn schema(model: &ModelId) -> String {
    format!("/api/schema/{}", model_segments(model))
}

/// Returns the path of `GET /api/openai-function/:category/:subcategory`.
pub fn openai_function(model: &ModelId) -> String {
    format!("/api/openai-function/{}", model_segments(model))
}

/// Returns the path of `GET /api/comfyui-node/:category/:subcategory`.
pub fn comfyui_node(model: &ModelId) -> String {
    format!("/api/comfyui-node/{}", model_segments(model))
}

/// Extension: returns the path of `GET /api/mcp/:category/:subcategory`.
pub fn mcp(model: &ModelId) -> String {
    format!("{MCP}/{}", model_segments(model))
}

/// Returns `category/subcategory`, each encoded as one path segment.
pub fn model_segments(model: &ModelId) -> String {
    format!(
        "{}/{}",
        segment(&model.category),
        segment(&model.subcategory)
    )
}

/// Encodes one path segment: all characters except the unreserved ones of RFC 3986, so that a name with a slash stays
/// one segment.
pub fn segment(text: &str) -> String {
    const SET: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~');
    utf8_percent_encode(text, SET).to_string()
}

/// Decodes a [`segment`]; invalid UTF-8 becomes replacement characters.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_slashes_and_unicode_in_segments() {
        let model = ModelId::new("image/é", "a b?c#d");
        assert_eq!(schema(&model), "/api/schema/image%2F%C3%A9/a%20b%3Fc%23d");
    }
}
