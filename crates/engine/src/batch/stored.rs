//! A batch as it is stored. Names and shapes do not change.

use atelier_contract::json::{self, Record};
use atelier_contract::{ModelId, serde_through_value};
use serde_json::Value;

use super::Batch;
use crate::BatchKey;
use crate::compose::sweep::{GridLabels, Labels};

serde_through_value!(Batch);

impl Batch {
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            key: BatchKey(record.text("key")?),
            model: ModelId::from_value(record.take("model")?)?,
            model_name: record.text("model_name")?,
            name: record.text("name")?,
            created: record.number("created")?,
            size: record.index("size")?,
            grid: record.optional("grid", GridLabels::from_value)?,
            removed: record.optional("removed", json::number)?,
            extra: record.rest(),
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("key", self.key.0.as_str().into());
        record.put("model", self.model.to_value());
        record.put("model_name", self.model_name.as_str().into());
        record.put("name", self.name.as_str().into());
        record.put("created", self.created.into());
        record.put("size", self.size.into());
        record.put_some("grid", self.grid.as_ref().map(GridLabels::to_value));
        record.put_some("removed", self.removed.map(Into::into));
        record.put_all(&self.extra);
        record.into_value()
    }
}

impl GridLabels {
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let index = |value| usize::try_from(json::number(value)?).ok();
        Some(Self {
            rows: Labels::from_value(record.take("rows")?)?,
            columns: Labels::from_value(record.take("columns")?)?,
            cells: json::list(record.take("cells")?, index)?,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        let cells = self.cells.iter().map(|cell| (*cell).into()).collect();
        let mut record = Record::new();
        record.put("rows", self.rows.to_value());
        record.put("columns", self.columns.to_value());
        record.put("cells", Value::Array(cells));
        record.into_value()
    }
}

impl Labels {
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            parameter: record.text("parameter")?,
            values: json::list(record.take("values")?, json::text)?,
        })
    }

    fn to_value(&self) -> Value {
        let values = self.values.iter().map(|value| value.as_str().into());
        let mut record = Record::new();
        record.put("parameter", self.parameter.as_str().into());
        record.put("values", Value::Array(values.collect()));
        record.into_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_batch_of_any_version_is_written_as_it_was_read() {
        for batch in [
            json!({
                "key": "b", "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
                "name": "cats", "created": u64::MAX, "size": 2,
                "grid": {
                    "rows": {"parameter": "seed", "values": ["1", "2"]},
                    "columns": {"parameter": "style", "values": ["ink", "oil"]},
                    "cells": [0, 3]
                },
                "removed": 5, "colour": "red"
            }),
            json!({
                "key": "b", "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
                "name": "", "created": 0, "size": 0
            }),
        ] {
            let read = Batch::from_value(batch.clone()).unwrap();
            assert_eq!(read.to_value().to_string(), batch.to_string());
        }
        assert_eq!(Batch::from_value(json!({"key": "b"})), None);
    }
}
