//! The input schema of a model.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json::Record;
use crate::{ApiError, Draft, ModelId, Parameter, serde_through_value};

/// The names of the common request fields (INTERFACE "Common request fields"). Atelier sets these itself, even if a
/// schema lists them.
pub const RESERVED_NAMES: [&str; 3] = ["uid", "category", "subcategory"];

/// The input schema of a model (INTERFACE "Schema").
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub model: ModelId,
    pub parameters: Parameters,
    /// The secret parameters, after [`Schema::with_secrets_apart`] has moved them here.
    pub secrets: Parameters,
}

/// The parameters, in the order of the form (INTERFACE "Schema").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// Parameters that must be sent.
    pub required: Vec<Parameter>,
    /// Parameters that may be sent.
    pub optional: Vec<Parameter>,
}

serde_through_value!(Schema);

impl Schema {
    /// Parses the body of `GET /api/schema/...` for this model. A different model name in the response is ignored,
    /// because the model that the user has chosen is billed.
    ///
    /// # Errors
    ///
    /// [`ApiError::Malformed`] if it has no readable parameters.
    pub fn from_body(mut body: Value, model: ModelId) -> Result<Self, ApiError> {
        let data = body.get_mut("data").map(Value::take).unwrap_or_default();
        let schema = Record::read(data).and_then(|mut record| Self::take(&mut record, model));
        schema.ok_or_else(|| ApiError::malformed("the reply has no schema"))
    }

    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let model = ModelId::take(&mut record)?;
        Self::take(&mut record, model)
    }

    fn take(record: &mut Record, model: ModelId) -> Option<Self> {
        Some(Self {
            model,
            parameters: match record.take("parameters") {
                None => Parameters::default(),
                Some(parameters) => Parameters::from_value(parameters)?,
            },
            secrets: Parameters::default(),
        })
    }

    /// Moves the secret parameters to [`Schema::secrets`], so that drafts, tables, links and files of this schema never
    /// contain their values.
    pub fn with_secrets_apart(mut self) -> Self {
        let Parameters { required, optional } = &mut self.parameters;
        let secrets = &mut self.secrets;
        for (from, to) in [
            (required, &mut secrets.required),
            (optional, &mut secrets.optional),
        ] {
            to.extend(from.extract_if(.., |it| it.is_secret()));
        }
        self
    }

    /// Returns a schema with only the secrets, for their validation.
    pub fn of_secrets(&self) -> Self {
        Self {
            model: self.model.clone(),
            parameters: self.secrets.clone(),
            secrets: Parameters::default(),
        }
    }

    /// Returns the secrets that were moved apart, each with whether it is required.
    pub fn secret_parameters(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        self.secrets.all()
    }

    /// Whether this is the name of a secret that was moved apart.
    pub fn is_secret(&self, name: &str) -> bool {
        self.secrets.all().any(|(it, _)| it.name == name)
    }

    /// Returns the position of a parameter in the form; secrets are last.
    pub fn position_of(&self, name: &str) -> Option<usize> {
        let mut all = self.parameters().chain(self.secrets.all());
        all.position(|(it, _)| it.name == name)
    }

    /// Removes the secrets from an external draft, and returns them.
    pub fn take_secrets(&self, draft: &mut Draft) -> Draft {
        let mut secrets = Draft::default();
        for (Parameter { name, .. }, _) in self.secrets.all() {
            if let Some(entry) = draft.get(name).cloned() {
                draft.reset(name);
                secrets.set(name.clone(), entry);
            }
        }
        secrets
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        self.model.put(&mut record);
        record.put("parameters", self.parameters.to_value());
        record.into_value()
    }

    /// Returns all parameters of the form, required ones first, each with whether it is required. Duplicate names are
    /// skipped.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        let mut seen = BTreeSet::new();
        self.parameters.all().filter(move |(p, _)| {
            let name = p.name.as_str();
            !RESERVED_NAMES.contains(&name) && seen.insert(name)
        })
    }

    /// Returns the parameter with this name, and whether it is required.
    pub fn parameter(&self, name: &str) -> Option<(&Parameter, bool)> {
        self.parameters().find(|(p, _)| p.name == name)
    }
}

impl Parameters {
    fn all(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        let required = self.required.iter().map(|p| (p, true));
        required.chain(self.optional.iter().map(|p| (p, false)))
    }

    fn from_value(value: Value) -> Option<Self> {
        // Some languages have the same type for lists and objects, and write an empty object as a list.
        if value.as_array().is_some_and(Vec::is_empty) {
            return Some(Self::default());
        }
        let mut record = Record::read(value)?;
        Some(Self {
            required: readable(record.take("required")),
            optional: readable(record.take("optional")),
        })
    }

    fn to_value(&self) -> Value {
        let list = |parameters: &[Parameter]| parameters.iter().map(Parameter::to_value).collect();
        let mut record = Record::new();
        record.put("required", Value::Array(list(&self.required)));
        record.put("optional", Value::Array(list(&self.optional)));
        record.into_value()
    }
}

/// Reads the valid entries. Entries without a name are skipped, because a partial form is better than none.
fn readable(value: Option<Value>) -> Vec<Parameter> {
    match value {
        Some(Value::Array(entries)) => entries
            .into_iter()
            .filter_map(Parameter::from_value)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn skips_invalid_parameters() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}, 5, {"type": "string"},
                             {"name": "uid", "type": "string"}],
                "optional": null
            }
        }))
        .unwrap();
        let names: Vec<_> = schema
            .parameters()
            .map(|(p, r)| (p.name.as_str(), r))
            .collect();
        assert_eq!(names, [("prompt", true)]);
    }

    /// Drafts for the schema contain no secrets, so stored drafts, tables, links and files contain none.
    #[test]
    fn with_secrets_apart_excludes_secrets_from_drafts() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"},
                             {"name": "api_key", "type": "string", "format": "password"}],
                "optional": [{"name": "org", "type": "string", "x-cog-secret": true},
                             {"name": "steps", "type": "integer"}]
            }
        }))
        .unwrap();
        let schema = schema.with_secrets_apart();
        let names = |schema: &Schema| -> Vec<String> {
            let names = schema.parameters().map(|(it, _)| it.name.clone());
            names.collect()
        };
        assert_eq!(names(&schema), ["prompt", "steps"]);
        assert_eq!(names(&schema.of_secrets()), ["api_key", "org"]);
        assert!(schema.is_secret("api_key") && !schema.is_secret("prompt"));
        let values = json!({"prompt": "cat", "api_key": "sk-1"});
        let mut draft = Draft::from_values(values.as_object().unwrap());
        assert!(schema.validate(&draft, false).is_err());
        let secrets = schema.take_secrets(&mut draft);
        assert_eq!(secrets.iter().count(), 1);
        let input = schema.validate(&draft, false).unwrap();
        assert_eq!(
            Value::Object(input.values().clone()),
            json!({"prompt": "cat"})
        );
        let missing = schema.of_secrets().validate(&Draft::default(), false);
        assert_eq!(missing.unwrap_err()[0].message, "api_key is required");
        assert!(schema.of_secrets().validate(&secrets, false).is_ok());
    }
}
