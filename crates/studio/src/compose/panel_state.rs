//! The content of the panels that fill the table. It is stored until the user removes it, separately for each tab.
//! Content that was sent is marked, so that it is not offered and charged again.

use atelier_contract::{Draft, Schema, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fill_method::FillMethod;

/// The content of the panels. Browsers store it, so names and types of its fields must not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelState {
    /// The name of the chosen fill method; `None` for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<PanelSweep>,
    /// The text of a table to import.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pasted: String,
    /// The columns of that table that the user has assigned, each with its parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<(String, String)>,
}

/// A sweep as entered in its panel. Axes may have no values yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelSweep {
    /// The parameters with their values as typed.
    pub axes: Vec<(String, String)>,
    /// Whether the axes are combined in pairs.
    pub is_paired: bool,
    /// The seed of all items, if the model has a seed parameter.
    pub seed: Option<String>,
    /// The inputs that all items share in addition to the axes; `None` for those of the form.
    pub base: Option<Draft>,
    /// The shared inputs with which this sweep was sent; `None` if it was not sent, or changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_with: Option<Draft>,
}

impl PanelState {
    pub fn new(
        way: FillMethod,
        sweep: Option<PanelSweep>,
        pasted: String,
        schema: &Schema,
    ) -> Self {
        let is_first = FillMethod::available(schema)[0] == way;
        Self {
            way: (!is_first).then(|| way.name().to_owned()),
            sweep: sweep.filter(PanelSweep::is_started),
            pasted,
            meant: Vec::new(),
        }
    }

    /// Reads the stored form; `None` if it is invalid or from a later version.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    /// Returns the stored form.
    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether there is content that was not sent. The user would lose it.
    pub fn has_unsent(&self) -> bool {
        let sweep = self.sweep.as_ref();
        sweep.is_some_and(|sweep| sweep.sent_with.is_none()) || !self.pasted.trim().is_empty()
    }

    /// Whether there is content, sent or not.
    pub fn has_content(&self) -> bool {
        self.sweep.is_some() || !self.pasted.trim().is_empty()
    }

    /// Whether both have the same content. Ignores the fill method and whether the content was sent.
    pub fn has_same_content(&self, other: &Self) -> bool {
        (
            self.sweep.as_ref().map(PanelSweep::content),
            &self.pasted,
            &self.meant,
        ) == (
            other.sweep.as_ref().map(PanelSweep::content),
            &other.pasted,
            &other.meant,
        )
    }

    /// Returns the chosen fill method, if the model has it.
    pub fn fill_method(&self, schema: &Schema) -> Option<FillMethod> {
        let name = self.way.as_ref()?;
        let methods = FillMethod::available(schema).iter().copied();
        methods.into_iter().find(|method| method.name() == name)
    }
}

/// The content of a sweep.
type Content<'a> = (
    &'a [(String, String)],
    bool,
    Option<&'a str>,
    Option<&'a Draft>,
);

impl PanelSweep {
    fn content(&self) -> Content<'_> {
        let Self {
            axes,
            is_paired,
            seed,
            base,
            sent_with: _,
        } = self;
        (axes, *is_paired, seed.as_deref(), base.as_ref())
    }

    fn is_started(&self) -> bool {
        let has_values = self
            .axes
            .iter()
            .any(|(_, values)| !values.trim().is_empty());
        !self.axes.is_empty() && (has_values || self.axes.len() > 1 || self.base.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [{"name": "prompt", "type": "string"}], "optional": []}
        });
        Schema::from_value(schema).unwrap()
    }

    fn sweep(values: &str) -> PanelSweep {
        PanelSweep {
            axes: vec![("steps".into(), values.into())],
            is_paired: true,
            seed: Some("7".into()),
            base: None,
            sent_with: None,
        }
    }

    #[test]
    fn unfinished_panels_survive_a_round_trip() {
        let schema = schema();
        let unfinished = PanelState::new(
            FillMethod::Sweep,
            Some(sweep("1, 2")),
            "a,b\n".into(),
            &schema,
        );
        let text = unfinished.to_value().to_string();
        let stored = r#"{"way":"Sweep","sweep":{"axes":[["steps","1, 2"]],"is_paired":true,"seed":"7","base":null},"pasted":"a,b\n"}"#;
        assert_eq!(text, stored);
        let read = json::read(&text).and_then(PanelState::from_value).unwrap();
        assert_eq!(read, unfinished);
        assert_eq!(read.fill_method(&schema), Some(FillMethod::Sweep));
        assert!(read.has_unsent());
    }

    /// Untouched panels must not be stored: the batch form would open empty at the next visit.
    #[test]
    fn untouched_panels_are_empty() {
        let untouched = PanelState::new(
            FillMethod::Lines,
            Some(sweep(" ")),
            String::new(),
            &schema(),
        );
        assert!(untouched.is_empty() && !untouched.has_unsent());
        let looked_at = PanelState::new(FillMethod::Import, None, String::new(), &schema());
        assert!(!looked_at.is_empty() && !looked_at.has_unsent());
    }

    /// A sent sweep must not be lost, and must not be offered as unsent.
    #[test]
    fn a_sent_sweep_is_stored_as_sent() {
        let sent = PanelSweep {
            sent_with: Some(Draft::default()),
            ..sweep("1, 2")
        };
        let stored = PanelState::new(
            FillMethod::Sweep,
            Some(sent.clone()),
            String::new(),
            &schema(),
        );
        let read = PanelState::from_value(stored.to_value()).unwrap();
        assert_eq!(read.sweep, Some(sent));
        assert!(!read.is_empty() && !read.has_unsent());
    }

    #[test]
    fn invalid_values_and_those_of_later_versions_are_ignored() {
        for odd in ["null", r#"{"sweep":{"axes":1}}"#, r#"{"pasted":1}"#] {
            assert_eq!(
                json::read(odd).and_then(PanelState::from_value),
                None,
                "{odd}"
            );
        }
        assert!(
            json::read(r#"{"later":1}"#)
                .and_then(PanelState::from_value)
                .is_some()
        );
    }
}
