use super::*;
use serde_json::json;

/// Guards against a grey edge next to an image whose ratio differs from the requested one.
#[test]
fn an_image_has_the_requested_ratio_unless_its_sides_differ() {
    assert_eq!(actual_shape(Some(1.5), None), Some(1.5));
    assert_eq!(
        actual_shape(Some(16.0 / 9.0), Some((455, 256))),
        Some(16.0 / 9.0)
    );
    assert_eq!(actual_shape(Some(1.5), Some((512, 512))), Some(1.0));
    assert_eq!(actual_shape(None, Some((512, 256))), Some(2.0));
    assert_eq!(actual_shape(None, None), None);
}

/// Guards against small images on a page that is mostly empty.
#[test]
fn images_are_as_large_as_the_page_allows() {
    let labels = |columns: usize| GridLabels {
        rows: Labels {
            parameter: "water".into(),
            values: vec!["still".into()],
        },
        columns: Labels {
            parameter: "time".into(),
            values: vec![String::new(); columns],
        },
        cells: vec![0],
    };
    let page = f64::INFINITY;
    for (width, height, columns, ratio, expected) in [
        // The whole page.
        (80.0, page, 3, 1.5, 24.875),
        (60.0, page, 4, 1.0, 13.5625),
        // The grid fits in the pane.
        (160.0, page, 2, 1.0, 22.0),
        (80.0, 18.0, 3, 1.5, 20.25),
        // The grid exceeds the page, or the pane.
        (20.0, page, 5, 1.0, 8.0),
        // Small columns that all fit without a scrollbar.
        (20.5, page, 3, 1.0, 5.0625),
        (60.0, 10.0, 4, 1.0, 13.5625),
    ] {
        let found = measures(width, height, &labels(columns).into(), &[Some(ratio)]);
        assert_eq!((found.head, found.columns[0].0), (3.75, expected));
        assert!((found.row - (expected / ratio + 0.5)).abs() < 1e-9);
    }
    let mut long = labels(1);
    long.rows
        .values
        .push("a very long prompt that is a label".into());
    assert_eq!(measures(80.0, page, &long.into(), &[]).head, 9.0);
}

/// Guards against column names that are higher than the images.
#[test]
fn a_long_name_is_cut_at_the_end_of_its_lines() {
    let prompt = "a wide valley seen from a high ridge just before dawn, in soft gouache";
    for (name, width, lines, expected) in [
        ("dawn", 3.5, 1, false),
        (prompt, 8.0, COLUMN_LINES, true),
        (prompt, 16.0, COLUMN_LINES, false),
        (prompt, 9.0, row_lines(5.0), true),
        (prompt, 9.0, row_lines(6.0), false),
        ("夜明け前の高い尾根から見た谷", 8.0, 1, true),
    ] {
        assert_eq!(
            exceeds(name, width, lines),
            expected,
            "{name} {width} {lines}"
        );
    }
    assert_eq!(row_lines(1.0), 1);
    let mut labels = in_shapes().0;
    labels.rows.values.push(prompt.into());
    assert_eq!(measures(20.0, f64::INFINITY, &labels.into(), &[]).head, 5.5);
}

/// Guards against a single column of images on a wide page.
#[test]
fn the_longer_axis_becomes_the_columns_if_it_fits() {
    let axis = |count: usize| Labels {
        parameter: count.to_string(),
        values: (0..count).map(|n| n.to_string()).collect(),
    };
    for (rows, columns, width, expected) in [
        (4, 2, 80.0, 4),
        (2, 4, 80.0, 4),
        (3, 3, 80.0, 3),
        // Tests a phone, and more values than any page can show.
        (4, 2, 20.0, 2),
        (30, 2, 80.0, 2),
    ] {
        let labels = GridLabels {
            rows: axis(rows),
            columns: axis(columns),
            cells: vec![0],
        };
        let found = oriented(labels, &[], width).columns.values.len();
        assert_eq!(found, expected, "{rows} × {columns} in {width}");
    }
}

