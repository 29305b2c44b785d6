//! Items that a panel has composed and that aren't in the table yet.

use atelier_contract::{Draft, Schema};

use super::fill_method::Way;
use super::plan::Plan;
use super::sweep::Axis;
use super::table::Table;
use crate::text::plural::{agreeing, counted, listed};

/// The choice of what Generate does with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// The table has all of it.
    Nothing,
    /// It is all that would be sent, so many items: nothing else is paid for.
    Alone(usize),
    /// The rows that wait are what stood here before it was changed: so many items take their place.
    Instead(usize),
    /// So many items are neither among the rows that wait nor sent from here: they are sent in addition to those.
    Besides(usize),
}

impl Beside {
    /// `before`: the rows that were put into the table from here, if they were all that waited there.
    pub fn of(composed: &[Draft], before: Option<&[Draft]>, table: &Table) -> Self {
        if let (Some(before), false) = (before, composed.is_empty())
            && table.waits_as(before)
            && before != composed
            // What was sent is not sent once more in silence.
            && !table.has_sent_some(composed)
        {
            return Self::Instead(composed.len());
        }
        let new = match composed {
            [] => 0,
            composed => table.unknown(composed).len(),
        };
        match new {
            0 => Self::Nothing,
            new if table.unsent() == 0 && new == composed.len() => Self::Alone(new),
            new => Self::Besides(new),
        }
    }
}

/// `6 items of this sweep, in place of the 4 rows in the table.`
pub fn instead_message(plan: Plan, table: &Table) -> String {
    let rows = match table.unsent() {
        1 => "row".to_owned(),
        rows => format!("{rows} rows"),
    };
    let offered = plan.offer_message(Way::Sweep);
    format!("{offered}, in place of the {rows} in the table.")
}

/// `2 items aren't in the table yet: add them, or replace the 3 rows there.`
pub fn apart_message(items: usize, table: &Table) -> String {
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

/// The required parameters that no row of a sweep would have.
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

/// `prompt is missing: fill it in under One, or make it an axis.` Items of a batch that was sent before have settings of
/// their own, where what is missing can only be an axis, until those of One are taken.
pub fn missing_message(names: &[String], has_own_settings: bool) -> String {
    let (missing, it) = (listed(names), agreeing(names.len(), "it", "them"));
    let verb = agreeing(names.len(), "is", "are");
    let axis = agreeing(names.len(), "an axis", "axes");
    match has_own_settings {
        false => format!("{missing} {verb} missing: fill {it} in under One, or make {it} {axis}."),
        true => format!(
            "{missing} {verb} missing in this batch: make {it} {axis}, or take the settings of One."
        ),
    }
}

/// `Enter values for aspect_ratio.`
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

    /// Guards against a press that sends other rows than what is composed in the panel in view.
    #[test]
    fn what_is_composed_is_sent_alone_or_not_passed_over() {
        let schema = schema();
        let mut table = Table::default();
        let composed = [prompt("a"), prompt("b")];
        assert_eq!(Beside::of(&[], None, &table), Beside::Nothing);
        assert_eq!(Beside::of(&composed, None, &table), Beside::Alone(2));
        table.append(vec![prompt("a")], &schema).unwrap();
        assert_eq!(Beside::of(&composed, None, &table), Beside::Besides(1));
        assert_eq!(
            apart_message(1, &table),
            "1 item isn't in the table yet: add it, or replace the row there."
        );
        table.append(vec![prompt("b")], &schema).unwrap();
        assert_eq!(Beside::of(&composed, None, &table), Beside::Nothing);
        let others = [prompt("c"), prompt("d")];
        assert_eq!(Beside::of(&others, None, &table), Beside::Besides(2));
        assert_eq!(
            apart_message(2, &table),
            "2 items aren't in the table yet: add them, or replace the 2 rows there."
        );

        table.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        assert_eq!(Beside::of(&composed, None, &table), Beside::Nothing);
        assert_eq!(Beside::of(&others, None, &table), Beside::Alone(2));
        let half = [prompt("b"), prompt("c")];
        assert_eq!(Beside::of(&half, None, &table), Beside::Besides(1));
        assert_eq!(
            apart_message(1, &table),
            "1 item isn't in the table yet: add it."
        );
    }

    /// Guards against a batch that is edited again and held up as soon as one of its axes is changed, and against one
    /// that is sent as it was before.
    #[test]
    fn what_is_changed_takes_the_place_of_what_it_was() {
        let schema = schema();
        let mut table = Table::default();
        let before = [prompt("a"), prompt("b")];
        let after = [prompt("a"), prompt("b"), prompt("c")];
        table.append(before.to_vec(), &schema).unwrap();
        let beside = |composed: &[Draft], table: &Table| Beside::of(composed, Some(&before), table);
        assert_eq!(beside(&before, &table), Beside::Nothing);
        assert_eq!(beside(&after, &table), Beside::Instead(3));
        assert_eq!(beside(&after[..1], &table), Beside::Instead(1));
        assert_eq!(beside(&[], &table), Beside::Nothing);
        assert_eq!(
            instead_message(Plan::of(after.iter(), &schema), &table),
            "3 items of this sweep, in place of the 2 rows in the table."
        );
        // Some of it was sent already.
        let mut half_sent = Table::default();
        half_sent.append(vec![prompt("c")], &schema).unwrap();
        half_sent.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        half_sent.append(before.to_vec(), &schema).unwrap();
        assert_eq!(beside(&after, &half_sent), Beside::Nothing);
        let more = [prompt("b"), prompt("c"), prompt("d")];
        assert_eq!(beside(&more, &half_sent), Beside::Besides(1));
        // Others wait there by now.
        table.append(vec![prompt("d")], &schema).unwrap();
        assert_eq!(beside(&after, &table), Beside::Besides(1));
        // They were sent.
        table.send_good(&BatchKey("one".into()), &schema, false, &mut || 1, &|_| {
            None
        });
        assert_eq!(beside(&after, &table), Beside::Besides(1));
    }

    #[test]
    fn what_is_required_and_neither_in_the_form_nor_an_axis_is_missing() {
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

    /// Guards against a message that does not say where what is missing is entered.
    #[test]
    fn what_is_missing_is_said_with_where_it_is_entered() {
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
            "prompt and image are missing in this batch: make them axes, or take the settings of One."
        );
    }
}
