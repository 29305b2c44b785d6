use atelier_contract::json;
use serde_json::Value;

use super::Batch;

impl Batch {
    /// Reads the stored form; `None` if a known field is invalid.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
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
                "removed": 5, "left_out": [1], "varied": "k", "colour": "red"
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
