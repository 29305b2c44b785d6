use super::*;
use proptest::prelude::*;

fn items_of(rows: &[LayoutRow]) -> Vec<&ItemRow> {
    let items = rows.iter().filter_map(|row| match row {
        LayoutRow::Items(items) => Some(items),
        LayoutRow::Days(_) => None,
    });
    items.collect()
}

fn days_of(rows: &[LayoutRow]) -> Vec<Vec<(usize, f64)>> {
    let days = rows.iter().filter_map(|row| match row {
        LayoutRow::Days(days) => Some(days.iter().map(|day| (day.first, day.left)).collect()),
        LayoutRow::Items(_) => None,
    });
    days.collect()
}

/// Guards against a large window with only one image per row.
#[test]
fn days_with_few_items_are_side_by_side() {
    let items = [
        (5, 1.0),
        (4, 1.0),
        (4, 1.0),
        (3, 0.5),
        (2, 1.0),
        (2, 3.0),
        (1, 1.0),
    ];
    let measure = Measure {
        width: 600.0,
        row: 100.0,
        gap: 10.0,
        least: 1,
        day: 120.0,
        day_gap: 30.0,
    };
    let rows = rows(&items, measure);
    let days = [
        vec![(0, 0.0), (1, 150.0), (3, 390.0)],
        vec![(4, 0.0), (6, 440.0)],
    ];
    assert_eq!(days_of(&rows), days);
    let items = items_of(&rows);
    assert_eq!((items[0].items.clone(), items[0].height), (0..4, 100.0));
    assert_eq!(items[0].lefts, [0.0, 150.0, 260.0, 390.0]);
    assert_eq!(items[0].widths, [100.0, 100.0, 100.0, 50.0]);
    assert_eq!(items[1].lefts, [0.0, 110.0, 440.0]);
    let LayoutRow::Days(days) = &rows[0] else {
        panic!("{rows:?}");
    };
    let widths: Vec<f64> = days.iter().map(|day| day.width).collect();
    assert_eq!(widths, [120.0, 210.0, 210.0]);
    assert_eq!(neighbor(&rows, 3, Direction::Down), Some(6));
}

#[test]
fn each_day_has_its_own_rows() {
    let items = [(2, 1.0), (2, 1.0), (1, 2.0)];
    let measure = Measure {
        width: 210.0,
        row: 100.0,
        gap: 10.0,
        least: 1,
        day: 1_000.0,
        day_gap: 0.0,
    };
    let rows = rows(&items, measure);
    assert_eq!(rows.len(), 4);
    assert_eq!(days_of(&rows), [vec![(0, 0.0)], vec![(2, 0.0)]]);
    let rows = items_of(&rows);
    assert_eq!((rows[0].items.clone(), rows[0].height), (0..2, 100.0));
    assert_eq!((rows[1].items.clone(), rows[1].height), (2..3, 100.0));
}

/// Guards against one image per row on a phone.
#[test]
fn a_phone_has_two_images_per_row() {
    for ratio in [0.75, 1.0, 1.5, 16.0 / 9.0, 3.0] {
        let measure = Measure {
            width: 288.0,
            row: 208.0,
            gap: 6.0,
            least: 2,
            day: 1_000.0,
            day_gap: 0.0,
        };
        let rows = rows(&[(0, ratio); 5], measure);
        let items: Vec<_> = items_of(&rows)
            .iter()
            .map(|row| row.items.clone())
            .collect();
        assert_eq!(items, [0..2, 2..4, 4..5], "{ratio}");
    }
}

#[test]
fn arrow_keys_lead_to_the_nearest_item() {
    // A row of two wide items, a row of three narrow ones, and an older day with one item.
    let items = [(2, 1.5), (2, 1.5), (2, 1.0), (2, 1.0), (2, 1.0), (1, 1.0)];
    let measure = Measure {
        width: 300.0,
        row: 100.0,
        gap: 0.0,
        least: 1,
        day: 1_000.0,
        day_gap: 0.0,
    };
    let rows = rows(&items, measure);
    let to = |at, direction| neighbor(&rows, at, direction);
    assert_eq!((to(0, Direction::Back), to(0, Direction::Up)), (None, None));
    assert_eq!(
        (to(1, Direction::Forward), to(5, Direction::Forward)),
        (Some(2), None)
    );
    assert_eq!(
        (to(0, Direction::Down), to(1, Direction::Down)),
        (Some(2), Some(4))
    );
    assert_eq!(
        (to(4, Direction::Down), to(5, Direction::Down)),
        (Some(5), None)
    );
    assert_eq!(
        (to(5, Direction::Up), to(9, Direction::Up)),
        (Some(2), None)
    );
}

#[test]
fn a_frame_selects_the_items_it_intersects() {
    let items = [(2, 1.0), (2, 1.0), (2, 1.0), (1, 1.0)];
    let measure = Measure {
        width: 210.0,
        row: 100.0,
        gap: 10.0,
        least: 1,
        day: 1_000.0,
        day_gap: 0.0,
    };
    let rows = rows(&items, measure);
    // A heading of 20, then rows of 100 with gaps of 10.
    let stack = Stack::new(rows.iter().map(|row| match row {
        LayoutRow::Days(_) => 20.0,
        LayoutRow::Items(row) => row.height + 10.0,
    }));
    let of = |from, to| touched(&rows, &stack, Frame::between(from, to));
    assert_eq!(of((-50.0, 30.0), (5.0, 40.0)), [0]);
    assert_eq!(of((205.0, 200.0), (50.0, 90.0)), [0, 1, 2]);
    // The gap between two items, and the heading above them.
    assert!(of((102.0, 30.0), (108.0, 40.0)).is_empty());
    assert!(of((0.0, 2.0), (205.0, 18.0)).is_empty());
    assert!(of((0.0, 122.0), (205.0, 128.0)).is_empty());
    assert_eq!(of((-9.0, -9.0), (999.0, 999.0)), [0, 1, 2, 3]);
}

proptest! {
    #[test]
    fn every_item_is_in_one_row_and_full_rows_are_as_wide_as_the_page(
        shapes in proptest::collection::vec((0..3i64, 0.01..20.0f64), 0..200),
        width in 0.0..3000.0f64, row in 40.0..600.0f64, gap in 0.0..24.0f64, least in 1..4usize,
        day in 1.0..300.0f64,
    ) {
        let mut items = shapes;
        items.sort_by_key(|(day, _)| *day);
        let rows = rows(&items, Measure { width, row, gap, least, day, day_gap: 2.0 * gap });
        let rows = items_of(&rows);
        let ends_day = |end: usize| end == items.len() || items[end].0 != items[end - 1].0;
        let mut next = 0;
        for items in rows {
            prop_assert_eq!(items.items.start, next);
            prop_assert!(!items.items.is_empty());
            next = items.items.end;
            prop_assert!(items.height <= row + 1e-6, "{} > {}", items.height, row);
            let gaps = gap * (items.widths.len() as f64 - 1.0);
            let whole = items.right();
            let overlaps = items.lefts.windows(2).zip(&items.widths).any(|(lefts, width)| lefts[0] + width > lefts[1] + 1e-6);
            prop_assert!(!overlaps);
            prop_assert!(gaps + 1.0 > width || whole <= width.max(1.0) + 1e-3);
            prop_assert!(ends_day(items.items.end) || whole + 1e-3 >= width);
        }
        prop_assert_eq!(next, items.len());
    }
}
