//! Compares the items composed in a panel with the rows of the table.

use atelier_contract::{Draft, Schema};

use super::fill_method::FillMethod;
use super::plan::Plan;
use super::sweep::Axis;
use super::table::Table;
use crate::text::plural::{agreeing, counted, listed};

/// The relation of a panel's items to the table. It decides what Generate does with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelItems {
    /// The table contains all items.
    InTable,
    /// No rows are waiting. The value is the number of items to send.
    Only(usize),
    /// The waiting rows are an earlier version of the items. The value is the number of items that replace them.
    Replacing(usize),
    /// Other rows are waiting. The value is the number of items that are not in the table.
    Additional(usize),
}

impl PanelItems {
    /// Compares the items with the table. `before`: the rows that this panel has added to the table.
    pub fn of(composed: &[Draft], before: Option<&[Draft]>, table: &Table) -> Self {
        if let (Some(before), false) = (before, composed.is_empty())
            && table.is_waiting_for(before)
            && before != composed
            // Items that were sent must not be sent again without a warning.
            && !table.has_sent_some(composed)
        {
            return Self::Replacing(composed.len());
        }
        let new = match composed {
            [] => 0,
            composed => table.unknown(composed).len(),
        };
        match new {
            0 => Self::InTable,
            new if table.unsent() == 0 && new == composed.len() => Self::Only(new),
            new => Self::Additional(new),
        }
    }
}

/// Returns a message such as `6 items of this sweep, in place of the 4 rows in the table.`
pub fn replacing_message(plan: Plan, table: &Table) -> String {
    let rows = match table.unsent() {
        1 => "row".to_owned(),
        rows => format!("{rows} rows"),
    };
    let offered = plan.offer_message(FillMethod::Sweep);
    format!("{offered}, in place of the {rows} in the table.")
}

/// Returns a message such as `2 items aren't in the table yet: add them, or replace the 3 rows there.`
pub fn not_in_table_message(items: usize, table: &Table) -> String {
    let begin = format!(
        "{} {} in the table yet: add {}",
        counted(items, "item"),
        agreeing(items, "isn't", "aren't"),
        agreeing(items, "it", "them"),
    );
    match table.unsent() {
        0 => format!("{begin}."),
        1 => format!("{begin}, or replace the row there."),
        rows => format!("{begin}, or replace the {rows} rows there."),
    }
}

/// Returns the required parameters that have no value in any row of a sweep.
pub fn missing(base: &Draft, axes: &[Axis], schema: &Schema) -> Vec<String> {
    let problems = schema.validate(base, false).err().unwrap_or_default();
    let names = problems.into_iter().map(|problem| problem.parameter);
    names
        .filter(|name| {
            let entry = base.get(name);
            let is_blank = entry.is_none_or(|entry| entry.to_text().trim().is_empty());
            is_blank && axes.iter().all(|axis| axis.parameter != *name)
        })
        .collect()
}

/// Returns a message such as `prompt is missing: fill it in under One, or make it an axis.` If the items have settings
/// of an earlier batch instead of those of the form `One`, the second advice is to use the settings of `One`.
pub fn missing_message(names: &[String], has_own_settings: bool) -> String {
    let (missing, it) = (listed(names), agreeing(names.len(), "it", "them"));
    let verb = agreeing(names.len(), "is", "are");
    let axis = agreeing(names.len(), "an axis", "axes");
    match has_own_settings {
        false => format!("{missing} {verb} missing: fill {it} in under One, or make {it} {axis}."),
        true => format!(
            "{missing} {verb} missing in this batch: make {it} {axis}, or use the settings of One."
        ),
    }
}

