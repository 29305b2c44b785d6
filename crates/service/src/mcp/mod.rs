//! The state and the parts of the MCP server (`POST /mcp`) that don't depend on requests: its tools, their arguments, and
//! which results have arrived at clients.

use crate::config::McpTools;
use crate::openai_images::waits::Waits;
use delivered::Delivered;

pub mod arguments;
pub mod delivered;
pub mod tools;

/// The state of the MCP server.
#[derive(Debug)]
pub struct Mcp {
    pub tools: McpTools,
    /// The calls that wait for tasks.
    pub waits: Waits,
    pub delivered: Delivered,
}

impl Mcp {
    pub fn new(tools: McpTools) -> Self {
        Self {
            tools,
            waits: Waits::default(),
            delivered: Delivered::default(),
        }
    }
}
