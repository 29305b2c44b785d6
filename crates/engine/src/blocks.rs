//! Labelled grids below each other, where a batch has more axes than a page has directions.

use crate::compose::sweep::GridLabels;

/// Grids of the same rows and columns, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// What each of them is headed by; none where it is the only one.
    pub headings: Vec<Heading>,
    /// Those of each; cells are counted on from one grid to the next.
    pub labels: GridLabels,
}

impl Blocks {
    /// How many lines each grid has: its heading, where it has one, and its rows.
    pub fn lines(&self) -> usize {
        self.labels.rows.values.len() + usize::from(!self.headings.is_empty())
    }

    /// The items in the order in which they are seen: one grid after the other, row by row.
    pub fn order(&self) -> Vec<usize> {
        let cells = &self.labels.cells;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by_key(|item| cells[*item]);
        order
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    pub parameter: String,
    pub value: String,
    /// What tells it from the other values.
    pub told: String,
}

impl From<GridLabels> for Blocks {
    fn from(labels: GridLabels) -> Self {
        Self {
            headings: Vec::new(),
            labels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::sweep::Labels;

    /// Guards against arrows that lead down the columns of what is read in rows.
    #[test]
    fn items_are_seen_row_by_row() {
        let labels = |values: &[&str]| Labels {
            parameter: String::new(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let grid = GridLabels {
            rows: labels(&["lake", "sea"]),
            columns: labels(&["dawn", "noon", "dusk"]),
            cells: (0..6).collect(),
        };
        assert_eq!(Blocks::from(grid.clone()).order(), [0, 1, 2, 3, 4, 5]);
        let turned = Blocks::from(grid.transposed());
        assert_eq!(turned.order(), [0, 3, 1, 4, 2, 5]);
    }
}
