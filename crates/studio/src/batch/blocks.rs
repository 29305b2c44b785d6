//! Labelled grids below each other, for batches with more than two axes.

use crate::compose::sweep::GridLabels;

/// Grids with the same rows and columns, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// The heading of each grid; empty if there is only one.
    pub headings: Vec<Heading>,
    /// The labels of each grid; cells are numbered across grids.
    pub labels: GridLabels,
}

impl Blocks {
    /// Returns the number of lines of each grid: its rows, and its heading if there are headings.
    pub fn lines(&self) -> usize {
        self.labels.rows.values.len() + usize::from(!self.headings.is_empty())
    }

    /// Assigns the items to these places of a batch. Other places get cells outside the grids.
    #[must_use]
    pub fn spread(mut self, places: &[usize]) -> Self {
        let labels = &mut self.labels;
        let count =
            labels.rows.values.len() * labels.columns.values.len() * self.headings.len().max(1);
        let size = places.last().map_or(0, |last| last + 1);
        let mut cells: Vec<usize> = (0..size).map(|place| count + place).collect();
        for (place, cell) in places.iter().zip(&labels.cells) {
            cells[*place] = *cell;
        }
        labels.cells = cells;
        self
    }

    /// Returns the items in visual order: one grid after the other, row by row.
    pub fn order(&self) -> Vec<usize> {
        let cells = &self.labels.cells;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by_key(|item| cells[*item]);
        order
    }
}

/// The heading of a grid: the values that its items share.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    pub parameter: String,
    pub value: String,
    /// The part of the value that distinguishes it from the other headings.
    pub excerpt: String,
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

    /// Guards against a sweep without labels if a row above it was not sent.
    #[test]
    fn places_without_an_item_are_outside_the_grid() {
        let labels = |values: &[&str]| Labels {
            parameter: String::new(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let grid = GridLabels {
            rows: labels(&["lake", "sea"]),
            columns: labels(&["dawn", "noon"]),
            cells: vec![0, 1, 2, 3],
        };
        let spread = Blocks::from(grid).spread(&[1, 2, 4, 5]);
        assert_eq!(spread.labels.cells, [4, 0, 1, 7, 2, 3]);
        let turned = spread.labels.transposed().cells;
        assert_eq!([turned[1], turned[2], turned[4], turned[5]], [0, 2, 1, 3]);
        assert!(turned[0] >= 4 && turned[3] >= 4, "{turned:?}");
    }

    /// Guards against arrow keys that move along columns.
    #[test]
    fn items_are_ordered_row_by_row() {
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
