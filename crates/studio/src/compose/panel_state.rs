//! What a person has composed outside the table: kept for as long as it is not taken away. What was sent is kept as
//! that, so that it is not offered to be paid once more. Each tab has its own.

use atelier_contract::{Draft, Schema, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fill_method::Way;

/// What stands in the panels that fill the table. Stored in browsers: names and shapes do not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unfinished {
    /// The way that was chosen, by its name; none for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<UnfinishedSweep>,
    /// The text of a table that is to be imported.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pasted: String,
    /// Columns of it that a person has said to be other parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<(String, String)>,
}

/// A sweep as it is written so far: an axis may have no values yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnfinishedSweep {
    /// Each parameter with its values as they are typed.
    pub axes: Vec<(String, String)>,
    /// The axes go together in pairs.
    pub is_paired: bool,
    /// The seed of all items, where the model has one.
    pub seed: Option<String>,
    /// What the items have in addition to the axes, where that is not what stands in the form for one.
    pub base: Option<Draft>,
    /// What they had in addition to the axes when all of it was sent, as it is written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_with: Option<Draft>,
}

impl Unfinished {
    pub fn new(way: Way, sweep: Option<UnfinishedSweep>, pasted: String, schema: &Schema) -> Self {
        let is_first = Way::of(schema)[0] == way;
        Self {
            way: (!is_first).then(|| way.name().to_owned()),
            sweep: sweep.filter(UnfinishedSweep::is_begun),
            pasted,
            meant: Vec::new(),
        }
    }

    /// `None` for what is none, or that of a later version.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// There is something that is yet to be sent, and would have to be written again.
    pub fn has_any(&self) -> bool {
        let sweep = self.sweep.as_ref();
        sweep.is_some_and(|sweep| sweep.sent_with.is_none()) || !self.pasted.trim().is_empty()
    }

    /// Something would have to be written again, sent or not.
    pub fn has_written(&self) -> bool {
        self.sweep.is_some() || !self.pasted.trim().is_empty()
    }

    /// What a person has written is the same in both, whichever way is looked at and whether it was sent.
    pub fn has_same_words(&self, other: &Self) -> bool {
        (
            self.sweep.as_ref().map(UnfinishedSweep::words),
            &self.pasted,
            &self.meant,
        ) == (
            other.sweep.as_ref().map(UnfinishedSweep::words),
            &other.pasted,
            &other.meant,
        )
    }

    /// The way that was chosen, if the model has it.
    pub fn way(&self, schema: &Schema) -> Option<Way> {
        let name = self.way.as_ref()?;
        let ways = Way::of(schema).iter().copied();
        ways.into_iter().find(|way| way.name() == name)
    }
}

/// What is written of a sweep.
type Words<'a> = (
    &'a [(String, String)],
    bool,
    Option<&'a str>,
    Option<&'a Draft>,
);

impl UnfinishedSweep {
    fn words(&self) -> Words<'_> {
        let Self {
            axes,
            is_paired,
            seed,
            base,
            sent_with: _,
        } = self;
        (axes, *is_paired, seed.as_deref(), base.as_ref())
    }

    fn is_begun(&self) -> bool {
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

    fn sweep(values: &str) -> UnfinishedSweep {
        UnfinishedSweep {
            axes: vec![("steps".into(), values.into())],
            is_paired: true,
            seed: Some("7".into()),
            base: None,
            sent_with: None,
        }
    }

    #[test]
    fn what_was_begun_is_kept_as_it_was() {
        let schema = schema();
        let begun = Unfinished::new(Way::Sweep, Some(sweep("1, 2")), "a,b\n".into(), &schema);
        let text = begun.to_value().to_string();
        let stored = r#"{"way":"Sweep","sweep":{"axes":[["steps","1, 2"]],"is_paired":true,"seed":"7","base":null},"pasted":"a,b\n"}"#;
        assert_eq!(text, stored);
        let read = json::read(&text).and_then(Unfinished::from_value).unwrap();
        assert_eq!(read, begun);
        assert_eq!(read.way(&schema), Some(Way::Sweep));
        assert!(read.has_any());
    }

    /// Guards against a store that fills with what was never touched, and a batch that opens with nothing in it.
    #[test]
    fn what_was_not_begun_is_nothing() {
        let untouched = Unfinished::new(Way::Lines, Some(sweep(" ")), String::new(), &schema());
        assert!(untouched.is_empty() && !untouched.has_any());
        let looked_at = Unfinished::new(Way::Import, None, String::new(), &schema());
        assert!(!looked_at.is_empty() && !looked_at.has_any());
    }

    /// Guards against a sweep that is gone once it was sent, and against one that is offered as if it had not been.
    #[test]
    fn what_was_sent_is_kept_as_that() {
        let sent = UnfinishedSweep {
            sent_with: Some(Draft::default()),
            ..sweep("1, 2")
        };
        let kept = Unfinished::new(Way::Sweep, Some(sent.clone()), String::new(), &schema());
        let read = Unfinished::from_value(kept.to_value()).unwrap();
        assert_eq!(read.sweep, Some(sent));
        assert!(!read.is_empty() && !read.has_any());
    }

    #[test]
    fn what_a_later_version_keeps_is_none() {
        for odd in ["null", r#"{"sweep":{"axes":1}}"#, r#"{"pasted":1}"#] {
            assert_eq!(
                json::read(odd).and_then(Unfinished::from_value),
                None,
                "{odd}"
            );
        }
        assert!(
            json::read(r#"{"later":1}"#)
                .and_then(Unfinished::from_value)
                .is_some()
        );
    }
}
