//! The methods to fill the table.

use atelier_contract::Schema;

use super::prompt_of;

/// A method to fill the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillMethod {
    Lines,
    Sweep,
    Import,
}

impl FillMethod {
    const ALL: [Self; 3] = [Self::Lines, Self::Sweep, Self::Import];

    /// Returns the methods for a model. The first one, `Lines`, requires a text parameter. The result is never empty.
    pub fn available(schema: &Schema) -> &'static [Self] {
        &Self::ALL[usize::from(prompt_of(schema).is_none())..]
    }

    /// Returns the label, which is also stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "Lines",
            Self::Sweep => "Sweep",
            Self::Import => "Import",
        }
    }

    /// Returns the noun in `4 items of this table`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Lines => "text",
            Self::Sweep => "sweep",
            Self::Import => "table",
        }
    }

    /// Returns the hint to show after all rows were sent.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::Lines => "Type more to start a new batch.",
            Self::Sweep => "Change values to start a new batch.",
            Self::Import => "Import another table to start a new batch.",
        }
    }

    /// Returns the hint to show while the table has no rows.
    pub fn first_step(self) -> &'static str {
        match self {
            Self::Lines => "Type one prompt per line.",
            Self::Sweep => "Enter values for an axis.",
            Self::Import => "Choose a file, or paste what is in it.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_without_text_has_no_lines() {
        let first = |kind: &str| {
            let schema = json!({
                "category": "image", "subcategory": "a",
                "parameters": {"required": [{"name": "it", "type": kind}], "optional": []}
            });
            FillMethod::available(&Schema::from_value(schema).unwrap())[0]
        };
        assert_eq!(first("string"), FillMethod::Lines);
        assert_eq!(first("integer"), FillMethod::Sweep);
    }
}
