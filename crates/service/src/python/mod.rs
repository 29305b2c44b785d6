//! The two Python files (INTERFACE "GET /api/openai-function", "GET /api/comfyui-node").

use atelier_contract::{ModelId, Schema};

use crate::models::About;

/// What the files say of a model beside its schema.
#[derive(Debug, Clone)]
pub struct Words {
    pub name: String,
    pub description: String,
}

impl From<About> for Words {
    fn from(about: About) -> Self {
        Self {
            name: about.name.to_owned(),
            description: about.description.to_owned(),
        }
    }
}

pub fn module_name(id: &ModelId) -> String {
    format!("{}_{}", id.category, id.subcategory)
}

pub fn render_openai_function(_: &Schema, _: &Words, _: &str) -> Result<String, minijinja::Error> {
    Ok(String::new())
}

pub fn render_comfyui_node(_: &Schema, _: &Words, _: &str) -> Result<String, minijinja::Error> {
    Ok(String::new())
}
