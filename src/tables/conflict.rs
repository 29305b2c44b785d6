use atelier_engine::compose::table::Table;
use atelier_engine::plural::counted;

/// Rows that were put aside: nothing is lost without a word.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) table: Table,
    pub(super) why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// They stood here; another tab has changed the table later.
    Replaced,
    /// They stood in another tab; this one has changed the table later.
    Replacing,
    /// An Atelier of before has left them.
    Earlier,
    /// A person has chosen the others.
    Chosen,
}

impl Conflict {
    pub(super) fn user_message(&self) -> String {
        let rows = counted(self.table.rows().len(), "row");
        match self.why {
            Why::Replaced => format!(
                "Another tab changed this table later than this one, so its rows are shown. What stood \
             here was put aside: {rows}."
            ),
            Why::Replacing => format!(
                "Another tab had changed this table, too, but earlier than this one. What stood there \
             was put aside: {rows}."
            ),
            Why::Earlier => {
                format!("An earlier Atelier has left other rows for this model: {rows}.")
            }
            Why::Chosen => format!("What stood here before was put aside: {rows}."),
        }
    }
}
