//! The state and the parts of the MCP server (`POST /mcp`) that don't depend on requests: its tools, their arguments, and
//! which results have arrived at clients.

use crate::config::McpTools;
use delivered::Delivered;

pub mod arguments;
pub mod delivered;
pub mod tools;

/// The state of the MCP server.
#[derive(Debug)]
pub struct Mcp {
    pub tools: McpTools,
    pub delivered: Delivered,
}

impl Mcp {
    pub fn new(tools: McpTools) -> Self {
        Self {
            tools,
            delivered: Delivered::default(),
        }
    }
}