/// Guards against columns that exceed a phone's screen although the rows would fit.
#[test]
fn on_a_phone_the_shorter_axis_becomes_the_columns() {
    let labels = |count: usize| Labels {
        parameter: String::new(),
        values: (0..count).map(|n| n.to_string()).collect(),
    };
    for (rows, columns, expected) in [(2, 3, 2), (3, 2, 2), (2, 2, 2), (4, 5, 5)] {
        let (rows, columns) = (labels(rows), labels(columns));
        let cells = vec![0];
        let grid = GridLabels {
            rows,
            columns,
            cells,
        };
        assert_eq!(oriented(grid, &[], 16.0).columns.values.len(), expected);
    }
}

/// Guards against an image that is wider than a phone's screen.
#[test]
fn the_widest_image_fits() {
    let mut grid = in_shapes().0;
    grid.columns.values[1] = "16:9".into();
    let shapes = [1.0, 16.0 / 9.0, 0.5, 1.0, 16.0 / 9.0, 0.5].map(Some);
    let found = measures(16.0, f64::INFINITY, &grid.into(), &shapes);
    let (widest, _) = found.columns[1];
    assert!(found.head + GAP + widest <= 16.0, "{found:?}");
}

/// Returns a grid of two prompts and three aspect ratios.
fn in_shapes() -> (GridLabels, Vec<Option<f64>>) {
    let labels = |values: &[&str]| Labels {
        parameter: String::new(),
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    let grid = GridLabels {
        rows: labels(&["lake", "sea"]),
        columns: labels(&["1:1", "2:1", "1:2"]),
        cells: (0..6).collect(),
    };
    let shapes = [1.0, 2.0, 0.5, 1.0, 2.0, 0.5].map(Some).to_vec();
    (grid, shapes)
}

/// Guards against square cells with empty space around wide and tall images.
#[test]
fn a_column_is_as_wide_as_its_images() {
    let (grid, shapes) = in_shapes();
    let found = measures(45.0, f64::INFINITY, &grid.into(), &shapes);
    let height = found.row - GAP;
    let wide: f64 = found.columns.iter().map(|(width, _)| width + GAP).sum();
    assert!((44.0..=45.0).contains(&(found.head + wide)), "{found:?}");
    for ((width, shape), expected) in found.columns.iter().zip([1.0, 2.0, 0.5]) {
        assert_eq!(*shape, expected);
        assert!((width / shape - height).abs() < 0.2, "{found:?}");
    }
}

#[test]
fn the_axis_that_determines_the_shape_becomes_the_columns() {
    let (grid, shapes) = in_shapes();
    let transposed = grid.transposed();
    assert_eq!(oriented(grid.clone(), &shapes, 20.0), grid);
    assert_eq!(oriented(transposed, &shapes, 20.0), grid);
    // If the ratio depends on both axes, all images get frames of the same ratio.
    let odd: Vec<_> = [1.0, 2.0, 0.5, 0.5, 1.0, 2.0].map(Some).to_vec();
    let found = measures(45.0, f64::INFINITY, &grid.into(), &odd);
    assert!(found.columns.iter().all(|(_, shape)| *shape == 1.0));
    assert_eq!(share(Some(2.0), 1.0), (1.0, 0.5));
    assert_eq!(share(Some(0.5), 1.0), (0.5, 1.0));
    assert_eq!(share(None, 1.5), (1.0, 1.0));
}

#[test]
fn the_frame_has_the_mean_shape_of_all() {
    let of = |text: &str| {
        let values = json!({"aspect_ratio": text});
        shape(values.as_object().unwrap(), None)
    };
    assert_eq!(frame(&[of("3:2"), of("3:2")]), 1.5);
    assert!((frame(&[of("3:2"), of("2:3")]) - 1.0).abs() < 1e-9);
    assert_eq!(frame(&[of("3:2"), of("none")]), 1.5);
    assert_eq!(shape(&Map::new(), None), None);
    assert_eq!(frame(&[None]), 1.0);
    assert_eq!(frame(&[]), 1.0);
    assert_eq!(frame(&[of("100:1")]), 2.5);
}
