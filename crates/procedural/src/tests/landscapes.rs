//! Measurements of the landscapes that Strata paints.

use super::*;

const SIZE: (u32, u32) = (480, 300);

/// Renders a small landscape without grain.
fn landscape(values: Value) -> Canvas {
    let strata = find(&ModelId::new("image", "strata"));
    let input = complete(strata.as_ref(), &values);
    let (width, height) = SIZE;
    let job = Job {
        frame: Some(Frame {
            width,
            height,
            original: None,
        }),
        ..Job::new(&input)
    };
    strata.poster(&job).unwrap()
}

fn lightness(canvas: &Canvas, x: u32, y: u32) -> f32 {
    canvas.get(x.into(), y.into()).lab().l
}

/// Returns the strongest change of lightness between neighboring columns of land, relative to the columns around it.
fn seam(seed: u64) -> f32 {
    let (width, height) = SIZE;
    let canvas = landscape(
        json!({"prompt": "noon", "seed": seed, "mist": 0.0, "layers": 3, "water": "none"}),
    );
    let l = |x, y| lightness(&canvas, x, y);
    let steps: Vec<f32> = (0..width - 1)
        .map(|x| {
            let rows = height * 2 / 3..height;
            let mut steps: Vec<f32> = rows.map(|y| (l(x + 1, y) - l(x, y)).abs()).collect();
            // The median ignores local slopes and detects changes through all of the land.
            steps.sort_by(f32::total_cmp);
            steps[steps.len() / 2]
        })
        .collect();
    (12..steps.len() - 12)
        .map(|x| {
            let mut around: Vec<f32> = steps[x - 12..=x + 12].to_vec();
            around.sort_by(f32::total_cmp);
            steps[x] / (around[around.len() * 4 / 5] + 0.002)
        })
        .fold(0.0, f32::max)
}

/// Guards against a straight line through all ridges below the sun.
#[test]
fn the_land_has_no_vertical_seam() {
    for seed in 0..6 {
        let seam = seam(seed);
        assert!(seam < 2.0, "{seed}: {seam}");
    }
}

/// Guards against vertical folds that form bands across all ridges: slopes would vary much more horizontally than
/// vertically.
#[test]
fn slopes_have_no_vertical_bands() {
    let (width, height) = SIZE;
    for seed in 0..6 {
        let canvas = landscape(
            json!({"prompt": "noon", "seed": seed, "mist": 0.0, "layers": 2, "water": "none"}),
        );
        let l = |x, y| lightness(&canvas, x, y);
        let (mut across, mut down) = (0.0, 0.0);
        // These rows contain only slopes: the far crest is above, the near one below.
        for y in height * 64 / 100..height * 76 / 100 {
            for x in 0..width - 1 {
                across += (l(x + 1, y) - l(x, y)).abs();
                down += (l(x, y + 1) - l(x, y)).abs();
            }
        }
        assert!(down > 1.0, "{seed}: the slopes are blank");
        assert!(across < 1.5 * down, "{seed}: {across} across, {down} down");
    }
}

/// Returns the mean color difference of two landscapes, in the rows between two fractions of the height.
fn apart(a: &Canvas, b: &Canvas, from: f32, to: f32) -> f32 {
    let rows = (SIZE.1 as f32 * from) as usize..(SIZE.1 as f32 * to) as usize;
    let range = rows.start * SIZE.0 as usize..rows.end * SIZE.0 as usize;
    let pairs = a.pixels[range.clone()].iter().zip(&b.pixels[range.clone()]);
    let apart = pairs.map(|(a, b)| {
        let (a, b) = (a.lab(), b.lab());
        ((a.l - b.l).powi(2) + (a.a - b.a).powi(2) + (a.b - b.b).powi(2)).sqrt()
    });
    apart.sum::<f32>() / range.len() as f32
}

/// Guards against a parameter without a visible effect.
#[test]
fn mist_changes_ridges_and_water() {
    for seed in 0..6 {
        let make = |mist: f32| {
            landscape(json!({
                "prompt": "An alpine lake at dawn, teal and rose", "seed": seed, "mist": mist
            }))
        };
        let (clear, half, thick) = (make(0.0), make(0.5), make(1.0));
        // The shore is between 0.56 and 0.64.
        for (name, from, to) in [("ridges", 0.48, 0.56), ("water", 0.65, 0.8)] {
            let all = apart(&clear, &thick, from, to);
            assert!(all > 0.08, "{seed}: {name} change by {all}");
            let first = apart(&clear, &half, from, to);
            let second = apart(&half, &thick, from, to);
            assert!(first > 0.02, "{seed}: {name} change by {first} up to half");
            assert!(second > 0.02, "{seed}: {name} change by {second} from half");
        }
    }
}