/// Returns a message such as `Enter values for aspect_ratio.`
pub fn empty_axis_message(axis: &str) -> String {
    format!("Enter values for {axis}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;
    use atelier_engine::BatchKey;
    use serde_json::json;

    fn schema() -> Schema {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [
                    {"name": "prompt", "type": "string"},
                    {"name": "size", "type": "integer", "default": 3}
                ],
                "optional": [{"name": "steps", "type": "integer"}]
            }
        });
        Schema::from_value(schema).unwrap()
    }

    fn prompt(text: &str) -> Draft {
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(text.into()));
        draft
    }

    /// Guards against sending rows that are not in the visible panel.
    #[test]
    fn composed_items_are_sent_alone_or_block() {
        let schema = schema();
        let mut table = Table::default();
        let composed = [prompt("a"), prompt("b")];
        assert_eq!(PanelItems::of(&[], None, &table), PanelItems::InTable);
        assert_eq!(PanelItems::of(&composed, None, &table), PanelItems::Only(2));
        table.append(vec![prompt("a")], &schema).unwrap();
        assert_eq!(
            PanelItems::of(&composed, None, &table),
            PanelItems::Additional(1)
        );
        assert_eq!(
            not_in_table_message(1, &table),
            "1 item isn't in the table yet: add it, or replace the row there."
        );
        table.append(vec![prompt("b")], &schema).unwrap();
        assert_eq!(PanelItems::of(&composed, None, &table), PanelItems::InTable);
        let others = [prompt("c"), prompt("d")];
        assert_eq!(
            PanelItems::of(&others, None, &table),
            PanelItems::Additional(2)
        );
        assert_eq!(
            not_in_table_message(2, &table),
            "2 items aren't in the table yet: add them, or replace the 2 rows there."
        );

        table.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        assert_eq!(PanelItems::of(&composed, None, &table), PanelItems::InTable);
        assert_eq!(PanelItems::of(&others, None, &table), PanelItems::Only(2));
        let half = [prompt("b"), prompt("c")];
        assert_eq!(
            PanelItems::of(&half, None, &table),
            PanelItems::Additional(1)
        );
        assert_eq!(
            not_in_table_message(1, &table),
            "1 item isn't in the table yet: add it."
        );
    }

    /// Changing an axis of a batch that is edited again must neither block Generate nor send the old items.
    #[test]
    fn changed_items_replace_their_earlier_version() {
        let schema = schema();
        let mut table = Table::default();
        let before = [prompt("a"), prompt("b")];
        let after = [prompt("a"), prompt("b"), prompt("c")];
        table.append(before.to_vec(), &schema).unwrap();
        let panel_items =
            |composed: &[Draft], table: &Table| PanelItems::of(composed, Some(&before), table);
        assert_eq!(panel_items(&before, &table), PanelItems::InTable);
        assert_eq!(panel_items(&after, &table), PanelItems::Replacing(3));
        assert_eq!(panel_items(&after[..1], &table), PanelItems::Replacing(1));
        assert_eq!(panel_items(&[], &table), PanelItems::InTable);
        assert_eq!(
            replacing_message(Plan::of(after.iter(), &schema), &table),
            "3 items of this sweep, in place of the 2 rows in the table."
        );
        // Some of the items were sent already.
        let mut half_sent = Table::default();
        half_sent.append(vec![prompt("c")], &schema).unwrap();
        half_sent.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        half_sent.append(before.to_vec(), &schema).unwrap();
        assert_eq!(panel_items(&after, &half_sent), PanelItems::InTable);
        let more = [prompt("b"), prompt("c"), prompt("d")];
        assert_eq!(panel_items(&more, &half_sent), PanelItems::Additional(1));
        // Other rows are waiting.
        table.append(vec![prompt("d")], &schema).unwrap();
        assert_eq!(panel_items(&after, &table), PanelItems::Additional(1));
        // The items are sent from the table.
        table.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        assert_eq!(panel_items(&after, &table), PanelItems::Additional(1));
    }

    #[test]
    fn required_parameters_without_a_value_or_an_axis_are_missing() {
        let schema = schema();
        let axis = |parameter: &str| Axis {
            parameter: parameter.into(),
            values: vec![Some(Entry::Text("1".into()))],
        };
        let axes = [axis("steps")];
        assert_eq!(missing(&prompt("a"), &axes, &schema), [""; 0]);
        assert_eq!(missing(&prompt(" "), &axes, &schema), ["prompt"]);
        assert_eq!(missing(&Draft::default(), &axes, &schema), ["prompt"]);
        assert_eq!(
            missing(&Draft::default(), &[axis("prompt")], &schema),
            [""; 0]
        );
    }

    /// Guards against a message that does not say where to enter a missing parameter.
    #[test]
    fn the_message_says_where_to_enter_missing_parameters() {
        let message = |names: &[&str], has_own: bool| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            missing_message(&names, has_own)
        };
        assert_eq!(
            message(&["prompt"], false),
            "prompt is missing: fill it in under One, or make it an axis."
        );
        assert_eq!(
            message(&["prompt", "image"], true),
            "prompt and image are missing in this batch: make them axes, or use the settings of One."
        );
    }
}
